//! A server that sends any bytes as an answer, in pieces, and the client of a dialect that has to make something of them.

use std::time::Duration;

use futures::StreamExt as _;
use memoir_core::{Recollection, ToolCall, Usage};
use memoir_models::{
    Catalogue, ChatEvent, ChatMessage, ChatModel, ChatRequest, ModelError, ModelName, Provider, Replay,
};
use memoir_providers::{CallOptions, Endpoint, OllamaModel, RemoteModel};
use secrecy::SecretString;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use crate::input::{Choices, wait};

const KEY: &str = "key-never-to-be-seen";

/// An answer from this machine takes milliseconds; a call that takes this long never ends, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends `body` to the client of `model`. The call ends, with an end or with an error, and nothing comes after. Gives the text that
/// came before, and the tools that were asked for.
pub(crate) fn answer_with(model: &str, body: &[u8]) -> (String, Vec<ToolCall>) {
    wait(async {
        #[expect(clippy::expect_used, reason = "without a server nothing can be asked")]
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        #[expect(clippy::expect_used, reason = "it was bound just now")]
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let server = tokio::spawn(serve(listener, body.to_vec()));
        let client = client(model, url);
        let called = timeout(PATIENCE, call(&*client)).await;
        server.abort();
        called.unwrap_or_else(|_| panic!("the call never ends"))
    })
}

fn client(model: &str, url: String) -> Box<dyn ChatModel> {
    #[expect(clippy::expect_used, reason = "names and addresses here are good ones")]
    let (name, catalogue) =
        (model.parse::<ModelName>().expect("a name"), Catalogue::built_in().expect("a catalogue"));
    let options = CallOptions { idle_timeout: PATIENCE, ..CallOptions::default() };
    #[expect(clippy::expect_used, reason = "names and addresses here are good ones")]
    let endpoint = Endpoint::new(name.provider, url, Some(SecretString::from(KEY))).expect("an address");
    let info = catalogue.model(&name).cloned();
    #[expect(clippy::expect_used, reason = "names and addresses here are good ones")]
    match name.provider {
        Provider::Ollama => Box::new(OllamaModel::new(&name, &endpoint, info, options).expect("a client")),
        _ => Box::new(RemoteModel::new(&name, &endpoint, info, options).expect("a client")),
    }
}

async fn call(model: &dyn ChatModel) -> (String, Vec<ToolCall>) {
    let request = ChatRequest {
        system: "Be brief.".into(),
        messages: vec![ChatMessage::User("Hi".into())],
        stable_messages: 0,
        tools: Vec::new(),
        memory: Recollection::default(),
        longest_reply: None,
    };
    let mut stream = match model.stream(request).await {
        Ok(stream) => stream,
        Err(error) => {
            check_message(&error);
            return (String::new(), Vec::new());
        }
    };
    let (mut over, mut sum) = (false, Usage::default());
    let (mut text, mut calls) = (String::new(), Vec::<ToolCall>::new());
    while let Some(event) = stream.next().await {
        assert!(!over, "something comes after the end: {event:?}");
        match event {
            Err(error) => {
                check_message(&error);
                assert!(calls.is_empty(), "an answer that failed asks for tools: {calls:?}");
                over = true;
            }
            Ok(ChatEvent::End(finish)) => {
                finish.replay.iter().for_each(|replay| goes_back(replay, &calls));
                over = true;
            }
            Ok(ChatEvent::Usage(used)) => {
                // As a turn of several calls adds it up, and a bill prices it.
                sum += used;
                sum += used;
                let _ = model.cost(&sum);
            }
            Ok(ChatEvent::Text(more)) => text.push_str(&more),
            Ok(ChatEvent::ToolCall(call)) => calls.push(call),
            Ok(ChatEvent::Thinking(_) | ChatEvent::Retrying { .. }) => {}
        }
    }
    assert!(over, "a stream ends with an end or an error");
    (text, calls)
}

