//! Posts as text.

use memoir_core::{TimeZone, Timestamp};
use memoir_runtime::{
    operations::posts::{DraftedPost, PostPlan, PostReport},
    printable,
};

/// Returns what would be written, and from what.
pub(crate) fn plan(plan: &PostPlan, zone: &TimeZone) -> String {
    let time = |moment: Option<Timestamp>| moment.map(|moment| moment.minute_in(zone)).unwrap_or_default();
    let method = match plan.by_quotation {
        true => "by quotation, without a model".to_owned(),
        false => format!("by {}, to which about {} tokens would be sent", plan.model, plan.tokens),
    };
    let conversations: Vec<String> = plan.conversations.iter().map(ToString::to_string).collect();
    let mut text = format!(
        "A post would be written {method}.\nFrom {} messages, {} to {}, of conversation {}.\n",
        plan.messages,
        time(plan.first),
        time(plan.last),
        conversations.join(", ")
    );
    if !plan.people.is_empty() {
        text.push_str(&format!("People: {}.\n", plan.people.join(", ")));
    }
    match (plan.related.is_empty(), plan.is_related_searched) {
        (true, true) => text.push_str("No previous post is related.\n"),
        (true, false) => text.push_str(
            "Which previous posts are related is not looked for: the talk would have to be sent for that.\n",
        ),
        (false, _) => text.push_str("Related previous posts:\n"),
    }
    for post in &plan.related {
        text.push_str(&format!(
            "  {} ({}, {}), similarity {:.2}\n",
            post.title, post.slug, post.date, post.similarity
        ));
    }
    text.push_str("Nothing was sent, and nothing was saved.");
    printable(&text).into_owned()
}

/// Returns what to look at in a draft before it is passed on.
pub(crate) fn warnings(draft: &DraftedPost) -> Vec<String> {
    let truncated = draft
        .is_truncated
        .then(|| "The model stopped in the middle of it: an answer of its may not be longer.".to_owned());
    let invented = draft.invented_quotations.iter().map(|quotation| {
        format!("Nobody said \"{}\": look at that before you pass it on.", printable(quotation))
    });
    truncated.into_iter().chain(invented).collect()
}

/// Returns where a post was saved.
pub(crate) fn saved(report: &PostReport) -> String {
    let mut text = format!("Saved as {}, filed as {}.", report.path.display(), printable(&report.slug));
    if let Some(reason) = &report.not_embedded {
        text.push_str(&format!(
            "\nUntil it is read in the background its words find it: {}.",
            printable(reason)
        ));
    }
    text
}
