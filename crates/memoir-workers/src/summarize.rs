//! Requests summaries from the model, in parts if the text is long.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use memoir_core::{CallCost, ConversationId, Purpose, Usage, WorkerKind, count_tokens};
use memoir_models::{ChatMessage, ChatModel, ChatRequest, ModelError, collect_answer, price_call};
use memoir_recall::escape_angle_brackets;
use memoir_redact::without_secrets;

use crate::{WorkerContext, worker::WorkError};

/// Maximum number of tokens per request. Longer text is summarized in parts.
const MAX_PART_TOKENS: u64 = 12_000;

/// Maximum length of a summary in characters. A longer answer is truncated.
pub(crate) const MAX_CHARS: usize = 1200;

/// A text to summarize, with instructions for the model.
pub(crate) struct SummaryTask<'a> {
    pub(crate) conversation: ConversationId,
    /// System prompt of the request.
    pub(crate) instructions: &'a str,
    /// Summary of the text before `lines`. Empty if there is none.
    pub(crate) previous_summary: &'a str,
    /// The text to summarize, one message per line.
    pub(crate) lines: &'a [String],
    /// Maximum length of the summary in characters.
    pub(crate) max_chars: usize,
}

/// Smallest part worth trying, in tokens. A model that rejects it cannot summarize.
const MIN_PART_TOKENS: u64 = 500;

/// Returns the summary of a text. If the model reports that the context is too long, retries with smaller parts.
pub(crate) async fn summarize(
    context: &WorkerContext,
    model: &dyn ChatModel,
    task: &SummaryTask<'_>,
) -> Result<String, WorkError> {
    // Old messages may contain secrets. Redact them before splitting, which could hide a secret from the detector.
    let lines: Vec<String> = task.lines.iter().map(|line| without_secrets(line).into_owned()).collect();
    let context_limit = model.limits().await.context;
    let mut part_tokens = context_limit.map_or(MAX_PART_TOKENS, |limit| (limit / 2).min(MAX_PART_TOKENS));
    loop {
        match summarize_parts(context, model, task, split_into_parts(&lines, part_tokens)).await {
            Err(WorkError::Model(ModelError::ContextTooLong { .. }))
                if part_tokens / 2 >= MIN_PART_TOKENS =>
            {
                part_tokens /= 2;
                tracing::debug!(tokens = part_tokens, "the context was too long; retrying in smaller parts");
            }
            summary => return summary,
        }
    }
}

/// Summarizes each part together with the summary of the parts before it.
async fn summarize_parts(
    context: &WorkerContext,
    model: &dyn ChatModel,
    task: &SummaryTask<'_>,
    parts: Vec<String>,
) -> Result<String, WorkError> {
    let mut summary = without_secrets(task.previous_summary).into_owned();
    let mut keys = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let prompt = if summary.is_empty() {
            format!("<memory>\n{part}\n</memory>")
        } else {
            format!(
                "The summary so far:\n\n<memory>\n{}\n</memory>\n\nWhat was said after that:\n\n<memory>\n{part}\n</memory>",
                escape_angle_brackets(&summary)
            )
        };
        let key = hash_request(model, task, &prompt);
        keys.push(key);
        if let Some(cached_summary) = context.cached_part(key) {
            summary = cached_summary;
            continue;
        }
        if number > 0 {
            // Several parts take a while, so renew the lease and check the budget again.
            context.jobs().renew(&context.owner, context.lease_end()).await?;
            if context.check_budget(WorkerKind::ConversationSummarizer).await?.is_some() {
                return Err(WorkError::OverBudget);
            }
        }
        summary = clean_answer(&call(context, model, task, prompt).await?, task.max_chars)?;
        if parts.len() > 1 {
            context.cache_part(key, &summary);
        }
    }
    context.remove_parts(&keys);
    Ok(summary)
}

/// Returns the cache key of a part.
fn hash_request(model: &dyn ChatModel, task: &SummaryTask<'_>, prompt: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (model.name(), task.instructions, prompt).hash(&mut hasher);
    hasher.finish()
}

/// Joins lines into parts of at most `max_tokens` tokens. A line that exceeds the limit by itself is split.
fn split_into_parts(lines: &[String], max_tokens: u64) -> Vec<String> {
    // A token is at least one byte, so a piece of `max_tokens` bytes always fits.
    let max_bytes = usize::try_from(max_tokens).unwrap_or(usize::MAX).max(16);
    let mut parts: Vec<(String, u64)> = Vec::new();
    for piece in lines.iter().flat_map(|line| split_line(line, max_bytes)) {
        let piece = escape_angle_brackets(piece);
        let tokens = count_tokens(&piece) as u64 + 1;
        match parts.last_mut() {
            Some((part, size)) if *size + tokens <= max_tokens => {
                part.push('\n');
                part.push_str(&piece);
                *size += tokens;
            }
            _ => parts.push((piece, tokens)),
        }
    }
    parts.into_iter().map(|(part, _)| part).collect()
}

