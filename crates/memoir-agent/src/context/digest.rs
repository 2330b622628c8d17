//! The digest, which replaces exchanges that have left the window: a summary, and the user's standing instructions
//! verbatim.

use std::collections::{HashMap, HashSet};

use memoir_core::{Digest, content_words, escape_fence};
use memoir_models::ChatMessage;

use super::{fragment::tokens, truncate, window::PastExchange};

/// Maximum number of characters of a prompt or an answer in a line of an extract.
const MAX_QUOTE_CHARS: usize = 140;

/// Maximum length of a prompt that is searched for instructions, in bytes. Longer prompts are probably pasted text.
const MAX_PROMPT_LENGTH: usize = 800;

const MAX_INSTRUCTION_CHARS: usize = 300;

/// Maximum number of pinned instructions. The oldest ones are dropped first.
const MAX_INSTRUCTIONS: usize = 40;

/// Returns the section of the system prompt, of at most `limit` tokens. The summary gets the tokens that the
/// instructions do not use; if not all instructions fit, the latest ones are included.
pub(crate) fn section(digest: &Digest, limit: u64) -> String {
    let mut remaining = limit.saturating_sub(HEADING_TOKENS);
    let mut lines: Vec<String> = Vec::new();
    let mut instruction_budget = remaining * 2 / 3;
    for instruction in digest.pinned.iter().rev() {
        let line = format!("\n- {}", escape_fence(instruction, "memory"));
        if tokens(&line) <= instruction_budget {
            instruction_budget -= tokens(&line);
            remaining -= tokens(&line);
            lines.push(line);
        }
    }
    let summary = extract(&memoir_recall::escape_angle_brackets(digest.summary.trim()), &[], remaining);
    let mut parts = Vec::new();
    if !summary.is_empty() {
        parts.push(format!("# Summary of the conversation so far\n\n<memory>\n{summary}\n</memory>"));
    }
    if !lines.is_empty() {
        lines.reverse();
        let title = "# Earlier instructions from the user, word for word; they still apply\n";
        parts.push(format!("{title}{}", lines.concat()));
    }
    parts.join("\n\n")
}

/// Tokens of the headings and fences of both parts.
const HEADING_TOKENS: u64 = 48;

/// Returns the digest after the exchanges `leaving` have left the window. Uses the summary that was prepared for
/// exactly these exchanges, if there is one, and otherwise an extract.
pub(crate) fn advance(current: Option<&Digest>, leaving: &[PastExchange], limit: u64) -> Option<Digest> {
    let through = leaving.last()?.id;
    let prepared = current.and_then(|digest| digest.prepared.as_ref());
    let summary = match prepared.filter(|prepared| prepared.through == through) {
        Some(prepared) => truncate::keep_start(prepared.summary.trim(), limit),
        None => extract(current.map_or("", |digest| &digest.summary), leaving, limit),
    };
    let mut pinned = current.map(|digest| digest.pinned.clone()).unwrap_or_default();
    for instruction in instructions(leaving) {
        pinned.retain(|other| !other.eq_ignore_ascii_case(&instruction));
        pinned.push(instruction);
    }
    pinned.drain(..pinned.len().saturating_sub(MAX_INSTRUCTIONS));
    let is_compact = current.is_some_and(|digest| digest.is_compact);
    Some(Digest { through, summary, pinned, prepared: None, requested_through: None, is_compact })
}

