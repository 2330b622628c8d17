//! Changes the requests of programs in a few places. Every other byte stays as it is.

use memoir_providers::ClientApi;
use serde_json::{Value, json};

use super::request::{ChatCall, TextEnd};

/// Returns a body with texts added to some messages, and with another name of the model.
pub(super) fn rewrite(
    api: ClientApi,
    body: &[u8],
    call: &ChatCall,
    model: &str,
    additions: &[(TextEnd, String)],
) -> Vec<u8> {
    let mut edits = vec![(call.model_span.clone(), Value::from(model).to_string())];
    edits.extend(additions.iter().map(|(end, text)| match end {
        TextEnd::Quote(position) => {
            let quoted = Value::from(format!("\n\n{text}")).to_string();
            (*position..*position, quoted[1..quoted.len() - 1].to_owned())
        }
        TextEnd::Bracket { position, needs_comma } => {
            let kind = if api == ClientApi::Responses { "input_text" } else { "text" };
            let part = json!({"type": kind, "text": text});
            (*position..*position, format!("{}{part}", if *needs_comma { "," } else { "" }))
        }
    }));
    edits.sort_by_key(|(range, _)| range.start);
    let (mut rewritten, mut copied) = (Vec::with_capacity(body.len() + 4096), 0);
    for (range, text) in edits {
        rewritten.extend_from_slice(&body[copied..range.start]);
        rewritten.extend_from_slice(text.as_bytes());
        copied = range.end;
    }
    rewritten.extend_from_slice(&body[copied..]);
    rewritten
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::{
        super::request::{Speaker, read},
        *,
    };

    /// Adds a text to the last turn of the user, and returns the body.
    fn add(api: ClientApi, body: &str) -> String {
        let call = read(api, body.as_bytes()).unwrap();
        let last = call.turns.iter().rfind(|turn| turn.speaker == Speaker::User).unwrap();
        let additions = [(last.end.unwrap(), "say \"hi\"".to_owned())];
        String::from_utf8(rewrite(api, body.as_bytes(), &call, "m2", &additions)).unwrap()
    }

    #[test]
    fn a_text_is_added_and_every_other_byte_stays() {
        let cases = [
            (
                ClientApi::Chat,
                r#"{"messages": [{"role":"user","content":"a\u00e9"} ],  "k":1.0, "model":"m1", "k":2}"#,
                r#"{"messages": [{"role":"user","content":"a\u00e9\n\nsay \"hi\""} ],  "k":1.0, "model":"m2", "k":2}"#,
            ),
            (
                ClientApi::Messages,
                r#"{"model":"m1","messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{}} ]}]}"#,
                r#"{"model":"m2","messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{}} ,{"type":"text","text":"say \"hi\""}]}]}"#,
            ),
            (
                ClientApi::Responses,
                r#"{"input":"a","model":"m1"}"#,
                r#"{"input":"a\n\nsay \"hi\"","model":"m2"}"#,
            ),
            (
                ClientApi::Responses,
                r#"{"input":[{"role":"user","content":[]}],"model":"m1"}"#,
                r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"say \"hi\""}]}],"model":"m2"}"#,
            ),
        ];
        for (api, body, expected) in cases {
            assert_eq!(add(api, body), expected);
        }
    }
}
