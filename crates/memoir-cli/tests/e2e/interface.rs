//! Declarations of the command line and the slash commands.

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
