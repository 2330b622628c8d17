//! `memoir eval`.

use memoir_runtime::{
    failure::Failure,
    operations::eval::{self, EvalRequest, SearchMode},
};

use super::CommandContext;
use crate::{
    args::{EvalCommand, EvalMode},
    render::{self, print},
};

pub(super) async fn run(command: EvalCommand, context: &CommandContext) -> Result<(), Failure> {
    let EvalCommand::Recall { data, out, mode, without } = command;
    let mode = match mode {
        EvalMode::Hybrid => SearchMode::Hybrid,
        EvalMode::Dense => SearchMode::Dense,
        EvalMode::Keyword => SearchMode::Keyword,
    };
    let request = EvalRequest { data, out, mode, without };
    let temporary = context.runtime.models().environment.temporary();
    let report = eval::measure_recall(&request, temporary, &mut |_| {}).await?;
    print(&render::eval::report(&report))
}
