//! Writing posts, for whoever types a command or runs a script.

use std::path::PathBuf;

use anstream::{eprintln, println};
use memoir_core::{ConversationId, Provenance, TimeZone};
use memoir_docs::{Material, Writer, size};
use memoir_models::ChatModel;
use memoir_recall::{Recall, to_markdown};
use memoir_store::Span;

use memoir_runtime::{
    dates::{since, until},
    failure::{Failure, FailureKind},
    printable,
};

/// What is to be written from, in the user's words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub(crate) conversation: Option<ConversationId>,
    pub(crate) since: Option<String>,
    pub(crate) until: Option<String>,
}

impl Wanted {
    /// What it means now.
    pub(crate) fn span(&self, recall: &Recall) -> Result<Span, Failure> {
        let (since, until) = (since(self.since.as_deref(), recall)?, until(self.until.as_deref(), recall)?);
        if since.zip(until).is_some_and(|(since, until)| since >= until) {
            return Err(Failure::new(FailureKind::Usage, "the end comes before the beginning")
                .hint("Give an earlier day with --since, or a later one with --until."));
        }
        Ok(Span { conversation: self.conversation, since, until })
    }
}

/// How a post is written.
pub(crate) struct Writing<'a> {
    pub(crate) recall: &'a Recall,
    pub(crate) model: &'a dyn ChatModel,
    pub(crate) folder: PathBuf,
    /// Whether the steps are told.
    pub(crate) verbose: bool,
    /// Only say what would be done.
    pub(crate) dry: bool,
}

/// Writes a post, prints it, keeps it.
pub(crate) async fn write(span: &Span, writing: &Writing<'_>) -> Result<(), Failure> {
    let Writing { recall, model, folder, verbose, dry } = writing;
    let writer = Writer { recall, model: *model, folder, is_dry: *dry };
    let material = writer.gather(span).await?;
    if *verbose {
        for line in &material.log {
            eprintln!("{}", printable(line));
        }
    }
    if *dry {
        println!("{}", printable(&plan(&material, &writer, &recall.zone)));
        return Ok(());
    }
    if model.provenance() != Provenance::Derived {
        eprintln!("{} writes from {} messages …", model.name(), material.messages.len());
    }
    let draft = writer.draft(&material).await?;
    println!("{}", printable(draft.text().trim_end()));
    if draft.is_cut {
        eprintln!("The model stopped in the middle of it: an answer of its may not be longer.");
    }
    for unsaid in &draft.unsaid {
        eprintln!("Nobody said \"{}\": look at that before you pass it on.", printable(unsaid));
    }
    let post = writer.keep(&draft, &material).await?;
    eprintln!("Saved as {}, filed as {}.", post.path.display(), printable(&post.slug));
    if let Some(why) = post.not_embedded {
        eprintln!("Until it is read in the background its words find it: {}.", printable(&why));
    }
    Ok(())
}

/// What would be done.
fn plan(material: &Material, writer: &Writer<'_>, zone: &TimeZone) -> String {
    let talk = to_markdown(&material.messages, zone);
    let tokens = size(&writer.request(material, &talk));
    let when = |message: Option<&memoir_recall::WindowMessage>| {
        message.map(|message| message.created.minute_in(zone)).unwrap_or_default()
    };
    let how = match writer.model.provenance() {
        Provenance::Derived => "by quotation, without a model".to_owned(),
        Provenance::Said => {
            format!("by {}, to which about {tokens} tokens would be sent", writer.model.name())
        }
    };
    let conversations: Vec<String> = material.conversations.iter().map(ToString::to_string).collect();
    let mut text = format!(
        "A post would be written {how}.\nFrom {} messages, {} to {}, of conversation {}.\n",
        material.messages.len(),
        when(material.messages.first()),
        when(material.messages.last()),
        conversations.join(", ")
    );
    if !material.people.is_empty() {
        text.push_str(&format!("People: {}.\n", material.people.join(", ")));
    }
    match (material.related.is_empty(), writer.recall.embedder.is_local()) {
        (true, true) => text.push_str("No previous post is related.\n"),
        (true, false) => text.push_str(
            "Which previous posts are related is not looked for: the talk would have to be sent for that.\n",
        ),
        (false, _) => text.push_str("Related previous posts:\n"),
    }
    for passage in &material.related {
        let document = &passage.document;
        text.push_str(&format!(
            "  {} ({}, {}), similarity {:.2}\n",
            document.title, document.slug, document.date, passage.similarity
        ));
    }
    text.push_str("Nothing was sent, and nothing was saved.");
    text
}
