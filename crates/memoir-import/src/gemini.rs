//! Gemini's history in a Google Takeout: `MyActivity.json`, an array of activities, newest first.
//!
//! The title of an activity is a verb in the user's language and the prompt; the answer is HTML. Newer exports
//! name the conversation in a link. In older ones, prompts that follow each other within half an hour form one.

use memoir_core::{DraftMessage, Timestamp};
use serde::Deserialize;

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    builder::{BAD_MESSAGES, EMPTY, FILES, HistoryBuilder, OTHER, choose_title},
    drafts, html,
    json::{self, Lenient},
};

/// Pause in milliseconds after which another conversation starts.
const NEW_CONVERSATION_PAUSE: i64 = 30 * 60 * 1000;

/// The prompt of an activity that only sent a file.
const FILE_ONLY: &str = "(a file)";

/// What the title of a prompt starts with, in every language for which it is known. Longer ones come first.
const PROMPT_VERBS: [&str; 12] = [
    "Prompted with: ",
    "Asked Gemini: ",
    "Asked Bard: ",
    "Eingegebener Prompt: ",
    "送信したメッセージ: ",
    "Prompt : ",
    "Prompt: ",
    "Prompted ",
    "Branched ",
    "Answered ",
    "Asked ",
    "Said ",
];

/// What the titles of other activities start with.
const OTHER_VERBS: [&str; 12] = [
    "Created ",
    "Used ",
    "Added ",
    "Gave feedback",
    "Selected ",
    "Shared ",
    "Deleted ",
    "Viewed ",
    "Searched ",
    "使用: ",
    "Visited ",
    "Watched ",
];

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Activity {
    header: Lenient<String>,
    title: Lenient<String>,
    time: Lenient<String>,
    products: Lenient<Vec<String>>,
    safe_html_item: Lenient<Vec<Lenient<HtmlItem>>>,
    details: Lenient<Vec<Lenient<Link>>>,
    title_url: Lenient<String>,
    attached_files: Lenient<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct HtmlItem {
    html: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Link {
    url: Lenient<String>,
}

impl Activity {
    /// Returns whether this is an activity in Gemini, or in Bard as it was called first.
    fn is_gemini(&self) -> bool {
        let products = self.products.0.iter().flatten().map(String::as_str);
        self.header
            .text()
            .into_iter()
            .chain(products)
            .any(|name| name.contains("Gemini") || name.contains("Bard"))
    }

    fn answer(&self) -> String {
        let items = self.safe_html_item.0.iter().flatten();
        let texts = items.filter_map(|item| Some(html::to_text(item.0.as_ref()?.html.text()?)));
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the id in a link such as `https://gemini.google.com/app/3fa2b0c1`.
    fn conversation_id(&self) -> Option<&str> {
        let details = self.details.0.iter().flatten().filter_map(|link| link.0.as_ref()?.url.text());
        details.chain(self.title_url.text()).find_map(|url| {
            let (_, path) = url.split_once("gemini.google.com/")?;
            let id = match path.split_once('/')? {
                ("app", id) => id,
                ("gem", rest) => rest.split_once('/')?.1,
                _ => return None,
            };
            let end = id.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(id.len());
            Some(&id[..end]).filter(|id| !id.is_empty())
        })
    }
}

/// Reads Gemini's activities.
///
/// # Errors
///
/// Fails if the text has another format, or contains no activities in Gemini.
pub fn read_gemini(text: &str) -> Result<ImportedHistory, ImportError> {
    const WRONG_FORMAT: ImportError =
        ImportError::WrongFormat("the MyActivity.json of Gemini Apps in a Google Takeout");
    let elements = json::elements(text).ok_or(WRONG_FORMAT)?;
    let mut history = HistoryBuilder::default();
    history.skip_many(BAD_MESSAGES, usize::from(elements.is_truncated));
    let mut conversations: Vec<Conversation> = Vec::new();
    let mut has_activity = false;
    // The file has the newest first.
    for element in elements.values.iter().rev() {
        let activity: Activity = serde_json::from_str(element.get()).unwrap_or_default();
        if !activity.is_gemini() {
            history.skip(OTHER);
            continue;
        }
        has_activity = true;
        add_activity(&activity, &mut conversations, &mut history);
    }
    for conversation in conversations {
        history.add(conversation.build());
    }
    if has_activity { Ok(history.finish()) } else { Err(WRONG_FORMAT) }
}

struct Conversation {
    /// Id in links, or `None` if the prompts were grouped by time.
    id: Option<String>,
    started: Timestamp,
    last: Timestamp,
    messages: Vec<DraftMessage>,
}

impl Conversation {
    fn includes(&self, id: Option<&str>, time: Timestamp) -> bool {
        match id {
            Some(_) => self.id.as_deref() == id,
            None => {
                let pause = time.as_millis().saturating_sub(self.last.as_millis());
                self.id.is_none() && (0..NEW_CONVERSATION_PAUSE).contains(&pause)
            }
        }
    }

    fn build(self) -> ImportedConversation {
        ImportedConversation {
            title: choose_title(None, &self.messages),
            origin: format!("gemini/{}", self.id.unwrap_or_else(|| self.started.to_string())),
            name: String::new(),
            scope: "gemini".into(),
            model: UNKNOWN_MODEL.into(),
            has_times: true,
            is_open: false,
            messages: self.messages,
        }
    }
}

fn add_activity(activity: &Activity, conversations: &mut Vec<Conversation>, history: &mut HistoryBuilder) {
    let Some(time) = activity.time.timestamp() else { return history.skip(BAD_MESSAGES) };
    let answer = activity.answer();
    let Some(prompt) = extract_prompt(activity.title.0.as_deref().unwrap_or_default(), !answer.is_empty())
    else {
        return history.skip(OTHER);
    };
    let file_count = activity.attached_files.0.as_ref().map_or(0, Vec::len);
    history.skip_many(FILES, file_count);
    if prompt.is_empty() && answer.is_empty() {
        return history.skip_many(EMPTY, usize::from(file_count == 0));
    }
    let id = activity.conversation_id();
    let position = match conversations.iter().rposition(|conversation| conversation.includes(id, time)) {
        Some(position) => position,
        None => {
            let id = id.map(str::to_owned);
            conversations.push(Conversation { id, started: time, last: time, messages: Vec::new() });
            conversations.len() - 1
        }
    };
    let conversation = &mut conversations[position];
    conversation.last = time;
    if prompt.is_empty() {
        // Without a prompt, the answer would belong to the one before.
        conversation.messages.push(drafts::user(time, FILE_ONLY.to_owned()));
    } else {
        conversation.messages.push(drafts::user(time, prompt));
    }
    if !answer.is_empty() {
        conversation.messages.push(drafts::assistant(time, answer));
    }
}

/// Returns the prompt in a title, or `None` if the activity is not a prompt. In a language whose verbs are not known,
/// an activity with an answer is a prompt, and its title is kept whole.
fn extract_prompt(title: &str, has_answer: bool) -> Option<String> {
    let title = title.replace('\u{a0}', " ");
    // The prompt may be empty if only a file was sent.
    let padded = format!("{title} ");
    if let Some(prompt) = PROMPT_VERBS.iter().find_map(|verb| padded.strip_prefix(verb)) {
        return Some(prompt.trim().to_owned());
    }
    let is_other = OTHER_VERBS.iter().any(|verb| title.starts_with(verb));
    (has_answer && !is_other).then(|| title.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_are_recognized_in_every_language() {
        for (title, has_answer, prompt) in [
            ("Prompted Which ones?", true, Some("Which ones?")),
            ("Prompted ", true, Some("")),
            ("Prompted", true, Some("")),
            ("Prompted with: Hello", false, Some("Hello")),
            ("Eingegebener Prompt: Welche?", true, Some("Welche?")),
            ("Prompt\u{a0}: Lesquelles ?", true, Some("Lesquelles ?")),
            ("送信したメッセージ: どれ？", true, Some("どれ？")),
            ("Zapytano: Które?", true, Some("Zapytano: Które?")),
            ("Zapytano: Które?", false, None),
            ("Used Gemini Apps", false, None),
            ("Created Gemini Canvas titled x", true, None),
        ] {
            assert_eq!(extract_prompt(title, has_answer).as_deref(), prompt, "{title}");
        }
    }

    #[test]
    fn other_formats_are_rejected() {
        let youtube = r#"[{"header": "YouTube", "title": "Watched x", "time": "2026-05-11T08:00:00Z", "products": ["YouTube"]}]"#;
        for other in ["", "[]", "[1]", "{}", "[{\"id\": \"1\", \"mapping\": {}}]", youtube] {
            assert!(matches!(read_gemini(other), Err(ImportError::WrongFormat(_))), "{other:?}");
        }
    }
}
