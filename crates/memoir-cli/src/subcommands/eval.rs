//! `memoir eval`: measures the quality of recall and of answers.

use memoir_runtime::{
    Failure, Runtime,
    operations::eval::{self, AnswersRequest, EvalRequest},
};

use crate::{
    args::EvalCommand,
    render::{self, print, print_report},
};

pub(super) async fn run(command: EvalCommand, runtime: &Runtime) -> Result<(), Failure> {
    let temporary = runtime.models().environment.temporary();
    match command {
        EvalCommand::Recall { data, out, mode, without } => {
            let request = EvalRequest { data, out, mode, without };
            let report = eval::measure_recall(&request, temporary, &mut |_| {}).await?;
            print(&render::eval::report(&report))
        }
        EvalCommand::Answers { data, half, json } => {
            let request = AnswersRequest { data, half };
            let report = eval::measure_answers(&request, temporary, &mut |_| {}).await?;
            print_report(&report, json, render::eval::answers)
        }
    }
}
