//! `/write`: a post from talk.

use async_trait::async_trait;
use memoir_core::ConversationId;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    writing::{self, Wanted, Writing},
};

pub(super) struct Write;

#[async_trait]
impl Command for Write {
    fn name(&self) -> &'static str {
        "write"
    }

    fn arguments(&self) -> &'static str {
        "[CONVERSATION] [since DATE] [until DATE] [dry-run]"
    }

    fn needs_memory(&self) -> bool {
        true
    }

    fn summary(&self) -> &'static str {
        "Write a post from this conversation, another, or a time."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (mut wanted, dry) = parse(arguments)?;
        if wanted == Wanted::default() {
            wanted.conversation = app.state.conversation.id();
        }
        if wanted == Wanted::default() {
            return Err(Failure::new(Kind::Usage, "nothing was said in this conversation yet")
                .hint("/write ID takes another, /write since yesterday a time."));
        }
        let writing = Writing {
            recall: app.recall(),
            model: app.state.model.as_ref(),
            folder: app.home.posts(),
            verbose: app.verbosity.level() >= 1,
            dry,
        };
        writing::write(&wanted.span(app.recall())?, &writing).await?;
        Ok(Next::Prompt)
    }
}

/// Where the words go that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Since,
    Until,
}

/// What is asked for, in words.
fn parse(arguments: &str) -> Result<(Wanted, bool), Failure> {
    let (mut wanted, mut dry, mut place) = (Wanted::default(), false, Place::Start);
    for word in arguments.split_whitespace() {
        match (word, place) {
            ("since", _) => place = Place::Since,
            ("until", _) => place = Place::Until,
            ("dry-run" | "--dry-run", _) => dry = true,
            (word, Place::Since) => add(&mut wanted.since, word),
            (word, Place::Until) => add(&mut wanted.until, word),
            (word, Place::Start) => match word.parse() {
                Ok(id) => wanted.conversation = Some(ConversationId::new(id)),
                Err(_) => {
                    return Err(Failure::new(
                        Kind::Usage,
                        format!("\"{word}\" is not the number of a conversation"),
                    )
                    .hint("Use /write, /write 12, or /write since yesterday."));
                }
            },
        }
    }
    Ok((wanted, dry))
}

fn add(text: &mut Option<String>, word: &str) {
    let text = text.get_or_insert_default();
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn a_conversation_a_time_or_both() {
        let (wanted, dry) = parse("12 since last week until 2026-05-01 dry-run").unwrap();
        assert_eq!(wanted.conversation, Some(ConversationId::new(12)));
        assert_eq!(
            (wanted.since.as_deref(), wanted.until.as_deref()),
            (Some("last week"), Some("2026-05-01"))
        );
        assert!(dry);
        assert_eq!(parse("").unwrap(), (Wanted::default(), false));
        assert!(parse("everything").unwrap_err().sentence().contains("\"everything\" is not the number"));
    }
}
