//! `memoir eval`.

use memoir_recall::Mode;

use crate::{
    args::{EvalCommand, EvalMode},
    eval,
    failure::Failure,
};

pub(super) async fn run(command: EvalCommand) -> Result<(), Failure> {
    let EvalCommand::Recall { data, out, mode } = command;
    let mode = match mode {
        EvalMode::Hybrid => Mode::Hybrid,
        EvalMode::Dense => Mode::Dense,
        EvalMode::Keyword => Mode::Keyword,
    };
    eval::recall(&data, &out, mode).await
}
