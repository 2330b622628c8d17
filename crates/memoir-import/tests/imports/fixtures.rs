//! Checks the conversations read from each fixture, and the items skipped.

use memoir_core::Role;
use memoir_import::{ImportError, ImportedConversation, ImportedHistory, detect_format};

use crate::FILES;

fn read(index: usize) -> ImportedHistory {
    let (_, text, read) = FILES[index];
    read(text).unwrap()
}

fn metadata(conversation: &ImportedConversation) -> [&str; 4] {
    [&conversation.origin, &conversation.title, &conversation.scope, &conversation.model]
}

/// Formats each message as its time, a sign for its role, and its text.
fn format_messages(conversation: &ImportedConversation) -> Vec<String> {
    let sign = |role| match role {
        Role::User => "?",
        Role::Assistant => "!",
        Role::Tool => "=",
    };
    let messages = conversation.messages.iter();
    messages
        .map(|message| {
            let time = message.created.to_string();
            let (_, time) = time.split_once('T').unwrap();
            format!("{time} {} {}", sign(message.body.role()), message.body.text())
        })
        .collect()
}

#[test]
fn the_format_of_every_file_is_detected() {
    for (format, text, _) in FILES {
        assert_eq!(detect_format(text), Some(format), "{}", format.name());
    }
}

#[test]
fn every_reader_rejects_files_of_other_formats() {
    for (format, text, _) in FILES {
        for (other, _, read) in FILES {
            let is_rejected = matches!(read(text), Err(ImportError::WrongFormat(_)));
            assert_eq!(is_rejected, format != other, "{} as {}", format.name(), other.name());
        }
    }
}

#[test]
fn chatgpt() {
    let history = read(0);
    assert_eq!(
        history.conversations.iter().map(metadata).collect::<Vec<_>>(),
        [
            ["chatgpt/c-knots", "Name three knots", "chatgpt", "imported"],
            ["chatgpt/c-bread", "Bread without kneading", "chatgpt", "gpt-4o"],
        ]
    );
    assert_eq!(
        format_messages(&history.conversations[0]),
        [
            "00:00:00.000Z ? Name three knots\nfor a boat, please.",
            "00:00:05.000Z ! Bowline, cleat hitch, clove hitch."
        ]
    );
    assert_eq!(
        format_messages(&history.conversations[1]),
        [
            "10:00:00.250Z ? How long does dough rest without kneading?",
            "10:00:30.500Z ! Twelve to eighteen hours at room temperature.",
            "10:01:40.000Z ? Is this one ready?\n\nIt smells sour.",
            "10:01:45.000Z ! Yes, bake it now.",
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("conversations that could not be read", 1),
            ("empty conversations", 1),
            ("empty messages", 1),
            ("hidden messages", 1),
            ("instructions and context added by the program", 1),
            ("messages on abandoned branches", 2),
            ("messages that could not be read", 1),
            ("pictures, recordings and other files", 2),
            ("system messages", 1),
            ("thoughts", 1),
            ("tool calls and results", 2),
        ]
    );
}

#[test]
fn claude() {
    let history = read(1);
    assert_eq!(
        history.conversations.iter().map(metadata).collect::<Vec<_>>(),
        [
            [
                "claude/22222222-bbbb-4bbb-8bbb-222222222222",
                "Write a haiku about rain on a tin roof in the middle of a ve…",
                "claude",
                "claude-3-opus"
            ],
            ["claude/11111111-aaaa-4aaa-8aaa-111111111111", "Watering tomatoes", "claude", "imported"],
        ]
    );
    assert_eq!(format_messages(&history.conversations[0])[1..], ["06:00:09.000Z ! Night rain on the roof."]);
    assert_eq!(
        format_messages(&history.conversations[1]),
        [
            "09:00:00.200Z ? How often should I water tomatoes?\n\n\
             <file path=\"garden.txt\">\nFour plants.\n</file>",
            "09:00:10.000Z ! Let me look.\n\nDeeply, twice a week.",
            "09:01:00.000Z ? <file path=\"pasted text\">\npasted\n</file>",
            "09:01:05.000Z ? And in a pot?",
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("conversations that could not be read", 1),
            ("empty conversations", 1),
            ("empty messages", 1),
            ("messages of other kinds", 1),
            ("messages on abandoned branches", 1),
            ("messages that could not be read", 1),
            ("pictures, recordings and other files", 1),
            ("thoughts", 1),
            ("tool calls and results", 3),
        ]
    );
}

