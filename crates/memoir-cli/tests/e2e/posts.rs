//! Posts written from conversations, with links to earlier posts, and imported chats.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, TestHome};

use crate::home;

const CHAT: &str = "12/03/2024, 09:00 - Messages and calls are end-to-end encrypted. Tap to learn more.\n\
    12/03/2024, 09:01 - Anna: The boiler in the cellar makes that banging noise again, every night at three.\n\
    12/03/2024, 09:03 - Ben: Nordheat said last year that the expansion vessel is worn out.\n\
    12/03/2024, 09:04 - Anna: Then I call Olaf from Nordheat today, he knows the boiler.\n\
    12/03/2024, 09:05 - Ben: <Media omitted>\n\
    13/03/2024, 18:30 - Anna: Olaf was here: a new expansion vessel\ncosts 240 euros, fitted on Friday.\n\
    13/03/2024, 18:31 - Ben: Good. Friday I am at home from noon on.\n";

const POST: &str = "---\ntitle: The banging boiler\ntags: [house, heating]\n---\n\nThe boiler in the cellar bangs at night. \
    \"Then I call Olaf from Nordheat today,\" says Anna.\n";

fn home_with_chat() -> TestHome {
    let home = home();
    fs::write(home.workspace().join("WhatsApp Chat with Ben.txt"), CHAT).unwrap();
    let output = home.memoir(["import", "whatsapp", "WhatsApp Chat with Ben.txt"]).succeed();
    assert!(
        output
            .starts_with("Imported 5 messages in 2 conversations; 0 conversations were already imported.\n"),
        "{output}"
    );
    home
}

fn read_request(provider: &ScriptedProvider, index: usize) -> (String, String) {
    let request = &provider.requests()[index];
    let system = request.body.to_string();
    (system, request.messages().pop().unwrap().1)
}

#[test]
fn a_related_post_is_included_in_the_request_for_the_next_one() {
    let home = home_with_chat();
    let provider = ScriptedProvider::start([
        Reply::text(POST).usage(900, 80, 0),
        Reply::text("---\ntitle: Friday\n---\nAs told in [The banging boiler](the-banging-boiler)."),
    ]);
    let first =
        home.memoir(["write", "--conversation", "1", "--model", "gpt-5-mini"]).provider(&provider).output();
    let (stdout, stderr) =
        (String::from_utf8(first.stdout).unwrap(), String::from_utf8(first.stderr).unwrap());
    assert!(first.status.success(), "{stderr}");
    assert!(
        stdout.starts_with(
            "---\ntitle: \"The banging boiler\"\ndate: \"2024-03-12\"\nslug: \"the-banging-boiler\"\n"
        ),
        "{stdout}"
    );
    assert!(
        stdout.contains("tags: [\"house\", \"heating\"]\n---\n\nThe boiler in the cellar bangs"),
        "{stdout}"
    );
    assert!(stderr.contains("2024-03-12-the-banging-boiler.md as document the-banging-boiler."), "{stderr}");
    assert!(!stderr.contains("is not a quotation"), "{stderr}");
    let (_, sent) = read_request(&provider, 0);
    assert!(sent.contains("<memory>\nNames in the conversation: Anna, Ben.\n"), "{sent}");
    assert!(
        sent.contains("## Message 1\n**Author:** Anna\n**Timestamp:** 2024-03-12 09:01\n\nThe boiler"),
        "{sent}"
    );
    assert!(!sent.contains("Related Previous Posts"), "there are no posts yet");
    let saved = home.memoir_home().join("posts/2024-03-12-the-banging-boiler.md");
    assert_eq!(fs::read_to_string(&saved).unwrap().trim_end(), stdout.trim_end());

    home.memoir(["write", "--conversation", "2", "--model", "gpt-5-mini"]).provider(&provider).succeed();
    let (_, sent) = read_request(&provider, 1);
    assert!(sent.contains("## Related Previous Posts (for continuity and linking)"), "{sent}");
    assert!(
        sent.contains("### [The banging boiler](the-banging-boiler) (2024-03-12)\nThe boiler in the cellar bangs at night.")
            && sent.contains("- Tags: house, heating\n- Similarity: 0."),
        "{sent}"
    );
    assert_eq!(home.documents().len(), 2);
    assert_eq!(home.count("post_sources"), 2);
    assert!(home.count_calls("post") > 0, "the cost is recorded");
    // A post is a document like any other: it is listed and can be removed.
    let output = home.memoir(["docs", "list"]).succeed();
    assert!(output.contains("The banging boiler (1 chunk)  [house, heating]  (post)"), "{output}");
    let output = home.memoir(["docs", "remove", "the-banging-boiler"]).succeed();
    assert!(output.contains("Its file was deleted too.") && !saved.exists(), "{output}");
}

#[test]
fn a_period_can_be_selected_and_a_dry_run_sends_nothing() {
    let home = home_with_chat();
    let provider = ScriptedProvider::always(Reply::text(POST));
    let output = home
        .memoir([
            "write",
            "--since",
            "2024-03-12",
            "--until",
            "2024-03-13",
            "--dry-run",
            "-v",
            "--model",
            "gpt-5-mini",
        ])
        .provider(&provider)
        .output();
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(
        stdout.contains("Source: 5 messages, 2024-03-12 09:01 to 2024-03-13 18:31, from conversations 1, 2."),
        "{stdout}"
    );
    assert!(stdout.contains("People: Anna, Ben.\nNo related posts.\nNothing was sent"), "{stdout}");
    assert!(stderr.contains("Chunked conversation into 1 chunk for RAG query\n"), "{stderr}");
    assert!(stderr.contains("RAG query complete: 1 chunk → 0 results → 0 deduped → 0 final"), "{stderr}");
    assert!(provider.requests().is_empty() && home.documents().is_empty());
    let only_one_day =
        home.memoir(["write", "--until", "2024-03-12", "--dry-run"]).provider(&provider).succeed();
    assert!(only_one_day.contains("Source: 3 messages"), "{only_one_day}");
}

