//! Several processes on one database.

use memoir_testkit::{Reply, ScriptedProvider, Terminal};
use serde_json::json;

use crate::home;

#[test]
fn two_processes_writing_at_once_lose_nothing() {
    const PER_PROCESS: usize = 15;
    let home = home();
    let provider = ScriptedProvider::start((0..2 * PER_PROCESS).map(|_| Reply::text("noted")));
    // Both start without an existing database.
    std::thread::scope(|scope| {
        for writer in ["left", "right"] {
            let (home, provider) = (&home, &provider);
            scope.spawn(move || {
                for number in 0..PER_PROCESS {
                    home.memoir(["-p", &format!("{writer} {number}")]).provider(provider).succeed();
                }
            });
        }
    });
    let exchanges = home.exchanges();
    assert_eq!(exchanges.len(), 2 * PER_PROCESS);
    for writer in ["left", "right"] {
        for number in 0..PER_PROCESS {
            let prompt = format!("{writer} {number}");
            let count = exchanges.iter().filter(|exchange| exchange.user_message == prompt).count();
            assert_eq!(count, 1, "{prompt}");
        }
    }
    assert!(exchanges.iter().all(|exchange| exchange.messages.len() == 2), "{exchanges:?}");
    assert_eq!(home.count("command_history"), 2 * PER_PROCESS as u64);
}

#[test]
fn a_session_does_not_interleave_with_another_in_one_conversation() {
    let home = home();
    let wait_for_user = Reply::tool_call("c1", "execute_bash", &json!({"command": "touch mine.txt"}));
    let provider = ScriptedProvider::start([
        Reply::text("Begun."),
        wait_for_user,
        Reply::text("Theirs."),
        Reply::text("Lost to the store."),
        Reply::text("Now it fits."),
    ]);
    let terminal = Terminal::open(&home, Some(&provider), (40, 200), &["--model", "gpt-5-mini"]);
    terminal.wait_for_prompt();
    terminal.type_keys("begin\r");
    terminal.wait_for("Begun.");
    terminal.wait_for_prompt();
    // While the first session waits for its user, another session adds to the conversation.
    terminal.type_keys("my turn\r");
    terminal.wait_for("execute_bash needs your approval");
    home.memoir(["-r", "1", "-p", "their turn", "--model", "gpt-5-mini"]).provider(&provider).succeed();
    terminal.type_keys("n\r");
    terminal.wait_for("Lost to the store.");
    terminal
        .wait_for("the answer could not be stored: another session has added to conversation 1. Resume it");
    terminal.wait_for_prompt();
    // Retrying without resuming sends no request.
    terminal.type_keys("/retry\r");
    terminal.wait_for("nothing was sent: another session has added to conversation 1.");
    terminal.wait_for_prompt();
    assert_eq!(provider.requests().len(), 4);
    terminal.type_keys("/resume 1\r");
    terminal.wait_for("Resumed conversation 1");
    terminal.wait_for_prompt();
    terminal.type_keys("my turn\r");
    terminal.wait_for("Now it fits.");
    terminal.wait_for_prompt();
    terminal.type_keys("/exit\r");
    let export = home.memoir(["export", "--format", "jsonl"]).succeed();
    let position = |text: &str| export.find(text);
    assert!(
        position("Begun.") < position("Theirs.") && position("Theirs.") < position("Now it fits."),
        "{export}"
    );
    assert!(position("Begun.").is_some() && position("Lost to the store.").is_none(), "{export}");
    let last = provider.requests().pop().unwrap();
    assert!(
        last.messages().iter().any(|(_, text)| text == "Theirs."),
        "the request includes the other session's exchange"
    );
}
