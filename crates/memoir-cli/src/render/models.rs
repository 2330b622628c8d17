//! Formats the list of models and the details of one.

use std::fmt::Write as _;

use memoir_models::ModelName;
use memoir_runtime::{
    group_digits,
    operations::models::{
        EmbeddingReport, ModelReport, ModelSelection, ModelsReport, PriceReport, SetModelReport,
    },
    settings::ModelTask,
};

/// Returns all models by provider. An asterisk marks the current one.
pub(crate) fn list(report: &ModelsReport, current: &ModelName) -> String {
    let mut text = String::new();
    let mut provider = None;
    for model in &report.models {
        if provider != Some(model.provider) {
            provider = Some(model.provider);
            let key = if model.has_key { "key is set" } else { "no key" };
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
        "\nollama/NAME, openai-compatible/NAME and memoir/recall need no entry. Prices are in dollars per million tokens, input / output."
    );
    text.trim_start().to_owned()
}

/// Returns the limits, capabilities and prices of a model.
pub(crate) fn show(model: &ModelReport) -> String {
    let name = &model.name;
    if let Some(EmbeddingReport { dimensions, price }) = model.embedding {
        let dimensions = dimensions.map_or_else(|| "unknown".into(), |number| number.to_string());
        return format!(
            "model       {name}, for embeddings\ndimensions  {dimensions}\nprice       {}\n",
            dollars(price)
        );
    }
    let yes_or_no = |known: Option<bool>| match known {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let key = match model.provider {
        provider if provider.is_local() => "not needed",
        _ if model.has_key => "set",
        _ => "not set",
    };
    format!(
        "model    {name}\ncontext  {} tokens\noutput   {} tokens\ntools    {}\nimages   {}\nprice    {}\nkey      {key}\n",
        tokens(model.context),
        tokens(model.output),
        yes_or_no(model.tools),
        yes_or_no(model.images),
        full_price(model)
    )
}

/// Returns a confirmation that a model was set, with a warning if its price or key is missing.
pub(crate) fn set(report: &SetModelReport) -> String {
    let task = report.task;
    let mut text = match &report.selection {
        ModelSelection::Automatic => return automatic(task).to_owned(),
        ModelSelection::BuiltIn(name) => {
            return format!("The {} model is now {name}, which is built in.", task.as_str());
        }
        ModelSelection::Named(name) => format!("The {} model is now {name}.", task.as_str()),
    };
    if report.price_unknown {
        text.push_str(" It is not in the catalog, so its price is unknown.");
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
            "The summarizer is the model set in the config. If none is set, summaries consist of quotations."
        }
        ModelTask::Embedder => {
            "The embedder is the model set in the config. If none is set, the built-in model is used."
        }
    }
}

fn tokens(number: Option<u64>) -> String {
    number.map_or_else(|| "unknown".into(), group_digits)
}

/// Returns a price, or an empty string if it is unknown.
fn dollars(price: Option<f64>) -> String {
    price.map(|price| price.to_string()).unwrap_or_default()
}

fn price(price: Option<PriceReport>) -> String {
    price.map_or_else(|| "price unknown".into(), |price| format!("{} / {}", price.input, price.output))
}

fn full_price(model: &ModelReport) -> String {
    if model.provider.is_local() {
        return "free (runs on your machine)".into();
    }
    if !model.is_in_catalog {
        return "unknown; add a `[[model]]` entry to your config to track costs".into();
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
