//! Deletion leaves no trace in any file.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome};

use crate::home;

/// Creates a home with two conversations. The second exchange of the first one contains a unique word.
fn home_with_conversations() -> TestHome {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::text("Good morning to you too."),
        Reply::text("I will remember quibblewort for you."),
        Reply::text("Lisbon is lovely in June."),
    ]);
    home.memoir(["-p", "Good morning, what a lovely day it is today."]).provider(&provider).succeed();
    home.memoir(["-c", "-p", "The password of the shed is quibblewort, tell nobody about it."])
        .provider(&provider)
        .succeed();
    home.memoir(["-p", "We are going to Lisbon in June with the whole family."])
        .provider(&provider)
        .succeed();
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    home.memoir(["write", "--conversation", "1", "--model", "memoir/recall"]).succeed();
    assert!(!home.files_containing("quibblewort").is_empty());
    home
}

fn forget(home: &TestHome, arguments: &[&str]) -> String {
    home.memoir(["memory", "forget"].iter().chain(arguments).copied().collect::<Vec<_>>()).succeed()
}

#[test]
fn an_exchange_is_deleted_with_everything_derived_from_it() {
    let home = home_with_conversations();
    let before = home.snapshot();
    let output = forget(&home, &["--exchange", "2", "--dry-run"]);
    assert!(
        output
            .starts_with("This will delete 1 exchange, 2 messages, 2 summaries and 1 command history line,"),
        "{output}"
    );
    assert!(
        output.contains("This will also delete the post good-morning-what-a-lovely-day-it-is-today,")
            && output.ends_with("Nothing was changed.\n"),
        "{output}"
    );
    assert_eq!(home.snapshot(), before);
    let stderr = home.memoir(["memory", "forget", "--exchange", "2"]).fail(2);
    assert!(
        stderr.contains("this needs confirmation, but stdin is not a terminal. Add `--yes`."),
        "{stderr}"
    );
    let output = forget(&home, &["--exchange", "2", "--yes"]);
    assert!(output.contains("Deleted. Core memory and recorded costs are unchanged."), "{output}");
    assert_eq!(home.files_containing("quibblewort"), [""; 0]);
    assert!(!home.files_containing("Good morning, what").is_empty(), "the rest stays");
    // Backups and exports made afterwards contain no trace either.
    let copy = home.memoir_home().join("copy");
    home.memoir(["backup", copy.to_str().unwrap()]).succeed();
    for (format, name) in [("markdown", "all.md"), ("jsonl", "all.jsonl")] {
        let file = home.memoir_home().join(name);
        home.memoir(["export", "--format", format, "-o", file.to_str().unwrap()]).succeed();
        assert!(fs::read_to_string(file).unwrap().contains("Good morning, what"));
    }
    assert_eq!(home.files_containing("quibblewort"), [""; 0]);
    assert!(home.count_calls("chat") >= 3, "the costs stay");
    // The summary is rewritten from the remaining exchanges.
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    let summary = home.transcript(1).summary.unwrap().text;
    assert!(summary.contains("Good morning"), "{summary}");
    assert_eq!(home.files_containing("quibblewort"), [""; 0]);
    let provider = ScriptedProvider::always(Reply::text("I do not know."));
    home.memoir(["-p", "What is the password of the shed?"]).provider(&provider).succeed();
    assert!(!provider.requests()[0].body.to_string().contains("quibblewort"));
}

#[test]
fn a_message_a_conversation_and_a_period_are_deleted() {
    let home = home_with_conversations();
    let messages = home.messages();
    let message = messages.iter().find(|message| message.text.contains("The password of the shed")).unwrap();
    forget(&home, &["--message", &message.id.to_string(), "--yes"]);
    assert_eq!(home.files_containing("the password of the shed"), [""; 0]);
    assert!(
        !home.files_containing("I will remember quibblewort").is_empty(),
        "the answer is another message"
    );
    let output = forget(&home, &["--conversation", "1", "--yes"]);
    assert!(output.starts_with("This will delete 1 conversation, 2 exchanges, 3 messages"), "{output}");
    assert_eq!(home.files_containing("quibblewort"), [""; 0]);
    assert_eq!(home.conversations().len(), 1);
    forget(&home, &["--since", "yesterday", "--yes"]);
    assert_eq!(home.files_containing("Lisbon"), [""; 0]);
    let counts = home.counts();
    for kind in ["conversations", "exchanges", "messages", "embeddings", "summary_embeddings", "documents"] {
        assert_eq!(counts[kind], 0, "{kind}");
    }
    let stderr = home.memoir(["memory", "forget", "--exchange", "99", "--yes"]).fail(2);
    assert!(stderr.contains("no stored message, exchange or conversation matches."), "{stderr}");
    assert!(home.memoir(["memory", "forget", "--yes"]).fail(2).contains("specify what to delete."));
    home.memoir(["memory", "forget", "--exchange", "1", "--message", "2"]).fail(2);
}

#[test]
fn answers_that_quote_a_deleted_exchange_are_deleted() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Under some pot or other."));
    home.memoir(["-p", "The spare key is under the third flowerpot, beside the quibblewort."]).succeed();
    let answer = home.memoir(["-p", "Where is the spare key?"]).succeed();
    assert!(answer.contains("quibblewort"), "{answer}");
    home.memoir(["-p", "Where is the spare key, please?"]).provider(&provider).succeed();
    fs::write(home.workspace().join("note.md"), "The cellar is full of snargleweed and old bottles.\n")
        .unwrap();
    home.memoir(["docs", "add", "note.md"]).succeed();
    let answer = home.memoir(["-p", "What is the cellar full of?"]).succeed();
    assert!(answer.contains("snargleweed"), "{answer}");

    let output = forget(&home, &["--exchange", "1", "--yes"]);
    // The answer about the cellar may quote the key as well.
    let quoted = ["1 answer that quotes the text", "2 answers that quote the text"];
    assert!(quoted.iter().any(|quoted| output.contains(quoted)), "{output}");
    assert!(
        output.contains("in the prompts of these exchanges, which are kept and may repeat it: 3."),
        "{output}"
    );
    assert_eq!(home.files_containing("quibblewort"), [""; 0]);
    let transcript = home.memoir(["memory", "show", "2"]).succeed();
    assert!(transcript.contains("Where is the spare key?"), "the prompt stays: {transcript}");
    forget(&home, &["--document", "note", "--yes"]);
    assert_eq!(home.files_containing("snargleweed"), [""; 0]);
}

#[test]
fn deleted_passages_are_no_longer_shown_by_why() {
    let home = home();
    home.memoir(["--model", "memoir/recall", "-p", "My nickname is Pfefferkuchen."]).succeed();
    let terminal = Terminal::open(&home, None, (24, 100), &["--model", "memoir/recall"]);
    terminal.wait_for_prompt();
    terminal.submit("What is my nickname?");
    terminal.wait_for("Pfefferkuchen");
    terminal.wait_for_prompt();
    terminal.submit("/memory forget --exchange 1 --yes");
    terminal.wait_for("Deleted. Core memory");
    terminal.wait_for_prompt();
    terminal.submit("/clear");
    terminal.wait_until("an empty screen", |screen| !screen.contains("nickname"));
    terminal.wait_for_prompt();
    terminal.submit("/why");
    let screen = terminal.wait_for("or it has been deleted since");
    assert!(!screen.contains("Pfefferkuchen"), "{screen}");
}