/// Splits a line into pieces of at most `max_bytes` bytes, between words where possible.
fn split_line(line: &str, max_bytes: usize) -> Vec<&str> {
    let (mut pieces, mut rest) = (Vec::new(), line);
    while rest.len() > max_bytes {
        let end = rest.floor_char_boundary(max_bytes);
        let end = rest[..end].rfind(' ').filter(|space| *space > 0).unwrap_or(end);
        let (piece, remainder) = rest.split_at(end);
        pieces.push(piece);
        rest = remainder.trim_start();
    }
    pieces.push(rest);
    pieces
}

/// Maximum number of bytes read from an answer.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

async fn call(
    context: &WorkerContext,
    model: &dyn ChatModel,
    task: &SummaryTask<'_>,
    prompt: String,
) -> Result<String, WorkError> {
    let request = ChatRequest {
        system: task.instructions.to_owned(),
        messages: vec![ChatMessage::user(prompt)],
        ..ChatRequest::default()
    };
    // An interrupted call costs money too. In that case the guard records the tokens when it is dropped.
    let mut guard = UsageGuard { context, conversation: task.conversation, model, usage: None };
    let answer = collect_answer(model, request, &mut guard.usage, MAX_ANSWER_BYTES).await;
    if let Some(call) = guard.take() {
        context.costs().record_calls(Some(task.conversation), &[call]).await?;
    }
    Ok(answer?.text)
}

/// The tokens that a call has used so far. They are recorded on drop unless they were taken before.
struct UsageGuard<'a> {
    context: &'a WorkerContext,
    conversation: ConversationId,
    model: &'a dyn ChatModel,
    usage: Option<Usage>,
}

impl UsageGuard<'_> {
    fn take(&mut self) -> Option<CallCost> {
        let usage = self.usage.take()?;
        Some(price_call(self.model, Purpose::Summary, usage, self.context.clock.now()))
    }
}

impl Drop for UsageGuard<'_> {
    fn drop(&mut self) {
        if let (Some(call), Ok(runtime)) = (self.take(), tokio::runtime::Handle::try_current()) {
            let (costs, conversation) = (self.context.costs(), self.conversation);
            runtime.spawn(async move {
                // The summary was cancelled, so no caller is left to handle the error.
                if let Err(error) = costs.record_calls(Some(conversation), &[call]).await {
                    tracing::warn!(%error, "could not record the cost of an interrupted summary");
                }
            });
        }
    }
}

/// Trims and truncates an answer. Fails if it is empty or a web page, such as the error page of a proxy.
fn clean_answer(answer: &str, max_chars: usize) -> Result<String, WorkError> {
    let text = answer.trim();
    if text.is_empty() {
        return Err(WorkError::NoSummary("the answer is empty"));
    }
    let start: String = text.chars().take(20).collect::<String>().to_lowercase();
    if start.starts_with("<!doctype") || start.starts_with("<html") {
        return Err(WorkError::NoSummary("the answer is a web page"));
    }
    Ok(match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_split_into_parts_that_fit_without_losing_words() {
        let lines: Vec<String> = (0..40).map(|n| format!("line {n} {}", "word ".repeat(n * 7))).collect();
        let parts = split_into_parts(&lines, 100);
        assert!(parts.len() > 5);
        for part in &parts {
            assert!(count_tokens(part) <= 110, "{}", count_tokens(part));
        }
        let words = |text: &str| text.split_whitespace().count();
        assert_eq!(
            parts.iter().map(|part| words(part)).sum::<usize>(),
            lines.iter().map(|line| words(line)).sum::<usize>()
        );
    }

    #[test]
    fn answers_that_are_not_summaries_are_rejected() {
        assert!(
            clean_answer(" \n", MAX_CHARS).is_err()
                && clean_answer("<!DOCTYPE html><p>502", MAX_CHARS).is_err()
        );
        assert_eq!(clean_answer(" They met. \n", MAX_CHARS).ok().as_deref(), Some("They met."));
        let long = clean_answer(&"x".repeat(50_000), MAX_CHARS).unwrap_or_default();
        assert_eq!(long.chars().count(), MAX_CHARS + 1);
    }
}