/// What goes back to the server are the calls that are run, each with an object as arguments: anything else is refused there.
/// The arguments that a tool gets are what the model wrote, and names and ids what the server did, whatever that is.
fn goes_back(replay: &Replay, calls: &[ToolCall]) {
    let text = replay.to_text();
    let Ok(parts) = serde_json::from_str::<Vec<Value>>(&text) else {
        // Arguments may be nested as deep as can be read, and lie deeper here.
        assert!(text.len() > 200, "it cannot be read: {text:?}");
        return;
    };
    let sent: Vec<&Value> = parts.iter().filter_map(|part| part.get("ToolCall")).collect();
    assert_eq!(sent.len(), calls.len(), "{text}");
    for (sent, call) in sent.into_iter().zip(calls) {
        assert!(sent["call_id"] == call.id && sent["fn_name"] == call.name, "{sent} for {call:?}");
        assert!(sent["fn_arguments"].is_object(), "{sent}");
    }
}

/// An error can be said, without the key and without end. The server was there.
fn check_message(error: &ModelError) {
    assert!(!matches!(error, ModelError::Unreachable { .. }), "{error}");
    let said = error.to_string();
    assert!(!said.is_empty() && !said.contains(KEY), "{said}");
    assert!(said.chars().count() < 1000, "{said}");
}

/// Answers whatever is asked.
async fn serve(listener: TcpListener, body: Vec<u8>) {
    while let Ok((connection, _)) = listener.accept().await {
        // Who hangs up has heard enough.
        let _ = answer(connection, &body).await;
    }
}

async fn answer(mut connection: TcpStream, body: &[u8]) -> std::io::Result<()> {
    let head = read_request(&mut connection).await?;
    if head.contains("/api/show") {
        // Ollama is asked what the model can do before it is asked anything else.
        let told = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
        return connection.write_all(told.as_bytes()).await;
    }
    let kind = if head.contains("/api/chat") { "application/x-ndjson" } else { "text/event-stream" };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).await?;
    let (mut choices, mut rest) = (Choices::from(body), body);
    // A chunk of HTTP is given on as it is, so that these are the pieces that the client sees.
    let largest = *choices.pick(&[1, 7, 64, 4096]);
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + choices.draw_below(largest)).min(rest.len()));
        chunks.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        chunks.extend_from_slice(piece);
        chunks.extend_from_slice(b"\r\n");
        rest = after;
    }
    // Some connections break before the body is over.
    if choices.draw_below(4) > 0 {
        chunks.extend_from_slice(b"0\r\n\r\n");
    }
    connection.write_all(&chunks).await?;
    connection.shutdown().await
}

/// The head of a request; its body is read and left.
async fn read_request(connection: &mut TcpStream) -> std::io::Result<String> {
    let mut read = Vec::new();
    loop {
        if connection.read_buf(&mut read).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let Some(end) = read.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&read[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        if read.len() >= end + 4 + length.unwrap_or(0) {
            return Ok(head);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::answer_with;

    /// What is never understood proves nothing when it is spoiled.
    #[test]
    fn good_answers_are_understood() {
        for (model, body) in [
            ("anthropic/claude-sonnet-4-5", include_bytes!("../seeds/stream_anthropic/tools").as_slice()),
            ("google/gemini-2.5-pro", include_bytes!("../seeds/stream_gemini/tools")),
            ("ollama/test-model", include_bytes!("../seeds/stream_ollama/tools")),
            ("openai/gpt-5", include_bytes!("../seeds/stream_openai/tools")),
            ("xai/grok-3", include_bytes!("../seeds/stream_xai/tools")),
            // Some servers do not begin to count at 0.
            ("xai/grok-3", include_bytes!("../seeds/stream_xai/numbered")),
        ] {
            let (text, calls) = answer_with(model, body);
            assert_eq!(text, "Grüße 🌍", "{model}");
            let asked: Vec<_> = calls.iter().map(|call| (call.name.as_str(), &call.arguments)).collect();
            assert_eq!(asked, [("look", &json!({"at": "it"}))], "{model}");
            // Ollama gives its calls no id.
            let id = calls[0].id.as_str();
            assert!(id == "t1" || (model.starts_with("ollama/") && id.starts_with("call_")), "{model}: {id}");
        }
    }
}