/// Returns a summary that consists of quotations: one line for each of the most informative exchanges, added to the
/// current summary, within `limit` tokens.
pub(crate) fn extract(current: &str, leaving: &[PastExchange], limit: u64) -> String {
    let (mut lines, prose): (Vec<String>, Vec<String>) = current
        .lines()
        .map(str::to_owned)
        .filter(|line| !line.trim().is_empty())
        .partition(|line| line.starts_with("- "));
    lines.extend(leaving.iter().filter_map(quote_exchange));
    // Exchanges that were restored to the window can leave it again.
    let mut seen = HashSet::new();
    lines.retain(|line| seen.insert(line.clone()));
    // Prose was written by a model and stays as it is. If there are lines, it gets half of the tokens.
    let prose_limit = if lines.is_empty() { limit } else { limit / 2 };
    let prose = truncate::prefix(&prose.join("\n"), prose_limit).to_owned();
    let words: Vec<Vec<String>> = lines.iter().map(|line| content_words(line)).collect();
    let mut frequency: HashMap<&str, f64> = HashMap::new();
    words.iter().flatten().for_each(|word| *frequency.entry(word).or_default() += 1.0);
    let count = lines.len().max(1) as f64;
    // Lines with rare words and later lines score higher.
    let score = |index: usize| {
        let rarity: f64 = words[index].iter().map(|word| 1.0 / frequency[word.as_str()]).sum();
        rarity * (1.0 + index as f64 / count)
    };
    let mut best: Vec<usize> = (0..lines.len()).collect();
    best.sort_by(|a, b| score(*b).total_cmp(&score(*a)));
    let mut remaining = limit.saturating_sub(tokens(&prose));
    let mut selection: HashSet<usize> = HashSet::new();
    for index in best {
        let needed = tokens(&lines[index]);
        if needed > remaining {
            break;
        }
        remaining -= needed;
        selection.insert(index);
    }
    let lines = lines
        .iter()
        .enumerate()
        .filter(|(index, _)| selection.contains(index))
        .map(|(_, line)| line.as_str());
    [prose.as_str()].into_iter().filter(|prose| !prose.is_empty()).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Quotes an exchange in one line. Returns `None` for thanks, greetings and other short prompts.
fn quote_exchange(exchange: &PastExchange) -> Option<String> {
    let prompt = user_messages(exchange).next().unwrap_or_default();
    let answer = exchange.messages.iter().rev().find_map(|message| match message {
        ChatMessage::Assistant { text, .. } => Some(text.as_str()),
        _ => None,
    });
    (content_words(prompt).len() > 2)
        .then(|| format!("- user: {} / assistant: {}", excerpt(prompt), excerpt(answer.unwrap_or_default())))
}

fn user_messages(exchange: &PastExchange) -> impl Iterator<Item = &str> {
    exchange.messages.iter().filter_map(|message| match message {
        ChatMessage::User { text, .. } => Some(text.as_str()),
        _ => None,
    })
}

/// Returns the start of a text as one line.
fn excerpt(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_QUOTE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// Returns the standing instructions in the user's prompts, word for word.
fn instructions(exchanges: &[PastExchange]) -> Vec<String> {
    // Other people's messages in imported conversations are not instructions of the user.
    let prompts = exchanges.iter().flat_map(|exchange| exchange.user_texts.iter().map(String::as_str));
    let prompts = prompts.filter(|text| text.len() <= MAX_PROMPT_LENGTH);
    prompts.flat_map(sentences).filter(|sentence| is_instruction(sentence)).collect()
}

/// Returns the sentences of a prompt, without quotations, code and attached files.
fn sentences(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut in_file = false;
    let mut sentences = Vec::new();
    for line in text.lines() {
        if in_file || line.starts_with("<file path=\"") {
            in_file = line != "</file>";
        } else if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && !line.trim_start().starts_with('>') {
            let mut sentence = String::new();
            for part in line.split_inclusive(['.', '!', '?', ';']) {
                sentence.push_str(part);
                // The dots in "e.g." and "3.5" do not end a sentence.
                let is_end = part.ends_with(['!', '?', ';'])
                    || (part.ends_with('.')
                        && part
                            .trim_end_matches('.')
                            .split(' ')
                            .next_back()
                            .is_some_and(|last| last.len() > 1));
                if is_end {
                    sentences.push(std::mem::take(&mut sentence).trim().to_owned());
                }
            }
            sentences.push(sentence.trim().to_owned());
        }
    }
    sentences
}

/// Openings of sentences that give a standing instruction.
const OPENINGS: [&str; 20] = [
    "always ",
    "never ",
    "please always ",
    "please never ",
    "don't ever ",
    "do not ever ",
    "don't use ",
    "do not use ",
    "please don't use ",
    "stop using ",
    "keep your answers ",
    "keep answers ",
    "in future, ",
    "in the future, ",
    "for the rest of this ",
    "answer in ",
    "reply in ",
    "respond in ",
    "please answer in ",
    "please reply in ",
];

/// Words before "always" or "never" that make a sentence an instruction rather than a statement.
const DIRECTIVES: [&str; 5] = ["please", "should", "must", "shall", "to"];

/// Words after "always" or "never" that make a sentence a statement.
const STATEMENT_WORDS: [&str; 12] =
    ["mind", "got", "saw", "seen", "had", "was", "been", "came", "went", "did", "knew", "heard"];

fn is_instruction(sentence: &str) -> bool {
    if sentence.is_empty() || sentence.ends_with('?') || sentence.chars().count() > MAX_INSTRUCTION_CHARS {
        return false;
    }
    let lower = sentence.to_lowercase().replace('\u{2019}', "'");
    if lower.contains("from now on") || asks_for_name(sentence) {
        return true;
    }
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric() && c != '\'').filter(|word| !word.is_empty()).collect();
    let is_directive = |index: usize| {
        let next = words.get(index + 1).copied().unwrap_or_default();
        // "Always crashes" and "never worked" are statements.
        let is_statement = (next.ends_with('s') && !next.ends_with("ss"))
            || next.ends_with("ed")
            || STATEMENT_WORDS.contains(&next);
        matches!(words[index], "always" | "never") && !is_statement
    };
    match OPENINGS.iter().find(|opening| lower.starts_with(**opening)) {
        Some(opening) if opening.ends_with("always ") || opening.ends_with("never ") => {
            (0..2.min(words.len())).any(is_directive)
        }
        Some(_) => true,
        None => (1..words.len()).any(|index| is_directive(index) && DIRECTIVES.contains(&words[index - 1])),
    }
}

/// Returns whether a sentence asks to be called by a name: "Call me Kim", but not "Call me when it is done".
fn asks_for_name(sentence: &str) -> bool {
    let rest = sentence.strip_prefix("Please call me ").or_else(|| sentence.strip_prefix("Call me "));
    rest.is_some_and(|rest| rest.starts_with(char::is_uppercase))
}

#[cfg(test)]
mod tests {
    use memoir_core::{ExchangeId, PreparedSummary, count_tokens};

    use super::*;

    fn exchange(id: i64, prompt: &str, answer: &str) -> PastExchange {
        let messages = vec![
            ChatMessage::user(prompt),
            ChatMessage::Assistant { text: answer.into(), tool_calls: Vec::new(), replay: None },
        ];
        PastExchange {
            id: ExchangeId::new(id),
            messages,
            user_texts: vec![prompt.into()],
            has_untrusted_text: false,
            tokens: 10,
        }
    }

    #[test]
    fn instructions_are_distinguished_from_statements() {
        for instruction in [
            "Always answer in metric units.",
            "Please never use emoji!",
            "From now on, call me Kim.",
            "I want you to always show the command first.",
            "You should never touch main.rs, e.g. by renaming it.",
            "Answer in French",
            "Call me Ishmael.",
            "Don't use emoji.",
            "Keep your answers short.",
        ] {
            assert_eq!(
                instructions(&[exchange(1, &format!("Hi. {instruction} Thanks."), "ok")]).len(),
                1,
                "{instruction}"
            );
        }
        for statement in [
            "I always forget my keys.",
            "She never said so.",
            "Should I always use tabs?",
            "Tell me about Paris.",
            "> Always obey the quoted.",
            "```\nalways = true\nNever mind the code.\n```",
            "It is never late.",
            "Never mind, I found it.",
            "Always crashes on startup.",
            "I clicked and never got a response.",
            "I can never remember the syntax.",
            "Call me when the build is done.",
            "Never worked for me.",
        ] {
            assert_eq!(instructions(&[exchange(1, statement, "ok")]), [""; 0], "{statement}");
        }
        let prompt = "The trip was fine. From now on use 24-hour times, e.g. 14:30. What else?";
        assert_eq!(
            instructions(&[exchange(1, prompt, "ok")]),
            ["From now on use 24-hour times, e.g. 14:30."]
        );
    }

    #[test]
    fn an_extract_keeps_the_most_informative_lines_in_order_and_fits() {
        let mut leaving: Vec<PastExchange> = (1..200)
            .map(|id| exchange(id, &format!("Tell me more about number {id} please"), "Here is more."))
            .collect();
        leaving.insert(
            50,
            exchange(500, "The boiler in Lisbon was repaired by Olaf from Nordheat", "Noted: Olaf, Lisbon."),
        );
        leaving.push(exchange(501, "thanks", "You are welcome."));
        let text = extract(
            "- user: my cat Miso swallowed a marble yesterday / assistant: call the vet",
            &leaving,
            300,
        );
        assert!(text.starts_with("- user: my cat Miso") && text.contains("Olaf from Nordheat"), "{text}");
        assert!(!text.contains("thanks") && count_tokens(&text) <= 300, "{text}");
        let text = extract("They planned a trip to Japan.", &leaving, 300);
        assert!(text.starts_with("They planned a trip to Japan.\n- user:"), "{text}");
    }

    #[test]
    fn a_prepared_summary_is_used_only_for_the_exchanges_it_covers() {
        let current = Digest {
            through: ExchangeId::new(1),
            summary: "one".into(),
            pinned: vec!["Never shout.".into(), "Answer in French.".into()],
            prepared: Some(PreparedSummary { through: ExchangeId::new(3), summary: "made ahead".into() }),
            requested_through: None,
            is_compact: false,
        };
        let leaving =
            [exchange(2, "Never shout.", "ok"), exchange(3, "The boiler was repaired by Olaf", "ok")];
        let digest = advance(Some(&current), &leaving, 300);
        let expected = Digest {
            through: ExchangeId::new(3),
            summary: "made ahead".into(),
            pinned: vec!["Answer in French.".into(), "Never shout.".into()],
            prepared: None,
            requested_through: None,
            is_compact: false,
        };
        assert_eq!(digest, Some(expected));
        let shorter = advance(Some(&current), &leaving[..1], 300).map(|digest| digest.summary);
        assert_ne!(shorter.as_deref(), Some("made ahead"));
        assert_eq!(advance(Some(&current), &[], 300), None);
    }

    #[test]
    fn the_section_fits_and_keeps_the_latest_instructions() {
        let digest = Digest {
            through: ExchangeId::new(1),
            summary: "word </memory> ".repeat(500),
            pinned: (0..40).map(|n| format!("Always do number {n} first.")).collect(),
            prepared: None,
            requested_through: None,
            is_compact: false,
        };
        let text = section(&digest, 300);
        assert!(count_tokens(&text) <= 300, "{}", count_tokens(&text));
        assert!(text.contains("- Always do number 39 first.") && !text.contains("number 0 first"), "{text}");
        // If the summary does not fit, the least informative lines are dropped.
        let lines = (0..60).map(|n| format!("- user: something about topic {n} / assistant: ok\n")).collect();
        let digest = Digest { summary: lines, pinned: vec!["Use Vec<String>. </memory>".into()], ..digest };
        let text = section(&digest, 300);
        assert!(text.contains("topic 59") && count_tokens(&text) <= 300, "{text}");
        assert!(text.ends_with("- Use Vec<String>. ‹/memory>"), "{text}");
        assert_eq!(text.matches("</memory>").count(), 1);
        assert_eq!(section(&digest, 30), "");
    }
}
