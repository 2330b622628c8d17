//! Writing a post from what was said.

use std::path::{Path, PathBuf};

use memoir_core::{ConversationId, Provenance, Timestamp};
use memoir_docs::{Material, PostDraft, Writer, count_request_tokens};
use memoir_models::ChatModel;
use memoir_recall::{Recall, to_markdown};
use memoir_store::{ConversationList, Conversations, Exchanges, Span};
use serde::{Deserialize, Serialize};

use crate::{
    dates::{since, until},
    failure::Failure,
};

/// What a post is written from: a conversation, a time, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostRequest {
    /// The conversation.
    pub conversation: Option<ConversationId>,
    /// First day, as people write it: `2026-05-01`, `yesterday`, `in May`.
    pub since: Option<String>,
    /// Last day, written the same way.
    pub until: Option<String>,
}

impl PostRequest {
    /// Returns whether neither a conversation nor a time is named.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn span(&self, recall: &Recall) -> Result<Span, Failure> {
        let (since, until) = (since(self.since.as_deref(), recall)?, until(self.until.as_deref(), recall)?);
        if since.zip(until).is_some_and(|(since, until)| since >= until) {
            return Err(Failure::usage("the end comes before the beginning")
                .hint("Give an earlier day with --since, or a later one with --until."));
        }
        Ok(Span { conversation: self.conversation, since, until })
    }
}

/// Completes a request: one that names nothing is about the last conversation of `project`.
///
/// # Errors
///
/// Fails if the conversation does not exist, or if nothing is named and the project has no conversation.
pub async fn complete(
    request: PostRequest,
    project: &Path,
    store: &dyn Conversations,
) -> Result<PostRequest, Failure> {
    if let Some(id) = request.conversation
        && store.conversation(id).await?.is_none()
    {
        return Err(Failure::usage(format!("there is no conversation {id}"))
            .hint("memoir search finds one by what was said in it."));
    }
    if !request.is_empty() {
        return Ok(request);
    }
    let scope = Some(project.to_string_lossy().into_owned());
    let last =
        store.conversations(&ConversationList { scope, limit: 1, ..ConversationList::default() }).await?;
    match last.first() {
        Some(last) => Ok(PostRequest { conversation: Some(last.id), ..request }),
        None => Err(Failure::usage("there is no conversation in this project")
            .hint("Give one with --conversation ID, or a time with --since DATE.")),
    }
}

/// What a post would be written from, and by which model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PostPlan {
    /// Name of the model.
    pub model: String,
    /// Whether the post is put together from quotations, without asking a model.
    pub by_quotation: bool,
    /// Estimated size of the request, in tokens.
    pub tokens: u64,
    /// Number of messages.
    pub messages: usize,
    /// Time of the first message.
    pub first: Option<Timestamp>,
    /// Time of the last message.
    pub last: Option<Timestamp>,
    /// The conversations that the messages belong to.
    pub conversations: Vec<ConversationId>,
    /// Names of the people who spoke.
    pub people: Vec<String>,
    /// Earlier posts about the same subject.
    pub related: Vec<RelatedPost>,
    /// Whether related posts were looked for. A dry run does not if the text would have to be sent for that.
    pub is_related_searched: bool,
    /// How related posts were looked for, and what did not work.
    pub log: Vec<String>,
}

/// An earlier post about the same subject.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RelatedPost {
    /// Its title.
    pub title: String,
    /// Name of its document.
    pub slug: String,
    /// Its date, as in `2026-05-01`.
    pub date: String,
    /// Similarity of its nearest part to what was said: a cosine.
    pub similarity: f64,
}

/// A post that is not saved yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DraftedPost {
    /// The text, with its front matter.
    pub text: String,
    /// Whether the model reached its maximum length.
    pub is_truncated: bool,
    /// Quotations in the post that nobody said.
    pub invented_quotations: Vec<String>,
}

/// A post that is saved and filed as a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PostReport {
    /// What it was written from.
    pub plan: PostPlan,
    /// What was written.
    pub draft: DraftedPost,
    /// Path of its file.
    pub path: PathBuf,
    /// Name of its document.
    pub slug: String,
    /// Why it has no embeddings yet, if it has none.
    pub not_embedded: Option<String>,
}

/// A step of [`write()`]. A front end can show the draft before it is saved, so that a failure to save does not lose it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PostStep<'a> {
    /// The messages were gathered. The model is asked next.
    Gathered(&'a PostPlan),
    /// The post was written. It is saved next.
    Drafted(&'a DraftedPost),
}

/// What a post is written with.
#[derive(Clone, Copy)]
pub struct PostSources<'a> {
    /// The messages.
    pub exchanges: &'a dyn Exchanges,
    /// Finds related posts, and files the new one.
    pub recall: &'a Recall,
    /// The model that writes.
    pub model: &'a dyn ChatModel,
    /// The directory of posts.
    pub posts: &'a Path,
}

impl<'a> PostSources<'a> {
    fn writer(self, is_dry: bool) -> Writer<'a> {
        let Self { exchanges, recall, model, posts } = self;
        Writer { exchanges, recall, model, folder: posts, is_dry }
    }
}

/// Returns what a post would be written from. Nothing is sent or saved.
///
/// # Errors
///
/// Fails if the request is not understood, or if there is nothing to write from, or too much.
pub async fn plan(request: &PostRequest, sources: PostSources<'_>) -> Result<PostPlan, Failure> {
    let writer = sources.writer(true);
    let material = writer.gather(&request.span(sources.recall)?).await?;
    Ok(describe(&material, &writer))
}

/// Writes a post, saves it in the directory of posts and files it as a document. `observe` is called between the steps.
///
/// # Errors
///
/// Fails if there is nothing to write from, if the model fails, or if the post cannot be saved.
pub async fn write(
    request: &PostRequest,
    sources: PostSources<'_>,
    observe: &mut (dyn FnMut(PostStep<'_>) + Send),
) -> Result<PostReport, Failure> {
    let writer = sources.writer(false);
    let material = writer.gather(&request.span(sources.recall)?).await?;
    let plan = describe(&material, &writer);
    observe(PostStep::Gathered(&plan));
    let written = writer.draft(&material).await?;
    let draft = summarize(&written);
    observe(PostStep::Drafted(&draft));
    let post = writer.keep(&written, &material).await?;
    Ok(PostReport { plan, draft, path: post.path, slug: post.slug, not_embedded: post.not_embedded })
}

fn describe(material: &Material, writer: &Writer<'_>) -> PostPlan {
    let conversation = to_markdown(&material.messages, &writer.recall.zone);
    let related = material.related.iter().map(|passage| RelatedPost {
        title: passage.document.title.clone(),
        slug: passage.document.slug.clone(),
        date: passage.document.date.clone(),
        similarity: passage.similarity,
    });
    PostPlan {
        model: writer.model.name().to_owned(),
        by_quotation: writer.model.provenance() == Provenance::Derived,
        tokens: count_request_tokens(&writer.request(material, &conversation)),
        messages: material.messages.len(),
        first: material.messages.first().map(|message| message.created),
        last: material.messages.last().map(|message| message.created),
        conversations: material.conversations.clone(),
        people: material.people.clone(),
        related: related.collect(),
        is_related_searched: !writer.is_dry || writer.recall.embedder.is_local(),
        log: material.log.clone(),
    }
}

fn summarize(draft: &PostDraft) -> DraftedPost {
    DraftedPost { text: draft.text(), is_truncated: draft.is_cut, invented_quotations: draft.unsaid.clone() }
}
