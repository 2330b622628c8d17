//! What is known of models, for reading; and setting one.

use std::fmt::Write as _;

use memoir_core::{Timestamp, WorkerKind};
use memoir_models::{Catalogue, ModelInfo, ModelName, PerMillion, Price, Provider};
use memoir_store::Store;
use serde_json::{Value, json};

use memoir_runtime::{
    environment::Environment,
    failure::{Failure, FailureKind},
    models::{Models, parse},
    settings::ModelTask,
};

/// The word that goes back to choosing by itself.
pub(crate) const AUTO: &str = "auto";

/// All models, by provider.
pub(crate) fn list(models: &Models, current: &ModelName) -> String {
    let mut text = String::new();
    let mut provider = None;
    for (name, info) in models.catalogue.models() {
        if provider != Some(name.provider) {
            provider = Some(name.provider);
            let key = if models.has_key(name.provider) { "key is set" } else { "no key" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n{} ({key})", name.provider);
        }
        let mark = if name == current { '*' } else { ' ' };
        let _ = writeln!(
            text,
            "{mark} {:<24} {:>10} tokens  {}",
            name.model,
            count(info.context),
            price(info.price)
        );
    }
    let known = models.catalogue.model(current).is_some();
    if !known {
        let _ = writeln!(text, "\n* {current}");
    }
    let _ = writeln!(
        text,
        "\nollama/NAME, openai-compatible/NAME and memoir/recall need no entry. Prices are in dollars per million tokens, in / out."
    );
    text.trim_start().to_owned()
}

/// All models, for scripts.
pub(crate) fn list_json(models: &Models) -> Value {
    models.catalogue.models().map(|(name, info)| info_json(models, name, Some(info))).collect()
}

/// One model.
pub(crate) fn show(models: &Models, name: &str) -> Result<String, Failure> {
    let name = parse(name, "")?;
    if let Some(info) = models.catalogue.embedding(&name) {
        let dimensions = info.dimensions.map_or_else(|| "unknown".into(), |number| number.to_string());
        return Ok(format!(
            "model       {name}, for embeddings\ndimensions  {dimensions}\nprice       {}\n",
            dollars(info.price)
        ));
    }
    let info = models.catalogue.model(&name);
    let mut text = format!("model    {name}\n");
    let _ = writeln!(text, "context  {} tokens", count(info.and_then(|info| info.context)));
    let _ = writeln!(text, "output   {} tokens", count(info.and_then(|info| info.output)));
    let tools = match info.and_then(|info| info.tools) {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let _ = writeln!(text, "tools    {tools}");
    let _ = writeln!(text, "price    {}", full_price(&name, info));
    let key = match name.provider {
        provider if provider.is_local() => "not needed",
        provider if models.has_key(provider) => "set",
        _ => "not set",
    };
    let _ = writeln!(text, "key      {key}");
    Ok(text)
}

/// One model, for scripts.
pub(crate) fn show_json(models: &Models, name: &str) -> Result<Value, Failure> {
    let name = parse(name, "")?;
    Ok(info_json(models, &name, models.catalogue.model(&name)))
}

/// Sets the model for a task from now on, and says so, with what may be amiss.
pub(crate) async fn set(
    name: &str,
    task: ModelTask,
    models: &Models,
    store: &dyn Store,
    now: Timestamp,
) -> Result<String, Failure> {
    if name == AUTO {
        store.set_setting(task.key(), None, now).await?;
        forget_failures(task, store).await?;
        return Ok(match task {
            ModelTask::Chat => "The chat model is chosen automatically.".into(),
            ModelTask::Summarizer => {
                "The summarizer is the config's, if it names one; else summaries are made by quotation."
                    .into()
            }
            ModelTask::Embedder => {
                "The embedder is the config's, if it names one; else the model that is compiled in.".into()
            }
        });
    }
    if task == ModelTask::Embedder && name == memoir_embed::NAME {
        store.set_setting(task.key(), Some(name), now).await?;
        forget_failures(task, store).await?;
        return Ok(format!("The embedder model is {name} from now on, which is compiled in."));
    }
    let name = parse(name, "")?;
    let embeds = models.catalogue.embedding(&name).is_some();
    if embeds && task != ModelTask::Embedder {
        return Err(Failure::new(FailureKind::Usage, format!("{name} makes embeddings and cannot talk"))
            .hint("memoir models list shows those that can."));
    }
    if !embeds && task == ModelTask::Embedder && models.catalogue.model(&name).is_some() {
        return Err(Failure::new(FailureKind::Usage, format!("{name} talks and makes no embeddings"))
            .hint("memoir models list shows those that do."));
    }
    store.set_setting(task.key(), Some(&name.to_string()), now).await?;
    forget_failures(task, store).await?;
    let mut said = format!("The {} model is {name} from now on.", task.as_str());
    let variables = Environment::key_variables(name.provider);
    let provided = !name.provider.is_local() && name.provider != Provider::OpenAiCompatible;
    if provided && models.catalogue.model(&name).is_none() && !embeds {
        said.push_str(" The catalogue does not know it, so its price is unknown.");
    }
    if provided && !models.has_key(name.provider) {
        let _ = write!(said, " It needs {}, which is not set.", variables.join(" or "));
    }
    Ok(said)
}

/// What one model failed at, another may do.
async fn forget_failures(task: ModelTask, store: &dyn Store) -> Result<(), Failure> {
    let workers: &[WorkerKind] = match task {
        ModelTask::Chat => &[],
        ModelTask::Summarizer => &[WorkerKind::ExchangeSummarizer, WorkerKind::ConversationSummarizer],
        ModelTask::Embedder => &[WorkerKind::EmbeddingGenerator],
    };
    for worker in workers {
        store.forget_failures(*worker).await?;
    }
    Ok(())
}

/// `docs/models.md`.
pub(crate) fn reference(catalogue: &Catalogue) -> String {
    let mut page = String::from(
        "# Models\n\nMade by `cargo xtask docs` from the catalogue; do not edit. Prices are list prices in dollars per million tokens.\n\
         A name without its provider will do. Your config adds models and overrides what is said here.\n",
    );
    for provider in Provider::ALL {
        let models: Vec<_> = catalogue.models().filter(|(name, _)| name.provider == provider).collect();
        if models.is_empty() {
            continue;
        }
        let _ = writeln!(page, "\n## {provider}\n");
        if let Some(default) = catalogue.default_model(provider) {
            let _ = writeln!(page, "With a key and nothing chosen, `{}` answers.\n", default.model);
        }
        page.push_str("| model | context | output | tools | in | out | cache read | cache write |\n");
        page.push_str("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |\n");
        for (name, info) in models {
            reference_row(&mut page, name, info);
        }
    }
    page.push_str("\n## Embeddings\n\n| model | dimensions | price |\n| --- | ---: | ---: |\n");
    for (name, info) in catalogue.embeddings() {
        let dimensions = info.dimensions.map(|number| number.to_string()).unwrap_or_default();
        let _ = writeln!(page, "| `{name}` | {dimensions} | {} |", dollars(info.price));
    }
    page
}

fn reference_row(page: &mut String, name: &ModelName, info: &ModelInfo) {
    let tools = if info.tools == Some(true) { "yes" } else { "no" };
    let columns = |price: Option<Price>| {
        let part = |get: fn(Price) -> Option<PerMillion>| dollars(price.and_then(get));
        let (input, output) = (part(|price| Some(price.input)), part(|price| Some(price.output)));
        format!(
            "{input} | {output} | {} | {}",
            part(|price| price.cache_read),
            part(|price| price.cache_write)
        )
    };
    let (context, output) = (count(info.context), count(info.output));
    let _ = writeln!(page, "| `{}` | {context} | {output} | {tools} | {} |", name.model, columns(info.price));
    if let Some(long) = info.long_price {
        let _ =
            writeln!(page, "| … above {} | | | | {} |", count(Some(long.above)), columns(Some(long.price())));
    }
}

fn info_json(models: &Models, name: &ModelName, info: Option<&ModelInfo>) -> Value {
    let dollars = |price: Option<PerMillion>| price.map(PerMillion::dollars);
    let price = |price: Price| {
        json!({
            "input": price.input.dollars(),
            "output": price.output.dollars(),
            "cache_read": dollars(price.cache_read),
            "cache_write": dollars(price.cache_write),
        })
    };
    json!({
        "name": name.to_string(),
        "provider": name.provider.as_str(),
        "context": info.and_then(|info| info.context),
        "output": info.and_then(|info| info.output),
        "tools": info.and_then(|info| info.tools),
        "price": info.and_then(|info| info.price).map(price),
        "long_price": info.and_then(|info| info.long_price).map(|long| {
            let mut json = price(long.price());
            json["above"] = json!(long.above);
            json
        }),
        "key": models.has_key(name.provider),
    })
}

fn count(tokens: Option<u64>) -> String {
    let Some(tokens) = tokens else { return "unknown".into() };
    let digits = tokens.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn dollars(price: Option<PerMillion>) -> String {
    price.map(|price| price.dollars().to_string()).unwrap_or_default()
}

fn price(price: Option<Price>) -> String {
    price.map_or_else(
        || "price unknown".into(),
        |price| format!("{} / {}", price.input.dollars(), price.output.dollars()),
    )
}

fn full_price(name: &ModelName, info: Option<&ModelInfo>) -> String {
    if name.provider.is_local() {
        return "nothing: it runs on your machine".into();
    }
    let Some(info) = info else {
        return "unknown; add a [[model]] to your config to have costs counted".into();
    };
    let mut text = price(info.price);
    if let Some(Price { cache_read: Some(read), .. }) = info.price {
        let _ = write!(text, ", cache read {}", read.dollars());
    }
    if let Some(Price { cache_write: Some(write), .. }) = info.price {
        let _ = write!(text, ", cache write {}", write.dollars());
    }
    if let Some(long) = info.long_price {
        let _ = write!(text, "; above {} tokens {}", count(Some(long.above)), price(Some(long.price())));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(count(Some(999)), "999");
        assert_eq!(count(Some(1_048_576)), "1,048,576");
        assert_eq!(count(None), "unknown");
    }
}
