//! `docs/models.md`.

use std::fmt::Write as _;

use memoir_models::{Catalogue, Provider};
use memoir_runtime::operations::models::{ModelReport, PriceReport};

/// Returns a page with every model of the catalogue. It is empty if the catalogue cannot be read, which its own tests report.
pub(crate) fn page() -> String {
    Catalogue::built_in().map(|catalogue| describe(&catalogue)).unwrap_or_default()
}

fn describe(catalogue: &Catalogue) -> String {
    let mut page = String::from(
        "# Models\n\nMade by `cargo xtask docs` from the catalogue; do not edit. Prices are list prices in dollars per million tokens.\n\
         A name without its provider will do. Your config adds models and overrides what is said here.\n",
    );
    for provider in Provider::ALL {
        let models: Vec<_> = catalogue.models().filter(|(name, _)| name.provider == provider).collect();
        if models.is_empty() {
            continue;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(page, "\n## {provider}\n");
        if let Some(default) = catalogue.default_model(provider) {
            let _ = writeln!(page, "With a key and nothing chosen, `{}` answers.\n", default.model);
        }
        page.push_str("| model | context | output | tools | in | out | cache read | cache write |\n");
        page.push_str("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: |\n");
        for (name, _) in models {
            write_row(&mut page, &ModelReport::new(name.clone(), catalogue, false));
        }
    }
    page.push_str("\n## Embeddings\n\n| model | dimensions | price |\n| --- | ---: | ---: |\n");
    for (name, info) in catalogue.embeddings() {
        let dimensions = info.dimensions.map(|number| number.to_string()).unwrap_or_default();
        let price = dollars(info.price.map(|price| price.dollars()));
        let _ = writeln!(page, "| `{name}` | {dimensions} | {price} |");
    }
    page
}

fn write_row(page: &mut String, model: &ModelReport) {
    let tools = if model.tools == Some(true) { "yes" } else { "no" };
    let (context, output) = (tokens(model.context), tokens(model.output));
    let _ = writeln!(
        page,
        "| `{}` | {context} | {output} | {tools} | {} |",
        model.name.model,
        price_columns(model.price)
    );
    if let Some(long) = model.long_price {
        let _ = writeln!(
            page,
            "| … above {} | | | | {} |",
            tokens(Some(long.above)),
            price_columns(Some(long.price))
        );
    }
}

fn price_columns(price: Option<PriceReport>) -> String {
    let part = |get: fn(PriceReport) -> Option<f64>| dollars(price.and_then(get));
    format!(
        "{} | {} | {} | {}",
        part(|price| Some(price.input)),
        part(|price| Some(price.output)),
        part(|price| price.cache_read),
        part(|price| price.cache_write)
    )
}

fn tokens(number: Option<u64>) -> String {
    number.map_or_else(|| "unknown".into(), memoir_runtime::group_digits)
}

fn dollars(price: Option<f64>) -> String {
    price.map(|price| price.to_string()).unwrap_or_default()
}
