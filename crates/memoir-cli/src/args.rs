//! The command line.

use clap::{Parser, ValueEnum};

/// A terminal AI agent that remembers.
#[derive(Debug, Parser)]
#[command(name = "memoir", version, about, max_term_width = 100)]
pub(crate) struct Args {
    /// Answer once and exit; without it, text on stdin is answered, and a terminal opens the REPL
    #[arg(short, long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,

    /// How an answer is printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = OutputFormat::Text)]
    pub(crate) output_format: OutputFormat,

    /// Go on with the last conversation
    #[arg(short, long = "continue", conflicts_with = "resume")]
    pub(crate) continue_last: bool,

    /// Go on with conversation ID; without ID, choose one
    #[arg(short, long, value_name = "ID", num_args = 0..=1)]
    pub(crate) resume: Option<Option<i64>>,

    /// Who answers, as provider/model or a bare name
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
}

/// How an answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// The answer alone
    Text,
    /// One JSON object when the answer is complete
    Json,
    /// One JSON object per event, as it happens
    StreamJson,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        super::Args::command().debug_assert();
    }
}
