//! Lets the user pick a conversation from a list that typing filters by title.

use std::io::{IsTerminal as _, stdin};

use inquire::{InquireError, Select};
use memoir_core::{Clock as _, ConversationId, SystemClock, TimeZone, content_words};
use memoir_markdown::truncate_line;
use memoir_runtime::{Failure, FailureKind};
use memoir_store::{ConversationTitle, Store};

use crate::{
    question, render,
    screen::{is_plain, text_width},
};

/// Number of conversations visible at once.
const PAGE_SIZE: usize = 12;

/// Columns of the mark before the current line.
const MARK_WIDTH: usize = 2;

/// What the keys do, if the terminal is wide enough.
const LONG_HELP: &str = "type to search, arrow keys to move, Enter to select, Esc to cancel";

/// Maximum number of conversations whose titles are improved.
const MAX_IMPROVED: usize = 100;

/// Number of content words that make a prompt a title. Greetings have fewer.
const MIN_WORDS: usize = 2;

struct PickerLine {
    id: ConversationId,
    /// What is shown, as far as the terminal is wide enough.
    line: String,
    /// What typing searches, in lower case.
    title: String,
}

impl std::fmt::Display for PickerLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.line)
    }
}

/// Returns the rank of a line whose title contains every typed word, or `None` for any other line. The order of the list
/// stays the same.
fn rank_line(input: &str, line: &PickerLine, _shown: &str, index: usize) -> Option<i64> {
    let input = input.to_lowercase();
    let is_match = input.split_whitespace().all(|word| line.title.contains(word));
    is_match.then(|| -i64::try_from(index).unwrap_or(i64::MAX))
}

/// Replaces greetings and the like with the first real question among the latest exchanges.
async fn improve_titles(titles: &mut [ConversationTitle], store: &dyn Store) -> Result<(), Failure> {
    let is_vague = |text: &str| content_words(text).len() < MIN_WORDS;
    let vague = titles.iter_mut().filter(|title| !title.is_single && is_vague(&title.title));
    for title in vague.take(MAX_IMPROVED) {
        let exchanges = store.exchanges(title.id, 20).await?;
        let question = exchanges.iter().find(|exchange| !is_vague(&exchange.user_message));
        if let Some(question) = question.and_then(|exchange| exchange.user_message.lines().next()) {
            title.title = question.to_owned();
        }
    }
    Ok(())
}

/// Returns the conversation that the user picks, or `None` if there are none or the user cancels.
pub(crate) async fn pick_conversation(
    store: &dyn Store,
    zone: &TimeZone,
) -> Result<Option<ConversationId>, Failure> {
    let titles = read_titles(store).await?;
    if titles.is_empty() {
        say!("There are no conversations to resume yet.");
        return Ok(None);
    }
    choose(&titles, zone).await
}

/// Returns the conversation with this ID, or the one whose title contains these words. If there are several, the user
/// picks one.
pub(crate) async fn find_conversation(
    wanted: &str,
    can_ask: bool,
    store: &dyn Store,
    zone: &TimeZone,
) -> Result<Option<ConversationId>, Failure> {
    if let Ok(id) = wanted.parse() {
        return Ok(Some(ConversationId::new(id)));
    }
    let words: Vec<String> = wanted.split_whitespace().map(str::to_lowercase).collect();
    let is_match = |title: &ConversationTitle| {
        let title = title.title.to_lowercase();
        words.iter().all(|word| title.contains(word))
    };
    // A title that is replaced in the list is still a title.
    let stored: Vec<ConversationId> =
        store.titles().await?.iter().filter(|title| is_match(title)).map(|title| title.id).collect();
    let mut titles = read_titles(store).await?;
    titles.retain(|title| is_match(title) || stored.contains(&title.id));
    match titles.as_slice() {
        [] => Err(Failure::usage(format!("no conversation has {wanted:?} in its title")).hint(
            "Run `memoir conversations list` to see all titles, or `memoir search` to find what was said.",
        )),
        [title] if !words.is_empty() => Ok(Some(title.id)),
        _ if can_ask => choose(&titles, zone).await,
        _ => Err(Failure::usage(format!("{} conversations have {wanted:?} in their titles", titles.len()))
            .hint("Add words, or use the ID that `memoir conversations list` shows.")),
    }
}

/// Returns the titles of all conversations, those of single questions last, because they are seldom continued.
async fn read_titles(store: &dyn Store) -> Result<Vec<ConversationTitle>, Failure> {
    let mut titles = store.titles().await?;
    titles.sort_by_key(|title| title.is_single);
    improve_titles(&mut titles, store).await?;
    Ok(titles)
}

/// Lets the user choose one of several conversations.
async fn choose(titles: &[ConversationTitle], zone: &TimeZone) -> Result<Option<ConversationId>, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::usage("choosing a conversation needs a terminal").hint("Use `-r ID`."));
    }
    let help = if text_width() > LONG_HELP.len() { LONG_HELP } else { "type to search, Esc to cancel" };
    let (now, width) = (SystemClock.now(), text_width().saturating_sub(MARK_WIDTH));
    let line =
        |title: &ConversationTitle| truncate_line(&render::conversations::choice(title, now, zone), width);
    let choices: Vec<PickerLine> = titles
        .iter()
        .map(|title| PickerLine { id: title.id, line: line(title), title: title.title.to_lowercase() })
        .collect();
    if is_plain() {
        return choose_by_number(&choices).await;
    }
    let prompt = tokio::task::spawn_blocking(move || {
        Select::new("Resume which conversation?", choices)
            .with_page_size(PAGE_SIZE)
            .with_help_message(help)
            .with_scorer(&rank_line)
            .prompt()
    });
    let choice =
        prompt.await.map_err(|error| Failure::failed(format!("the conversation list failed: {error}")))?;
    match choice {
        Ok(choice) => Ok(Some(choice.id)),
        Err(InquireError::OperationCanceled) => Ok(None),
        Err(InquireError::OperationInterrupted) => Err(Failure::new(FailureKind::Interrupted, "Cancelled")),
        Err(error) => {
            Err(Failure::failed(format!("the conversation list failed: {error}")).hint("Use `/resume ID`."))
        }
    }
}

/// Lets the user choose by number from a list that is printed once, for screen readers.
async fn choose_by_number(choices: &[PickerLine]) -> Result<Option<ConversationId>, Failure> {
    let shown = &choices[..choices.len().min(PAGE_SIZE)];
    for (number, choice) in (1..).zip(shown) {
        say!("{number}. {}", choice.line);
    }
    let answer =
        question::ask("Number of the conversation, or words of its title: ").await.unwrap_or_default();
    let answer = answer.trim();
    if answer.is_empty() {
        return Ok(None);
    }
    let numbered = answer.parse::<usize>().ok().and_then(|number| shown.get(number.checked_sub(1)?));
    let named = || choices.iter().find(|choice| rank_line(answer, choice, "", 0).is_some());
    match numbered.or_else(named) {
        Some(choice) => Ok(Some(choice.id)),
        None => Err(Failure::usage(format!("no conversation has {answer:?} in its title"))
            .hint("Use one of the numbers in the list, or `/resume ID`.")),
    }
}
