//! Declarations of the command line and the slash commands, and habits of the command line.

use memoir_testkit::{Reply, ScriptedProvider};

use crate::home;

/// Maximum width of a summary in `/help` on a terminal of 80 columns.
const SUMMARY_WIDTH: usize = 62;

#[test]
fn the_command_line_is_consistent() {
    memoir_cli::command_line().debug_assert();
}

#[test]
fn the_slash_commands_are_consistent_and_their_summaries_fit_the_terminal() {
    memoir_cli::slash_commands().debug_assert();
    for command in memoir_cli::slash_commands().get_subcommands() {
        let summary = command.get_about().map(ToString::to_string).unwrap_or_default();
        assert!(!summary.is_empty() && summary.len() <= SUMMARY_WIDTH, "{}: {summary}", command.get_name());
    }
}

#[test]
fn words_of_the_command_line_are_a_prompt() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Under the pot."));
    for arguments in [
        &["where is the key?"][..],
        &["import this"],
        &["where", "is", "the", "key?"],
        &["-c", "where", "is", "export"],
    ] {
        let answer = home.memoir(arguments).provider(&provider).succeed();
        assert_eq!(answer, "Under the pot.\n", "{arguments:?}");
    }
    let sent = |index: usize| provider.requests()[index].messages().last().cloned().unwrap().1;
    assert!(sent(0).ends_with("where is the key?") && sent(2).ends_with("where is the key?"));
    assert!(sent(3).ends_with("where is export"), "a command after other words is a word");
    let failure = home.memoir(["docter"]).fail(2);
    assert!(failure.contains("there is no command docter. Did you mean `memoir doctor`?"), "{failure}");
    let several = home.memoir(["serch", "the", "key"]).provider(&provider).output();
    let note = String::from_utf8(several.stderr).unwrap();
    assert!(several.status.success() && note.contains("There is also a command `memoir search`."), "{note}");
    let model = home.memoir(["-m", "memoir/recall", "hello", "there"]).provider(&provider).succeed();
    assert!(!model.contains("Under the pot."), "-m chooses the model: {model}");
}