#[test]
fn claude_code() {
    let history = read(2);
    assert_eq!(
        history.conversations.iter().map(metadata).collect::<Vec<_>>(),
        [["claude-code/5e55-1", "A mill without a fixture", "/home/anna/mill", "claude-sonnet-4-5"]]
    );
    assert_eq!(
        format_messages(&history.conversations[0]),
        [
            "08:00:05.000Z ? Why does the mill's test fail?",
            "08:00:07.000Z ! I will look at the test.",
            "08:00:08.500Z ! And at its fixture.",
            "08:00:12.000Z ! The fixture is missing.",
            "08:00:13.000Z ? Also run clippy.",
            "08:00:14.000Z ! Clippy is content.",
            "08:01:05.000Z ? Write the fixture instead.",
            "08:02:10.000Z ! The fixture is written.",
            "08:03:00.000Z ? Thanks.",
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("commands and their output", 2),
            ("instructions and context added by the program", 1),
            ("lines that could not be read", 1),
            ("lines written by the program", 8),
            ("messages on abandoned branches", 2),
            ("pictures, recordings and other files", 1),
            ("repeated lines", 1),
            ("sub-agent messages", 2),
            ("thoughts", 1),
            ("tool calls and results", 4),
        ]
    );
}

#[test]
fn codex() {
    let history = read(3);
    assert_eq!(
        metadata(&history.conversations[0]),
        ["codex/0199-c0de", "The clock is slow. Why?", "/home/anna/clock", "gpt-5.1-codex"]
    );
    assert_eq!(
        format_messages(&history.conversations[0]),
        [
            "10:00:01.100Z ? The clock is slow. Why?",
            "10:00:03.000Z ! I will read the gears.",
            "10:00:06.000Z ! A gear has 59 teeth; now it has 60.",
            "10:02:00.100Z ? Does it run on time?",
            "10:02:02.000Z ! To the second.",
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("instructions and context added by the program", 3),
            ("lines that could not be read", 1),
            ("lines written by the program", 4),
            ("messages on abandoned branches", 2),
            ("messages that could not be read", 1),
            ("pictures, recordings and other files", 1),
            ("system messages", 1),
            ("thoughts", 1),
            ("tool calls and results", 4),
        ]
    );
}

#[test]
fn codex_without_envelopes() {
    let history = read(4);
    assert_eq!(
        metadata(&history.conversations[0]),
        ["codex/01ab-old", "How long is the tail of a kite?", "/home/anna/kite", "imported"]
    );
    assert_eq!(
        format_messages(&history.conversations[0]),
        [
            "17:24:21.123Z ? How long is the tail of a kite?",
            "17:24:21.123Z ! Three times as long as the kite."
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("instructions and context added by the program", 1),
            ("lines written by the program", 1),
            ("thoughts", 1),
            ("tool calls and results", 2),
        ]
    );
}

#[test]
fn memoir() {
    let history = read(5);
    assert_eq!(
        history.conversations.iter().map(metadata).collect::<Vec<_>>(),
        [
            ["whatsapp/2023-12-31/Anna", "Anna, 2023-12-31", "whatsapp", "imported"],
            ["memoir/1760000000000/12", "Where the boat lies", "/home/anna", "claude-sonnet-4-5"],
        ]
    );
    let authors: Vec<_> =
        history.conversations[0].messages.iter().map(|message| message.author.as_deref()).collect();
    assert_eq!(authors, [Some("Anna"), Some("Ben")]);
    assert_eq!(
        format_messages(&history.conversations[1]),
        [
            "08:53:20.000Z ? Where does the boat lie?",
            "08:53:21.000Z ! I will look.",
            "08:53:22.000Z = Pier 4",
            "08:53:23.000Z ! At pier 4.",
            "09:00:00.000Z ? And the oars?",
            "09:00:05.000Z ! You stopped me.",
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("empty conversations", 1),
            ("exchanges without a conversation", 1),
            ("lines of an unknown kind", 1),
            ("lines that could not be read", 1),
            ("messages that could not be read", 1),
        ]
    );
}

