//! What was said in one conversation comes back in another, by itself.

use memoir_testkit::{Home, Reply, ScriptedProvider, Terminal};
use serde_json::{Value, json};

use crate::home;

const FACT: &str = "The boiler was serviced in March by Olaf from Nordheat, his number is on the fridge.";

fn last_message(provider: &ScriptedProvider) -> String {
    provider.requests().last().unwrap().messages().last().cloned().unwrap().1
}

/// A home in which the fact was said, among other things.
fn home_with_a_fact(provider: &ScriptedProvider) -> Home {
    let home = home();
    for prompt in [
        FACT,
        "I would like to learn Portuguese before the summer.",
        "The cat sleeps on the router all day long.",
    ] {
        home.memoir(["-p", prompt]).provider(provider).succeed();
    }
    home
}

#[test]
fn what_is_relevant_comes_back_fenced_with_date_and_id() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    let asked = ["-p", "Who looked after our heating?", "--output-format", "json"];
    let result: Value = serde_json::from_str(&home.memoir(asked).provider(&provider).succeed()).unwrap();

    let sent = last_message(&provider);
    let (before, rest) = sent.split_once("<memory>").unwrap();
    let (fenced, after) = rest.split_once("</memory>").unwrap();
    assert!(before.starts_with("## Related Past Conversations"), "{sent}");
    assert!(
        fenced.contains("### Conversation: \"The boiler was serviced")
            && fenced.contains("(ID: 1, Date: 20")
            && fenced.contains("Exchanges: 1\n")
            && fenced.contains("#### Relevant Exchanges\n\n**Exchange ID: 1** (Conversation: 1, Date: 20")
            && fenced.contains("- User: The boiler was serviced in March by Olaf from Nordheat")
            && fenced.contains("- Assistant: Noted."),
        "{fenced}"
    );
    assert!(before.contains("fetch_conversation_details"), "{before}");
    assert!(
        !fenced.contains("Portuguese") && !fenced.contains("router"),
        "what is not relevant stays away: {fenced}"
    );
    assert!(after.trim_end().ends_with("Who looked after our heating?"), "{sent}");

    let recalled = &result["recalled"][0];
    assert_eq!(
        (&recalled["kind"], &recalled["conversation_id"], &recalled["text"]),
        (&json!("message"), &json!(1), &json!(FACT))
    );
    for field in ["id", "date", "score", "tokens"] {
        assert!(!recalled[field].is_null(), "{field} is missing from {recalled}");
    }
    assert_eq!(home.rows("recall_log").len(), result["recalled"].as_array().unwrap().len());
    // Stored is what was said, not what was recalled for it.
    assert!(home.rows("messages").iter().all(|row| !row.contains("Related Past")));
    assert_eq!(home.rows("messages").iter().filter(|row| row.contains("Nordheat")).count(), 1);
}

#[test]
fn a_model_can_ask_for_the_rest_of_a_conversation() {
    let provider = ScriptedProvider::start([
        Reply::text("Noted, Olaf it is."),
        Reply::tool_call("c1", "fetch_conversation_details", &json!({"conversation_id": 1})),
        Reply::text("Olaf did."),
    ]);
    let home = home();
    home.memoir(["-p", FACT]).provider(&provider).succeed();
    home.memoir(["-p", "Who serviced the boiler?"]).provider(&provider).succeed();
    let (role, given) = provider.requests()[2].messages().pop().unwrap();
    assert_eq!(role, "tool");
    assert!(given.contains(FACT) && given.contains("assistant: Noted, Olaf it is."), "{given}");
}

#[test]
fn pleasantries_and_what_was_never_spoken_of_bring_nothing_back() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    for prompt in ["thanks!", "ok", "What is the capital of Mongolia?"] {
        home.memoir(["-p", prompt]).provider(&provider).succeed();
        assert_eq!(last_message(&provider), prompt);
    }
}

#[test]
fn recall_can_be_switched_off_and_stays_off() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    let terminal = Terminal::open(&home, Some(&provider), (30, 100), &[]);
    terminal.wait_for_prompt();
    terminal.type_keys("/rag test who serviced the boiler\r");
    terminal.wait_for("Olaf from Nordheat");
    terminal.wait_for_prompt();
    terminal.type_keys("/why\r");
    terminal.wait_for("Memory put nothing into the last prompt.");
    terminal.wait_for_prompt();
    terminal.type_keys("Who looked after our heating?\r");
    terminal.wait_for("1 recalled");
    terminal.wait_for_prompt();
    terminal.type_keys("/why\r");
    terminal.wait_until("the passage with its score", |screen| {
        screen.matches("Olaf from Nordheat").count() >= 2 && screen.contains("similarity 0.")
    });
    terminal.wait_for_prompt();
    terminal.type_keys("/rag off\r");
    terminal.wait_for("Recall is off from now on.");
    drop(terminal);
    home.memoir(["-p", "Who serviced the boiler?"]).provider(&provider).succeed();
    assert_eq!(last_message(&provider), "Who serviced the boiler?");
}

#[test]
fn search_finds_it_with_its_source() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    let found = home.memoir(["search", "heating engineer"]).succeed();
    assert!(
        found.contains("Olaf from Nordheat") && found.contains("you, conversation 1, exchange 1"),
        "{found}"
    );
    let json: Value = serde_json::from_str(&home.memoir(["search", "boiler", "--json"]).succeed()).unwrap();
    assert_eq!(json[0]["text"], FACT);
    assert_eq!(home.memoir(["search", "zebras"]).succeed(), "Nothing in memory about this.\n");
}

#[test]
fn what_was_said_has_its_vector_right_after_the_commit() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    assert_eq!(
        home.rows("embeddings").len(),
        3,
        "one for each prompt of ten tokens or more, none for \"Noted.\""
    );
}
