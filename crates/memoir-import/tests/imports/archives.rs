//! Reads exports as they are downloaded.

use std::{fs::File, path::Path};

use memoir_import::{HistoryFormat, ImportedHistory, read_archive, read_chatgpt};

fn open(name: &str) -> File {
    File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)).unwrap()
}

fn texts(history: &ImportedHistory) -> Vec<Vec<&str>> {
    let conversations = history.conversations.iter();
    conversations
        .map(|conversation| conversation.messages.iter().map(|message| message.body.text()).collect())
        .collect()
}

#[test]
fn chatgpt_in_several_parts() {
    let read = &mut |_: &str, text: &str| read_chatgpt(text);
    let history = read_archive(open("chatgpt.zip"), HistoryFormat::ChatGpt, read).unwrap();
    let origins: Vec<&str> =
        history.conversations.iter().map(|conversation| conversation.origin.as_str()).collect();
    let mut texts = texts(&history);
    texts.sort();
    assert_eq!(origins.len(), 2, "{origins:?}");
    assert_eq!(
        texts,
        [
            vec!["Two cups of milk in ml?", "480 ml."],
            vec![
                "What is wrong with this leaf?",
                "Iron is missing \u{e200}cite\u{e202}turn0search0\u{e201}.",
            ],
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("messages on abandoned branches", 1),
            ("pictures, recordings and other files", 1),
            ("system messages", 1),
            ("thoughts", 2),
            ("tool calls and results", 2),
        ]
    );
}