#[test]
fn without_a_model_a_post_consists_of_quotations() {
    let home = home_with_chat();
    let out = home.memoir(["write", "--conversation", "1", "--model", "memoir/recall"]).succeed();
    assert!(out.contains("title: \"Ben, 2024-03-12\""), "{out}");
    assert!(
        out.contains("> Then I call Olaf from Nordheat today, he knows the boiler.\n>\n> — Anna, 09:04"),
        "{out}"
    );
    assert_eq!(home.documents().len(), 1);
}

#[test]
fn invented_quotations_are_pointed_out() {
    let home = home_with_chat();
    let provider = ScriptedProvider::always(Reply::text(
        "# Boiler\n\nAnna: \"I have always hated living in this house.\"",
    ));
    let output =
        home.memoir(["write", "--conversation", "1", "--model", "gpt-5-mini"]).provider(&provider).output();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr
            .contains("\"I have always hated living in this house.\" is not a quotation from the messages."),
        "{stderr}"
    );
}

#[test]
fn invalid_requests_and_answers_store_nothing() {
    let home = home_with_chat();
    let provider = ScriptedProvider::always(Reply::text("  "));
    let write = |arguments: &[&str]| {
        let all = ["write", "--model", "gpt-5-mini"].iter().chain(arguments).copied().collect::<Vec<_>>();
        home.memoir(all).provider(&provider)
    };
    assert!(write(&["--conversation", "99"]).fail(2).contains("there is no conversation 99."));
    assert!(write(&["--since", "someday"]).fail(2).contains("\"someday\" is not a date."));
    assert!(
        write(&["--since", "2024-03-13", "--until", "2024-03-12"]).fail(2).contains("the period ends before")
    );
    assert!(
        write(&["--since", "2030-01-01"]).fail(1).contains("there are no messages to write a post from.")
    );
    assert!(write(&[]).fail(2).contains("this project has no conversations."));
    write(&["--conversation", "1"]).fail(1);
    assert!(home.documents().is_empty() && !home.memoir_home().join("posts").exists());
}

#[test]
fn a_conversation_longer_than_the_context_window_is_read_in_parts() {
    let home = home();
    let line = |number: u32| {
        format!(
            "12/03/2024, {:02}:{:02} - Anna: Number {number} of the long list of things in the attic.\n",
            number / 60,
            number % 60
        )
    };
    fs::write(home.workspace().join("attic.txt"), (0..600).map(line).collect::<String>()).unwrap();
    home.memoir(["import", "whatsapp", "attic.txt"]).succeed();
    home.write_config("[[model]]\nprovider = \"openai\"\nname = \"small\"\ncontext = 8000\noutput = 1000\n");
    let provider = ScriptedProvider::always(Reply::text("The attic is full of things."));
    home.memoir(["write", "--conversation", "1", "--model", "openai/small"]).provider(&provider).succeed();
    let requests = provider.requests();
    assert!(requests.len() > 3, "{}", requests.len());
    let last = requests.last().unwrap().messages().pop().unwrap().1;
    assert!(last.contains("The attic is full of things.") && !last.contains("Number 300"), "{last}");
}

#[test]
fn a_chat_is_imported_once_and_recalled() {
    let home = home_with_chat();
    let import = |arguments: &[&str]| {
        home.memoir(["import", "whatsapp"].iter().chain(arguments).copied().collect::<Vec<_>>()).succeed()
    };
    let output = import(&["WhatsApp Chat with Ben.txt"]);
    assert!(
        output
            .starts_with("Imported 0 messages in 0 conversations; 2 conversations were already imported.\n"),
        "{output}"
    );
    assert!(output.contains("Skipped: lines written by the program (1).\nSkipped: pictures,"), "{output}");
    let longer = format!("{CHAT}13/03/2024, 18:40 - Anna: See you on Friday then.\n");
    fs::write(home.workspace().join("again (1).txt"), longer).unwrap();
    assert!(
        import(&["again (1).txt", "--dry-run"]).starts_with("Would import 1 message in 1 conversation; 1 ")
    );
    assert!(import(&["again (1).txt"]).starts_with("Imported 1 message in 1 conversation; 1 "));
    assert_eq!(home.messages().len(), 6);
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    let provider = ScriptedProvider::always(Reply::text("240 euros."));
    home.memoir(["-p", "What does Olaf want for the new expansion vessel?"]).provider(&provider).succeed();
    let sent = provider.requests()[0].messages().pop().unwrap().1;
    assert!(sent.contains("Anna: Olaf was here: a new expansion vessel costs 240 euros"), "{sent}");
    let stderr = home.memoir(["import", "whatsapp", "nowhere.txt"]).fail(1);
    assert!(stderr.contains("could not read nowhere.txt"), "{stderr}");
    fs::write(home.workspace().join("diary.txt"), "Dear diary").unwrap();
    let stderr = home.memoir(["import", "whatsapp", "diary.txt"]).fail(1);
    assert!(stderr.contains("this is not a chat exported from WhatsApp as text."), "{stderr}");
}
