//! Several sessions in one process.

use memoir_agent::TurnError;
use memoir_core::ConversationId;
use memoir_runtime::{Resume, Runtime, Session, SessionOptions};
use memoir_testkit::{Reply, ScriptedProvider};
use tokio_util::sync::CancellationToken;

use super::open;

async fn resume(runtime: &Runtime, conversation: Resume) -> Session {
    runtime.session(SessionOptions { conversation, ..SessionOptions::default() }).await.unwrap()
}

async fn send(session: &mut Session, prompt: &str) -> Result<String, TurnError> {
    let report = session.turn(prompt, &mut |_| {}, &CancellationToken::new()).await?;
    Ok(report.text)
}

async fn prompts(runtime: &Runtime, id: ConversationId) -> Vec<String> {
    let exchanges = runtime.store().exchanges(id, 10).await.unwrap();
    exchanges.into_iter().map(|exchange| exchange.user_message).collect()
}

#[tokio::test]
async fn two_sessions_run_turns_at_the_same_time() {
    let home = tempfile::TempDir::new().unwrap();
    // Neither turn gets an answer before both have sent a request.
    let replies = ["one", "two"].map(|text| Reply::text(text).after_requests(2));
    let provider = ScriptedProvider::start(replies);
    let runtime = open(home.path(), &provider).await;
    let mut first = resume(&runtime, Resume::New).await;
    let mut second = resume(&runtime, Resume::New).await;
    let (first_answer, second_answer) =
        tokio::join!(send(&mut first, "the left hand"), send(&mut second, "the right hand"));

    let mut answers = [first_answer.unwrap(), second_answer.unwrap()];
    answers.sort();
    assert_eq!(answers, ["one", "two"]);
    let ids = [&first, &second].map(|session| session.state.conversation.id().unwrap());
    assert_ne!(ids[0], ids[1]);
    for (id, prompt) in ids.into_iter().zip(["the left hand", "the right hand"]) {
        assert_eq!(prompts(&runtime, id).await, [prompt]);
    }
    first.close().await;
    second.close().await;
    runtime.close().await;
}

#[tokio::test]
async fn a_turn_that_missed_the_newest_exchange_is_not_stored() {
    let home = tempfile::TempDir::new().unwrap();
    let provider = ScriptedProvider::start([
        Reply::text("begun"),
        Reply::text("an answer").after_requests(3),
        Reply::text("an answer").after_requests(3),
        Reply::text("again"),
    ]);
    let runtime = open(home.path(), &provider).await;
    let mut first = resume(&runtime, Resume::New).await;
    assert_eq!(send(&mut first, "begin").await.unwrap(), "begun");
    let id = first.state.conversation.id().unwrap();
    let mut second = resume(&runtime, Resume::Conversation(id)).await;
    let results = tokio::join!(send(&mut first, "go on"), send(&mut second, "go on, too"));

    let (stored, rejected, error) = match results {
        (Ok(_), Err(error)) => ("go on", "go on, too", error),
        (Err(error), Ok(_)) => ("go on, too", "go on", error),
        both => panic!("{both:?}"),
    };
    let TurnError::Conflict { conversation, answer } = error else { panic!("{error:?}") };
    assert_eq!(
        (conversation, answer.as_deref()),
        (id, Some("an answer")),
        "the answer is returned because it was paid for"
    );
    assert_eq!(prompts(&runtime, id).await, ["begin", stored], "the rejected exchange is not stored");
    assert_eq!(
        runtime.store().conversation_cost(id).await.unwrap().calls,
        3,
        "the cost of the rejected exchange is stored"
    );

    // Resuming the conversation loads the exchange that the other session added.
    let mut resumed = resume(&runtime, Resume::Conversation(id)).await;
    assert_eq!(send(&mut resumed, rejected).await.unwrap(), "again");
    assert_eq!(prompts(&runtime, id).await, ["begin", stored, rejected]);
    for session in [first, second, resumed] {
        session.close().await;
    }
    runtime.close().await;
}
