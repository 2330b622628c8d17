//! `memoir eval`: measures the quality of recall and of answers.

use memoir_runtime::{
    Failure, Runtime,
    operations::eval::{self, AnswersRequest, EvalRequest},
};

use crate::{
    args::EvalCommand,
    progress::ProgressBars,
    render::{self, print, print_report},
};

pub(super) async fn run(command: EvalCommand, runtime: &Runtime) -> Result<(), Failure> {
    let temporary = runtime.models().environment.temporary();
    let mut bars = ProgressBars::default();
    let mut show = |progress| bars.show(progress);
    match command {
        EvalCommand::Recall { data, out, mode, without } => {
            let request = EvalRequest { data, out, mode, without };
            let report = eval::measure_recall(&request, temporary, &mut show).await?;
            drop(bars);
            print(&render::eval::report(&report))
        }
        EvalCommand::Answers { data, half, json } => {
            let request = AnswersRequest { data, half };
            let report = eval::measure_answers(&request, temporary, &mut show).await?;
            drop(bars);
            print_report(&report, json, render::eval::answers)
        }
    }
}