#[test]
fn complete_conversations_of_a_truncated_file_are_read() {
    let (_, text, read) = FILES[0];
    let end = text.find("\"c-knots\"").unwrap();
    let history = read(&text[..end]).unwrap();
    assert_eq!(
        history.conversations.iter().map(|conversation| conversation.origin.as_str()).collect::<Vec<_>>(),
        ["chatgpt/c-bread"]
    );
    assert!(history.skipped.contains(&("conversations that could not be read", 1)));
}

/// Returns the metadata of each conversation, followed by its messages.
fn describe(history: &ImportedHistory) -> Vec<String> {
    let conversations = history.conversations.iter();
    conversations
        .flat_map(|conversation| {
            [vec![metadata(conversation).join(" | ")], format_messages(conversation)].concat()
        })
        .collect()
}

#[test]
fn aichat_session() {
    let history = read(6);
    assert_eq!(
        describe(&history),
        [
            "aichat/sessions/garden | garden | aichat | openai:gpt-4o-mini",
            "15:06:40.000Z ? When do I sow runner beans?",
            "15:06:40.000Z ! In mid May.\n\n- soil above 10 C\n- no frost",
            "15:06:40.000Z ? Is this bed big enough?",
            "15:06:40.000Z ! yes",
            "15:06:40.000Z ? Shall I water today?",
            "15:06:40.000Z ! 12 mm is enough, no.",
        ]
    );
    assert_eq!(
        history.skipped,
        [("pictures, recordings and other files", 1), ("system messages", 2), ("tool calls and results", 2)]
    );
}

#[test]
fn aichat_messages() {
    let history = read(7);
    assert_eq!(
        describe(&history),
        [
            "aichat/messages/2023-06-02T16:22:07.000Z/fdebdb4931fe | What grows in the shade? | aichat | imported",
            "16:22:07.000Z ? What grows in the shade?",
            "16:22:07.000Z ! Ferns, hostas and wild garlic.",
            "aichat/messages/2025-05-11T06:30:00.000Z/2b166428ab4b | \
             Two lines about compost: which kitchen scraps? | aichat | imported",
            "06:30:00.000Z ? Two lines about compost: which kitchen scraps?\n\
             And how long [2 years?] until it is ready (roughly)?",
            "06:30:00.000Z ! Peels, coffee grounds, egg shells.\n\n--------\n\nBetween 6 and 12 months.",
            "aichat/messages/2025-05-11T21:04:59.000Z/dbde1d94ba51 | What is wrong with this leaf? | aichat | imported",
            "21:04:59.000Z ? What is wrong with this leaf?",
            "21:04:59.000Z ! Iron is missing.",
            "aichat/messages/2025-05-12T05:00:00.000Z/c6288a6883f1 | How warm will it be tomorrow? | aichat | imported",
            "05:00:00.000Z ? How warm will it be tomorrow?",
            "05:00:00.000Z ! It will be 19 C in Appelby.",
        ]
    );
    assert_eq!(
        history.skipped,
        [("pictures, recordings and other files", 1), ("thoughts", 1), ("tool calls and results", 1)]
    );
}

#[test]
fn copilot() {
    let history = read(8);
    assert_eq!(
        describe(&history),
        [
            "copilot/0b5e7d2a-1111-4222-8333-444455556666 | Write the pancake recipe to a file @milk.txt | \
             copilot | claude-sonnet-4.5",
            "18:00:05.000Z ? Write the pancake recipe to a file @milk.txt",
            "18:00:12.000Z ! As you wish: 250 g flour, 480 ml milk.",
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("lines that could not be read", 1),
            ("lines written by the program", 7),
            ("pictures, recordings and other files", 1),
            ("sub-agent messages", 1),
            ("tool calls and results", 3),
        ]
    );
    let old = read(9);
    assert_eq!(
        describe(&old),
        [
            "copilot/9c0d1e2f-aaaa-4bbb-8ccc-dddddddddddd | List the seeds | copilot | claude-sonnet-4.5",
            "07:15:04.000Z ? List the seeds",
            "07:15:06.000Z ! I will look.",
            "07:15:09.000Z ! Beans and kale.",
        ]
    );
    assert_eq!(old.skipped, [("lines written by the program", 1), ("tool calls and results", 1)]);
}

