//! Asking the summariser's model.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use memoir_core::{CallCost, ConversationId, Purpose, Usage, WorkerKind, count_tokens};
use memoir_models::{ChatMessage, ChatModel, ChatRequest, ModelError, bill, whole_answer};
use memoir_recall::inside_fence;
use memoir_redact::without_secrets;

use crate::{WorkerContext, worker::WorkError};

/// What is sent at once, in tokens, at most; longer talk is summarised in parts.
const MOST_AT_ONCE: u64 = 12_000;

/// A longer answer is not a summary: it is cut, after so many characters.
pub(crate) const LONGEST: usize = 1200;

/// What is to be summarised, and how.
pub(crate) struct SummaryTask<'a> {
    pub(crate) conversation: ConversationId,
    /// What the model is told.
    pub(crate) instructions: &'a str,
    /// What was summarised before.
    pub(crate) before: &'a str,
    /// What was said, line by line.
    pub(crate) said: &'a [String],
    /// How long the summary may be, in characters.
    pub(crate) longest: usize,
}

/// So little is worth trying; a model that takes less cannot summarise.
const FEWEST_AT_ONCE: u64 = 500;

/// The summary, made in as many parts as it takes: smaller ones, if the model says that it was sent too much.
pub(crate) async fn summarise(
    context: &WorkerContext,
    model: &dyn ChatModel,
    task: &SummaryTask<'_>,
) -> Result<String, WorkError> {
    // What was kept before secrets were taken out may still have some; in parts they would not be known.
    let said: Vec<String> = task.said.iter().map(|line| without_secrets(line).into_owned()).collect();
    let mut takes =
        model.limits().await.context.map_or(MOST_AT_ONCE, |context| (context / 2).min(MOST_AT_ONCE));
    loop {
        match in_parts(context, model, task, parts(&said, takes)).await {
            Err(WorkError::Model(ModelError::ContextTooLong { .. })) if takes / 2 >= FEWEST_AT_ONCE => {
                takes /= 2;
                tracing::debug!(tokens = takes, "the context was too long; retrying in smaller parts");
            }
            summary => return summary,
        }
    }
}

async fn in_parts(
    context: &WorkerContext,
    model: &dyn ChatModel,
    task: &SummaryTask<'_>,
    parts: Vec<String>,
) -> Result<String, WorkError> {
    let mut summary = without_secrets(task.before).into_owned();
    let mut keys = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let prompt = if summary.is_empty() {
            format!("<memory>\n{part}\n</memory>")
        } else {
            format!(
                "The summary so far:\n\n<memory>\n{}\n</memory>\n\nWhat was said after that:\n\n<memory>\n{part}\n</memory>",
                inside_fence(&summary)
            )
        };
        let key = hash_request(model, task, &prompt);
        keys.push(key);
        if let Some(known) = context.cached_part(key) {
            summary = known;
            continue;
        }
        if number > 0 {
            // This takes a while: others should know that it goes on, and so should who pays.
            context.jobs().renew(&context.owner, context.lease_end()).await?;
            if context.check_budget(WorkerKind::ConversationSummarizer).await?.is_some() {
                return Err(WorkError::OverBudget);
            }
        }
        summary = tidy(&call(context, model, task, prompt).await?, task.longest)?;
        if parts.len() > 1 {
            context.cache_part(key, &summary);
        }
    }
    context.forget_parts(&keys);
    Ok(summary)
}

/// Returns the key of a part in the cache.
fn hash_request(model: &dyn ChatModel, task: &SummaryTask<'_>, prompt: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (model.name(), task.instructions, prompt).hash(&mut hasher);
    hasher.finish()
}

/// Lines put together to parts of so many tokens; a line that is longer by itself is split.
fn parts(said: &[String], takes: u64) -> Vec<String> {
    // A token is at least a byte, so that a piece of as many bytes always fits.
    let longest = usize::try_from(takes).unwrap_or(usize::MAX).max(16);
    let mut parts: Vec<(String, u64)> = Vec::new();
    for piece in said.iter().flat_map(|line| pieces(line, longest)) {
        let piece = inside_fence(piece);
        let tokens = count_tokens(&piece) as u64 + 1;
        match parts.last_mut() {
            Some((part, size)) if *size + tokens <= takes => {
                part.push('\n');
                part.push_str(&piece);
                *size += tokens;
            }
            _ => parts.push((piece, tokens)),
        }
    }
    parts.into_iter().map(|(part, _)| part).collect()
}

