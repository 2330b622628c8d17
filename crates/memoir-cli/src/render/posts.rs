//! Formats plans, warnings and results of writing a post.

use memoir_core::{TimeZone, Timestamp};
use memoir_runtime::{
    operations::posts::{DraftedPost, PostPlan, PostReport},
    printable,
};

use super::pluralize;

/// Returns the model, sources and related posts of a dry run.
pub(crate) fn plan(plan: &PostPlan, zone: &TimeZone) -> String {
    let time =
        |moment: Option<Timestamp>| moment.map(|moment| moment.format_minute(zone)).unwrap_or_default();
    let method = match plan.by_quotation {
        true => "consist of quotations, without a model".to_owned(),
        false => format!("be written by {}, to which about {} tokens would be sent", plan.model, plan.tokens),
    };
    let conversations: Vec<String> = plan.conversations.iter().map(ToString::to_string).collect();
    let noun = if conversations.len() == 1 { "conversation" } else { "conversations" };
    let mut text = format!(
        "The post would {method}.\nSource: {}, {} to {}, from {noun} {}.\n",
        pluralize(plan.messages as u64, "message", "messages"),
        time(plan.first),
        time(plan.last),
        conversations.join(", ")
    );
    if !plan.people.is_empty() {
        text.push_str(&format!("People: {}.\n", plan.people.join(", ")));
    }
    match (plan.related.is_empty(), plan.is_related_searched) {
        (true, true) => text.push_str("No related posts.\n"),
        (true, false) => text.push_str(
            "Related posts were not searched for, because that would send the messages to the embedding model.\n",
        ),
        (false, _) => text.push_str("Related posts:\n"),
    }
    for post in &plan.related {
        text.push_str(&format!(
            "  {} ({}, {}), similarity {:.2}\n",
            post.title, post.slug, post.date, post.similarity
        ));
    }
    text.push_str("Nothing was sent or saved.");
    printable(&text).into_owned()
}

/// Returns warnings about a draft: that it is incomplete, or contains invented quotations.
pub(crate) fn warnings(draft: &DraftedPost) -> Vec<String> {
    let truncated = draft
        .is_truncated
        .then(|| "The post is incomplete, because the model reached its output limit.".to_owned());
    let invented = draft.invented_quotations.iter().map(|quotation| {
        format!(
            "\"{}\" is not a quotation from the messages. Check it before you share the post.",
            printable(quotation)
        )
    });
    truncated.into_iter().chain(invented).collect()
}

/// Returns the path and document name of a saved post.
pub(crate) fn report(report: &PostReport) -> String {
    let mut text = format!("Saved to {} as document {}.", report.path.display(), printable(&report.slug));
    if let Some(reason) = &report.not_embedded {
        text.push_str(&format!(
            "\nNot embedded yet: {}. Until it is embedded in the background, it can be found by keyword only.",
            printable(reason)
        ));
    }
    text
}
