//! Data stored by one run and sent by the next.

use memoir_testkit::{Reply, ScriptedProvider};

use crate::home;

fn format_request(provider: &ScriptedProvider, request: usize) -> String {
    provider.requests()[request].messages().iter().map(|(role, text)| format!("{role}: {text}\n")).collect()
}

#[test]
fn continuing_sends_earlier_messages_and_a_new_conversation_does_not() {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::text("A fine name for a cat."),
        Reply::text("Miso."),
        Reply::text("I do not know."),
    ]);
    home.memoir(["-p", "My cat is called Miso."]).provider(&provider).succeed();
    home.memoir(["-c", "-p", "What is my cat called?"]).provider(&provider).succeed();
    home.memoir(["-p", "What is my cat called?"]).provider(&provider).succeed();

    assert!(format_request(&provider, 1).contains(
        "user: My cat is called Miso.\nassistant: A fine name for a cat.\nuser: What is my cat called?\n"
    ));
    let roles: Vec<_> = provider.requests()[2].messages().into_iter().map(|(role, _)| role).collect();
    assert_eq!(
        roles,
        ["system", "user"],
        "messages of the other conversation are not sent as part of this one"
    );
    assert_eq!(home.conversations().len(), 2);
    assert_eq!(home.exchanges().len(), 3);
    assert_eq!(home.messages().len(), 6);
}

#[test]
fn a_conversation_is_resumed_by_id() {
    let home = home();
    let provider = ScriptedProvider::start(["one", "two", "three"].map(Reply::text));
    home.memoir(["-p", "first talk"]).provider(&provider).succeed();
    home.memoir(["-p", "second talk"]).provider(&provider).succeed();
    home.memoir(["-r", "1", "-p", "again"]).provider(&provider).succeed();
    let sent = format_request(&provider, 2);
    assert!(sent.contains("first talk") && !sent.contains("second talk"), "{sent}");
}

#[test]
fn continuing_is_limited_to_this_project() {
    let home = home();
    let elsewhere = home.workspace().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let provider = ScriptedProvider::start(["one", "two", "three"].map(Reply::text));
    home.memoir(["-p", "about the garden"]).provider(&provider).succeed();
    home.memoir(["-p", "about the roof"]).provider(&provider).current_dir(&elsewhere).succeed();
    home.memoir(["-c", "-p", "go on"]).provider(&provider).succeed();
    let sent = format_request(&provider, 2);
    assert!(sent.contains("about the garden") && !sent.contains("about the roof"), "{sent}");

    // In a project without conversations, a new one starts, and nothing of other projects is sent.
    let third = home.workspace().join("third");
    std::fs::create_dir(&third).unwrap();
    provider.push(Reply::text("four"));
    let run = home.memoir(["-c", "-p", "go on here"]).provider(&provider).current_dir(&third).output();
    assert!(String::from_utf8_lossy(&run.stderr).contains("no earlier conversation in this project"));
    assert_eq!(provider.requests()[3].messages().len(), 2, "only the system prompt and the prompt are sent");
}

#[test]
fn piped_input_is_sent_with_the_prompt() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("Looks fine.")]);
    home.memoir(["-p", "Review this:"]).provider(&provider).stdin("- old\n+ new\n").succeed();
    assert!(
        format_request(&provider, 0)
            .contains("user: Review this:\n\n<file path=\"stdin\">\n- old\n+ new\n</file>")
    );
}

#[test]
fn without_a_key_memory_answers() {
    let home = home();
    let first = home.memoir(["-p", "hello"]).succeed();
    assert!(first.starts_with("Nothing in memory about this."), "{first}");

    home.memoir(["-p", "The spare key is under the blue flowerpot."]).succeed();
    let answer = home.memoir(["-p", "Where is the spare key?"]).succeed();
    assert!(answer.starts_with("The spare key is under the blue flowerpot.\n"), "{answer}");
    assert!(answer.contains("conversation 2, exchange 2)"), "{answer}");

    // Quoted passages are not recalled again.
    let second_answer = home.memoir(["-p", "Tell me about the flowerpot"]).succeed();
    assert!(!second_answer.contains("From memory:"), "there is nothing else: {second_answer}");
}

#[test]
fn a_prompt_on_stdin_is_answered() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("Yes, it is.")]);
    let answer = home.memoir([] as [&str; 0]).provider(&provider).stdin("Is it\nraining? ☔\n").succeed();
    assert_eq!(answer, "Yes, it is.\n");
    assert!(format_request(&provider, 0).contains("user: Is it\nraining? ☔"));
}

#[test]
fn costs_and_usage_are_stored_per_call() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("ok").usage(1200, 34, 1000)]);
    home.memoir(["-p", "count me"]).provider(&provider).succeed();
    let costs = home.costs();
    let [cost] = costs.as_slice() else { panic!("{costs:?}") };
    assert_eq!((cost.purpose.as_str(), cost.model.as_str()), ("chat", "openai/gpt-5.6-luna"));
    let usage = |kind: &str| cost.usage[&format!("{kind}_tokens")];
    assert_eq!((usage("input"), usage("output"), usage("cached")), (1200, 34, 1000));
    assert_eq!((cost.calls, usage("cache_write"), usage("reasoning")), (1, 0, 0));
    // 200 uncached at 0.20, 1000 cached at 0.02, 34 output at 1.20 dollars per million.
    assert!((cost.cost_usd - 0.000_100_8).abs() < 1e-12, "{cost:?}");
}