/// A line in pieces of at most so many bytes, between words where there are any.
fn pieces(line: &str, longest: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), line);
    while rest.len() > longest {
        let end = rest.floor_char_boundary(longest);
        let end = rest[..end].rfind(' ').filter(|at| *at > 0).unwrap_or(end);
        let (piece, left) = rest.split_at(end);
        pieces.push(piece);
        rest = left.trim_start();
    }
    pieces.push(rest);
    pieces
}

/// More of an answer than this is not read.
const MOST_READ: usize = 64 * 1024;

async fn call(
    context: &WorkerContext,
    model: &dyn ChatModel,
    task: &SummaryTask<'_>,
    prompt: String,
) -> Result<String, WorkError> {
    let request = ChatRequest {
        system: task.instructions.to_owned(),
        messages: vec![ChatMessage::User(prompt)],
        ..ChatRequest::default()
    };
    // Tokens are paid for even if the call is interrupted: then dropping the guard records them.
    let mut guard = UsageGuard { context, conversation: task.conversation, model, usage: None };
    let answer = whole_answer(model, request, &mut guard.usage, MOST_READ).await;
    if let Some(call) = guard.take() {
        context.costs().record_calls(Some(task.conversation), &[call]).await?;
    }
    Ok(answer?.text)
}

/// The tokens that a call has used so far. Recorded on drop unless they were taken before.
struct UsageGuard<'a> {
    context: &'a WorkerContext,
    conversation: ConversationId,
    model: &'a dyn ChatModel,
    usage: Option<Usage>,
}

impl UsageGuard<'_> {
    fn take(&mut self) -> Option<CallCost> {
        let usage = self.usage.take()?;
        Some(bill(self.model, Purpose::Summary, usage, self.context.clock.now()))
    }
}

impl Drop for UsageGuard<'_> {
    fn drop(&mut self) {
        if let (Some(call), Ok(runtime)) = (self.take(), tokio::runtime::Handle::try_current()) {
            let (costs, conversation) = (self.context.costs(), self.conversation);
            runtime.spawn(async move {
                // The summary was cancelled, so there is no caller left who could handle the error.
                if let Err(error) = costs.record_calls(Some(conversation), &[call]).await {
                    tracing::warn!(%error, "the cost of an interrupted summary was not recorded");
                }
            });
        }
    }
}

/// An answer as a summary: in one piece, and not longer than one.
fn tidy(answer: &str, longest: usize) -> Result<String, WorkError> {
    let text = answer.trim();
    if text.is_empty() {
        return Err(WorkError::NoSummary("it is empty"));
    }
    let start: String = text.chars().take(20).collect::<String>().to_lowercase();
    if start.starts_with("<!doctype") || start.starts_with("<html") {
        return Err(WorkError::NoSummary("it is a web page"));
    }
    Ok(match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_talk_comes_in_parts_of_which_each_fits_and_nothing_is_lost() {
        let said: Vec<String> = (0..40).map(|n| format!("line {n} {}", "word ".repeat(n * 7))).collect();
        let parts = parts(&said, 100);
        assert!(parts.len() > 5);
        for part in &parts {
            assert!(count_tokens(part) <= 110, "{}", count_tokens(part));
        }
        let words = |text: &str| text.split_whitespace().count();
        assert_eq!(
            parts.iter().map(|part| words(part)).sum::<usize>(),
            said.iter().map(|line| words(line)).sum::<usize>()
        );
    }

    #[test]
    fn what_is_no_summary_is_told_from_one() {
        assert!(tidy(" \n", LONGEST).is_err() && tidy("<!DOCTYPE html><p>502", LONGEST).is_err());
        assert_eq!(tidy(" They met. \n", LONGEST).ok().as_deref(), Some("They met."));
        let long = tidy(&"x".repeat(50_000), LONGEST).unwrap_or_default();
        assert_eq!(long.chars().count(), LONGEST + 1);
    }
}
