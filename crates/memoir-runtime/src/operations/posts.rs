//! Writing posts from conversations.

use std::path::{Path, PathBuf};

use memoir_core::{ConversationId, Provenance, Timestamp};
use memoir_docs::{PostDraft, PostMaterial, Writer, count_request_tokens};
use memoir_models::ChatModel;
use memoir_recall::{Recall, to_markdown};
use memoir_store::{ConversationList, Conversations, Exchanges, Span};
use serde::{Deserialize, Serialize};

use crate::{
    dates::{parse_since, parse_until},
    failure::Failure,
};

/// Request to write a post about a conversation, a period, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PostRequest {
    /// Conversation to write about.
    pub conversation: Option<ConversationId>,
    /// First day, such as `2026-05-01`, `yesterday` or `in May`.
    pub since: Option<String>,
    /// Last day, in the same form.
    pub until: Option<String>,
}

impl PostRequest {
    /// Returns `true` if neither a conversation nor a period is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn span(&self, recall: &Recall) -> Result<Span, Failure> {
        let (since, until) =
            (parse_since(self.since.as_deref(), recall)?, parse_until(self.until.as_deref(), recall)?);
        if since.zip(until).is_some_and(|(since, until)| since >= until) {
            return Err(Failure::usage("the period ends before it starts")
                .hint("Use an earlier day for `--since`, or a later one for `--until`."));
        }
        Ok(Span { conversation: self.conversation, since, until })
    }
}

/// Completes a request: if it is empty, sets its conversation to the latest one of `project`.
///
/// # Errors
///
/// Fails if the conversation does not exist, or if the request is empty and the project has no conversations.
pub async fn complete(
    request: PostRequest,
    project: &Path,
    store: &dyn Conversations,
) -> Result<PostRequest, Failure> {
    if let Some(id) = request.conversation
        && store.conversation(id).await?.is_none()
    {
        return Err(Failure::usage(format!("there is no conversation {id}"))
            .hint("Run `memoir search` to find a conversation by its content."));
    }
    if !request.is_empty() {
        return Ok(request);
    }
    let scope = Some(project.to_string_lossy().into_owned());
    let conversations =
        store.conversations(&ConversationList { scope, limit: 1, ..ConversationList::default() }).await?;
    match conversations.first() {
        Some(latest) => Ok(PostRequest { conversation: Some(latest.id), ..request }),
        None => Err(Failure::usage("this project has no conversations")
            .hint("Select a conversation with `--conversation ID`, or a period with `--since DATE`.")),
    }
}

/// Material that a post would be written from, and the model that would write it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PostPlan {
    /// Name of the model that writes the post.
    pub model: String,
    /// Whether the post is assembled from quotations without calling a model.
    pub by_quotation: bool,
    /// Estimated size of the request, in tokens.
    pub tokens: u64,
    /// Number of messages in the material.
    pub messages: usize,
    /// Time of the first message.
    pub first: Option<Timestamp>,
    /// Time of the last message.
    pub last: Option<Timestamp>,
    /// Conversations that the messages belong to.
    pub conversations: Vec<ConversationId>,
    /// Names of the authors of the messages.
    pub people: Vec<String>,
    /// Earlier posts about the same subject.
    pub related: Vec<RelatedPost>,
    /// Whether related posts were searched for. A dry run skips the search if it would send text to a server.
    pub is_related_searched: bool,
    /// Log of the search for related posts, including errors.
    pub log: Vec<String>,
}

/// An earlier post about the same subject.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RelatedPost {
    /// Title of the post.
    pub title: String,
    /// Name of the post's document.
    pub slug: String,
    /// Date of the post, such as `2026-05-01`.
    pub date: String,
    /// Cosine similarity between the messages and the most similar part of the post.
    pub similarity: f64,
}

/// A post that has not been saved yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DraftedPost {
    /// Text of the post, including its front matter.
    pub text: String,
    /// Whether the text is truncated because the model reached its maximum output length.
    pub is_truncated: bool,
    /// Quotations in the post that do not occur in the messages.
    pub invented_quotations: Vec<String>,
}

/// A post that was saved and added as a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PostReport {
    /// Material that the post was written from.
    pub plan: PostPlan,
    /// Text of the post.
    pub draft: DraftedPost,
    /// Path of the post's file.
    pub path: PathBuf,
    /// Name of the post's document.
    pub slug: String,
    /// Why the post could not be embedded, if it was not.
    pub not_embedded: Option<String>,
}

/// A step of [`write()`]. A front end can show the draft before it is saved, so it is not lost if saving fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PostStep<'a> {
    /// The messages were gathered. The model is called next.
    Gathered(&'a PostPlan),
    /// The draft was written. It is saved next.
    Drafted(&'a DraftedPost),
}

/// Components that are needed to write a post.
#[derive(Clone, Copy)]
pub struct PostSources<'a> {
    /// Store of the messages.
    pub exchanges: &'a dyn Exchanges,
    /// Recall, used to find related posts and to add the new one.
    pub recall: &'a Recall,
    /// Model that writes the post.
    pub model: &'a dyn ChatModel,
    /// Directory in which posts are saved.
    pub posts: &'a Path,
}

impl<'a> PostSources<'a> {
    fn writer(self, is_dry_run: bool) -> Writer<'a> {
        let Self { exchanges, recall, model, posts } = self;
        Writer { exchanges, recall, model, posts_dir: posts, is_dry_run }
    }
}

/// Returns the material that a post would be written from, without sending or saving anything.
///
/// # Errors
///
/// Fails if a date is invalid, or if there are no messages or too many.
pub async fn plan(request: &PostRequest, sources: PostSources<'_>) -> Result<PostPlan, Failure> {
    let writer = sources.writer(true);
    let material = writer.gather(&request.span(sources.recall)?).await?;
    Ok(describe(&material, &writer))
}

/// Writes a post, saves it in the directory of posts and adds it as a document. Calls `observe` between the steps.
///
/// # Errors
///
/// Fails if there are no messages, if the model fails, or if the post cannot be saved.
pub async fn write(
    request: &PostRequest,
    sources: PostSources<'_>,
    observe: &mut (dyn FnMut(PostStep<'_>) + Send),
) -> Result<PostReport, Failure> {
    let writer = sources.writer(false);
    let material = writer.gather(&request.span(sources.recall)?).await?;
    let plan = describe(&material, &writer);
    observe(PostStep::Gathered(&plan));
    let post_draft = writer.draft(&material).await?;
    let draft = to_report(&post_draft);
    observe(PostStep::Drafted(&draft));
    let post = writer.save(&post_draft, &material).await?;
    Ok(PostReport { plan, draft, path: post.path, slug: post.slug, not_embedded: post.not_embedded })
}

fn describe(material: &PostMaterial, writer: &Writer<'_>) -> PostPlan {
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
        is_related_searched: !writer.is_dry_run || writer.recall.embedder.is_local(),
        log: material.log.clone(),
    }
}

fn to_report(draft: &PostDraft) -> DraftedPost {
    DraftedPost {
        text: draft.text(),
        is_truncated: draft.is_truncated,
        invented_quotations: draft.invented_quotations.clone(),
    }
}
