//! `memoir eval`: measures the quality of recall.

use memoir_runtime::{
    Failure, Runtime,
    operations::eval::{self, EvalRequest},
};

use crate::{
    args::EvalCommand,
    render::{self, print},
};

pub(super) async fn run(command: EvalCommand, runtime: &Runtime) -> Result<(), Failure> {
    let EvalCommand::Recall { data, out, mode, without } = command;
    let request = EvalRequest { data, out, mode, without };
    let temporary = runtime.models().environment.temporary();
    let report = eval::measure_recall(&request, temporary, &mut |_| {}).await?;
    print(&render::eval::report(&report))
}