#[test]
fn gemini() {
    let history = read(10);
    assert_eq!(
        describe(&history),
        [
            "gemini/2026-05-11T08:30:00.000Z | When do I sow runner beans? | gemini | imported",
            "08:30:00.000Z ? When do I sow runner beans?",
            "08:30:00.000Z ! In mid May, it's warm enough then.",
            "08:30:00.000Z ? Which ones like shade?",
            "08:30:00.000Z ! Ferns.\n\nHostas and **wild garlic**.",
            "08:40:12.345Z ? (a file)",
            "08:40:12.345Z ! Iron is missing; the veins stay green.",
            "gemini/3fa2b0c1d4e5f607 | A pancake recipe | gemini | imported",
            "17:30:00.500Z ? A pancake recipe\nfor four",
            "17:30:00.500Z ! ### Pancakes\n\n- 250 g flour\n- 480 ml milk\n\n```\nmix <gently>\n```",
            "17:31:00.004Z ? Two cups of milk in ml?",
            "17:31:00.004Z ! 480 ml.",
        ]
    );
    assert_eq!(
        history.skipped,
        [("messages of other kinds", 4), ("pictures, recordings and other files", 1)]
    );
}

#[test]
fn opencode() {
    let history = read(11);
    assert_eq!(
        describe(&history),
        [
            "opencode/ses_e0d0 | Bake the bread in @recipe.md | /home/me/kitchen | claude-sonnet-4",
            "18:00:00.000Z ? Bake the bread in @recipe.md",
            "18:00:01.000Z ! There is no oven command. Heat it to 230 degrees yourself.",
        ]
    );
}

#[test]
fn open_webui() {
    let history = read(12);
    assert_eq!(
        describe(&history),
        [
            "open-webui/9179dfb5e45e | Quick note | open-webui | imported",
            "00:00:00.000Z ? Remember: mulch.",
            "open-webui/1f0c7f0a-0000-4000-8000-00000000000a | Runner beans | open-webui | llama3.2:latest",
            "06:30:00.000Z ? When do I sow runner beans?",
            "06:30:05.000Z ! In mid May.",
            "06:31:40.000Z ? Shall I water today?",
            "06:31:49.000Z ! No, 12 mm fell this week.",
            "open-webui/1f0c7f0a-0000-4000-8000-00000000000b | Milk in a batter | open-webui | gpt-oss:20b",
            "15:33:20.000Z ? How much is two cups of milk?",
            "15:33:24.000Z ! Two cups are 480 ml.",
            "15:33:30.000Z ? And three?",
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("empty messages", 1),
            ("messages on abandoned branches", 1),
            ("pictures, recordings and other files", 1),
            ("thoughts", 1),
            ("tool calls and results", 2),
        ]
    );
}

#[test]
fn gemini_cli() {
    let history = read(13);
    assert_eq!(
        describe(&history),
        [
            "gemini-cli/7c1e5a90-1111-4222-8333-444455556666 | Questions about the lamp | gemini-cli | \
             gemini-3-pro-preview",
            "09:00:05.000Z ? How often does the lamp turn?",
            "09:00:10.000Z ! Every 20 seconds.",
            "09:01:00.000Z ? Summarize @log.txt",
            "09:01:05.000Z ! Fog at noon.",
            "09:04:00.000Z ? Who keeps the lamp?",
            "09:04:04.000Z ! Anna does.",
        ]
    );
    assert_eq!(
        history.skipped,
        [
            ("instructions and context added by the program", 6),
            ("lines that could not be read", 1),
            ("lines written by the program", 1),
            ("messages on abandoned branches", 2),
            ("summaries written by the program", 1),
            ("thoughts", 2),
            ("tool calls and results", 2),
        ]
    );
}
