//! Prompts that a user can choose in the client.

use memoir_runtime::view::{LookUp, MemoryView};
use rmcp::{
    ErrorData,
    model::{
        GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument, PromptMessage,
        Role,
    },
};

use crate::{
    context::{describe_project, quote_citation},
    quote::{NOTICE, fence, title},
};

use super::resources::to_error;

/// Maximum number of tokens that a prompt quotes.
const MAX_TOKENS: u64 = 4000;

/// Maximum length of a quotation in a prompt, in bytes.
const MAX_QUOTE_BYTES: usize = 16 * 1024;

pub(super) fn list() -> ListPromptsResult {
    let question =
        PromptArgument::new("question").with_description("What to look up in memory.").with_required(true);
    ListPromptsResult::with_all_items(vec![
        Prompt::new("recall", Some("Answer a question from memory, with sources"), Some(vec![question]))
            .with_title("Recall"),
        Prompt::new("catch-me-up", Some("Summarize the latest work on this project"), None)
            .with_title("Catch me up"),
    ])
}

pub(super) async fn get(
    view: &MemoryView,
    request: &GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let text = match request.name.as_str() {
        "recall" => {
            let question = request.arguments.as_ref().and_then(|arguments| arguments.get("question"));
            let question = question.and_then(|question| question.as_str()).unwrap_or_default().trim();
            if question.is_empty() {
                return Err(ErrorData::invalid_params("the prompt recall needs a question", None));
            }
            recall(view, question).await?
        }
        "catch-me-up" => catch_up(view).await?,
        name => {
            return Err(ErrorData::invalid_params(format!("there is no prompt {}", title(name)), None));
        }
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]))
}

async fn recall(view: &MemoryView, question: &str) -> Result<String, ErrorData> {
    let request = LookUp { question: question.to_owned(), ..LookUp::default() };
    let recollection = view.look_up(&request, MAX_TOKENS).await.map_err(to_error)?;
    let citations = view.cite(&recollection).await.map_err(to_error)?;
    let passages: Vec<String> = citations.iter().map(quote_citation).collect();
    let memory = match passages.is_empty() {
        true => "Memory has nothing on this.".to_owned(),
        false => format!("{NOTICE}\n{}", fence(&passages.join("\n\n"), MAX_QUOTE_BYTES)),
    };
    Ok(format!("Answer from memory, and cite ids and dates.\n\n{memory}\n\nQuestion: {question}"))
}

async fn catch_up(view: &MemoryView) -> Result<String, ErrorData> {
    let brief = view.brief(None).await.map_err(to_error)?;
    Ok(match describe_project(&brief) {
        Some(context) => {
            format!("Tell me where the work on this project stands, and what is open.\n\n{}", context.text)
        }
        None => "There are no conversations about this project in memory yet.".to_owned(),
    })
}
