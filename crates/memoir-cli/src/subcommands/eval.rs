//! `memoir eval`.

use memoir_recall::{RecallSettings, StageName, TermName};

use memoir_runtime::failure::{Failure, FailureKind};

use crate::{
    args::{EvalCommand, EvalMode},
    eval,
};

pub(super) async fn run(command: EvalCommand) -> Result<(), Failure> {
    let EvalCommand::Recall { data, out, mode, without } = command;
    let mut settings = RecallSettings::default();
    for name in &without {
        match (name.parse::<StageName>(), name.parse::<TermName>()) {
            (Ok(stage), _) => settings.stages.retain(|other| *other != stage),
            (_, Ok(term)) => settings.terms.retain(|other| *other != term),
            (Err(stages), Err(terms)) => {
                return Err(Failure::new(
                    FailureKind::Usage,
                    format!("there is neither a stage nor a term \"{name}\""),
                )
                .hint(format!(
                    "There are {} and {}.",
                    stages.known.join(", "),
                    terms.known.join(", ")
                )));
            }
        }
    }
    match mode {
        EvalMode::Hybrid => {}
        EvalMode::Dense => settings.stages.retain(|stage| *stage != StageName::SearchWords),
        EvalMode::Keyword => settings.stages.retain(|stage| *stage != StageName::EmbedQuery),
    }
    eval::recall(&data, &out, settings).await
}
