//! `memoir eval`.

use memoir_recall::{Settings, stage_names, terms::term_names};

use memoir_runtime::failure::{Failure, FailureKind};

use crate::{
    args::{EvalCommand, EvalMode},
    eval,
};

pub(super) async fn run(command: EvalCommand) -> Result<(), Failure> {
    let EvalCommand::Recall { data, out, mode, mut without } = command;
    let (stages, terms) = (stage_names(), term_names());
    if let Some(unknown) = without.iter().find(|name| !stages.iter().chain(&terms).any(|known| known == name))
    {
        return Err(Failure::new(
            FailureKind::Usage,
            format!("there is neither a stage nor a term \"{unknown}\""),
        )
        .hint(format!("There are {} and {}.", stages.join(", "), terms.join(", "))));
    }
    match mode {
        EvalMode::Hybrid => {}
        EvalMode::Dense => without.push("search_words".into()),
        EvalMode::Keyword => without.push("embed_query".into()),
    }
    let mut settings = Settings::default();
    settings.stages.retain(|name| !without.contains(name));
    settings.terms.retain(|name| !without.contains(name));
    eval::recall(&data, &out, settings).await
}
