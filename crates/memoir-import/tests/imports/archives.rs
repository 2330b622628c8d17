//! Reads exports as they are downloaded.

use std::{fs::File, path::Path};

use memoir_core::TimeZone;
use memoir_import::{HistoryFormat, ImportedHistory, read_archive, read_chatgpt, read_claude, read_whatsapp};

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

#[test]
fn claude() {
    let read = &mut |_: &str, text: &str| read_claude(text);
    let history = read_archive(open("claude.zip"), HistoryFormat::Claude, read).unwrap();
    let mut texts = texts(&history);
    texts.sort();
    assert_eq!(
        texts,
        [
            vec![
                "<file path=\"pasted text\">\nrow A: beans\n</file>",
                "I will look it up.\n\nPlant after 15 May.",
                "And potatoes?",
                "In April.",
            ],
            vec!["A pancake recipe?", "250 g flour, 480 ml milk, 3 eggs."],
        ]
    );
}

#[test]
fn whatsapp_of_both_systems() {
    for (file, entry, chats) in [
        (
            "WhatsApp Chat - Garten-Runde.zip",
            "_chat.txt",
            [vec!["Wann säen wir Bohnen?", "Mitte Mai:\nwenn kein Frost mehr kommt"], vec!["Frohes Neues!"]],
        ),
        (
            "WhatsApp Chat with Ana.zip",
            "WhatsApp Chat with Ana.txt",
            [vec!["the new bed"], vec!["Pancakes: 250 g flour?", "yes"]],
        ),
    ] {
        let mut names = Vec::new();
        let read = &mut |name: &str, text: &str| {
            names.push(name.to_owned());
            read_whatsapp(text, "chat", &TimeZone::UTC, None)
        };
        let history = read_archive(open(file), HistoryFormat::WhatsApp, read).unwrap();
        assert_eq!(texts(&history), chats);
        assert_eq!(names, [entry]);
    }
}
