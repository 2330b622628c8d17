//! Models: the list, one of them, and what setting one did.

use std::fmt::Write as _;

use memoir_models::ModelName;
use memoir_runtime::{
    group_digits,
    operations::models::{
        EmbeddingReport, ModelReport, ModelSelection, ModelsReport, PriceReport, SetModelReport,
    },
    settings::ModelTask,
};

/// Returns all models by provider, with a mark at the one in use.
pub(crate) fn list(report: &ModelsReport, current: &ModelName) -> String {
    let mut text = String::new();
    let mut provider = None;
    for model in &report.models {
        if provider != Some(model.provider) {
            provider = Some(model.provider);
            let key = if model.key { "key is set" } else { "no key" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "\n{} ({key})", model.provider);
        }
        let mark = if model.name == *current { '*' } else { ' ' };
        let _ = writeln!(
            text,
            "{mark} {:<24} {:>10} tokens  {}",
            model.name.model,
            tokens(model.context),
            price(model.price)
        );
    }
    if report.models.iter().all(|model| model.name != *current) {
        let _ = writeln!(text, "\n* {current}");
    }
    let _ = writeln!(
        text,
        "\nollama/NAME, openai-compatible/NAME and memoir/recall need no entry. Prices are in dollars per million tokens, in / out."
    );
    text.trim_start().to_owned()
}

/// Returns one model.
pub(crate) fn show(model: &ModelReport) -> String {
    let name = &model.name;
    if let Some(EmbeddingReport { dimensions, price }) = model.embedding {
        let dimensions = dimensions.map_or_else(|| "unknown".into(), |number| number.to_string());
        return format!(
            "model       {name}, for embeddings\ndimensions  {dimensions}\nprice       {}\n",
            dollars(price)
        );
    }
    let tools = match model.tools {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let key = match model.provider {
        provider if provider.is_local() => "not needed",
        _ if model.key => "set",
        _ => "not set",
    };
    format!(
        "model    {name}\ncontext  {} tokens\noutput   {} tokens\ntools    {tools}\nprice    {}\nkey      {key}\n",
        tokens(model.context),
        tokens(model.output),
        full_price(model)
    )
}

/// Returns which model was set, and what it still needs.
pub(crate) fn set(report: &SetModelReport) -> String {
    let task = report.task;
    let mut text = match &report.selection {
        ModelSelection::Automatic => return automatic(task).to_owned(),
        ModelSelection::BuiltIn(name) => {
            return format!("The {} model is {name} from now on, which is compiled in.", task.as_str());
        }
        ModelSelection::Named(name) => format!("The {} model is {name} from now on.", task.as_str()),
    };
    if report.price_unknown {
        text.push_str(" The catalogue does not know it, so its price is unknown.");
    }
    if !report.missing_key.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(text, " It needs {}, which is not set.", report.missing_key.join(" or "));
    }
    text
}

fn automatic(task: ModelTask) -> &'static str {
    match task {
        ModelTask::Chat => "The chat model is chosen automatically.",
        ModelTask::Summarizer => {
            "The summarizer is the config's, if it names one; else summaries are made by quotation."
        }
        ModelTask::Embedder => {
            "The embedder is the config's, if it names one; else the model that is compiled in."
        }
    }
}

/// Returns a number of tokens.
fn tokens(number: Option<u64>) -> String {
    number.map_or_else(|| "unknown".into(), group_digits)
}

/// Returns a price, or nothing if it is unknown.
fn dollars(price: Option<f64>) -> String {
    price.map(|price| price.to_string()).unwrap_or_default()
}

fn price(price: Option<PriceReport>) -> String {
    price.map_or_else(|| "price unknown".into(), |price| format!("{} / {}", price.input, price.output))
}

fn full_price(model: &ModelReport) -> String {
    if model.provider.is_local() {
        return "nothing: it runs on your machine".into();
    }
    if !model.known {
        return "unknown; add a [[model]] to your config to have costs counted".into();
    }
    let mut text = price(model.price);
    // Writing to a string cannot fail.
    if let Some(PriceReport { cache_read: Some(read), .. }) = model.price {
        let _ = write!(text, ", cache read {read}");
    }
    if let Some(PriceReport { cache_write: Some(write), .. }) = model.price {
        let _ = write!(text, ", cache write {write}");
    }
    if let Some(long) = model.long_price {
        let _ = write!(text, "; above {} tokens {}", tokens(Some(long.above)), price(Some(long.price)));
    }
    text
}
