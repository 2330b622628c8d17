//! Exchanges of one conversation are recalled in another.

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome, database::Edit, wait_until};
use serde_json::{Value, json};

use crate::helpers::{home, import_exchanges};

const FACT: &str = "The boiler was serviced in March by Olaf from Nordheat, his number is on the fridge.";

fn last_message(provider: &ScriptedProvider) -> String {
    provider.requests().last().unwrap().messages().last().cloned().unwrap().1
}

/// Embeds all imported messages, without summarizing them.
fn embed(home: &TestHome) {
    let off = |worker: &str| home.memoir(["config", "set", worker, "off"]).succeed();
    off("workers.exchange_summarizer");
    off("workers.conversation_summarizer");
    home.memoir(["worker", "run", "--until-idle"]).succeed();
}

/// Creates a home with the fact and two unrelated prompts.
fn home_with_a_fact(provider: &ScriptedProvider) -> TestHome {
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
fn relevant_exchanges_are_recalled_in_a_fence_with_date_and_id() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    let arguments = ["-p", "Who looked after our heating?", "--output-format", "json"];
    let result: Value = serde_json::from_str(&home.memoir(arguments).provider(&provider).succeed()).unwrap();

    let sent = last_message(&provider);
    let (before, rest) = sent.split_once("<memory>").unwrap();
    let (fenced_text, after) = rest.split_once("</memory>").unwrap();
    assert!(before.starts_with("## Related Past Conversations"), "{sent}");
    assert!(
        fenced_text.contains("### Conversation: \"The boiler was serviced")
            && fenced_text.contains("(ID: 1, Date: 20")
            && fenced_text.contains("Exchanges: 1\n")
            && fenced_text
                .contains("#### Relevant Exchanges\n\n**Exchange ID: 1** (Conversation: 1, Date: 20")
            && fenced_text.contains("- User: The boiler was serviced in March by Olaf from Nordheat")
            && fenced_text.contains("- Assistant: Noted."),
        "{fenced_text}"
    );
    assert!(before.contains("fetch_conversation_details"), "{before}");
    assert!(
        !fenced_text.contains("Portuguese") && !fenced_text.contains("router"),
        "irrelevant exchanges are not recalled: {fenced_text}"
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
    assert_eq!(home.count("recall_log"), result["recalled"].as_array().unwrap().len() as u64);
    // The prompt is stored without the recalled passages.
    let messages = home.messages();
    assert!(messages.iter().all(|message| !message.text.contains("Related Past")));
    assert_eq!(messages.iter().filter(|message| message.text.contains("Nordheat")).count(), 1);
}

#[test]
fn a_model_can_fetch_the_rest_of_a_conversation() {
    let provider = ScriptedProvider::start([
        Reply::text("Noted, Olaf it is."),
        Reply::tool_call("c1", "fetch_conversation_details", &json!({"conversation_id": 1})),
        Reply::text("Olaf did."),
    ]);
    let home = home();
    home.memoir(["-p", FACT]).provider(&provider).succeed();
    home.memoir(["-p", "Who serviced the boiler?"]).provider(&provider).succeed();
    let (role, result) = provider.requests()[2].messages().pop().unwrap();
    assert_eq!(role, "tool");
    assert!(result.contains(FACT) && result.contains("assistant: Noted, Olaf it is."), "{result}");
}

#[test]
fn pleasantries_and_unknown_topics_recall_nothing() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    for prompt in ["thanks!", "ok", "What is the capital of Mongolia?"] {
        home.memoir(["-p", prompt]).provider(&provider).succeed();
        assert_eq!(last_message(&provider), prompt);
    }
}

#[test]
fn recall_can_be_turned_off_and_stays_off() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    let terminal = Terminal::open(&home, Some(&provider), (30, 100), &[]);
    terminal.wait_for_prompt();
    terminal.submit("/rag test who serviced the boiler");
    terminal.wait_for("Olaf from Nordheat");
    terminal.wait_for_prompt();
    terminal.submit("/why");
    terminal.wait_for("Recall added nothing to the last prompt, or it has been deleted since.");
    terminal.wait_for_prompt();
    terminal.submit("Who looked after our heating?");
    terminal.wait_for("1 recalled");
    terminal.wait_for_prompt();
    terminal.submit("/why");
    terminal.wait_until("the passage with its score", |screen| {
        screen.matches("Olaf from Nordheat").count() >= 2 && screen.contains("similarity 0.")
    });
    terminal.wait_for_prompt();
    terminal.submit("/rag off");
    terminal.wait_for("Recall is now off.");
    drop(terminal);
    home.memoir(["-p", "Who serviced the boiler?"]).provider(&provider).succeed();
    assert_eq!(last_message(&provider), "Who serviced the boiler?");
}

#[test]
fn search_results_have_a_source() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    let output = home.memoir(["search", "heating engineer"]).succeed();
    assert!(
        output.contains("Olaf from Nordheat") && output.contains("you, conversation 1, exchange 1"),
        "{output}"
    );
    let json: Value = serde_json::from_str(&home.memoir(["search", "boiler", "--json"]).succeed()).unwrap();
    assert_eq!(json[0]["text"], FACT);
    assert_eq!(home.memoir(["search", "zebras"]).succeed(), "Nothing in memory about this.\n");
    // A word that would be a pleasantry in a prompt can be searched for.
    home.memoir(["-p", "Go is the language that the new service is written in."])
        .provider(&provider)
        .succeed();
    assert!(home.memoir(["search", "go"]).succeed().contains("the language that the new service"));
}

#[test]
fn prompts_are_embedded_right_after_the_commit() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    assert_eq!(home.count("embeddings"), 3, "one per prompt, none for \"Noted.\"");
}

/// Returns the text inside the fence of the last request.
fn fenced_text(provider: &ScriptedProvider) -> String {
    let sent = last_message(provider);
    let (_, rest) = sent.split_once("<memory>").unwrap_or_else(|| panic!("nothing was recalled: {sent}"));
    rest.split_once("</memory>").unwrap().0.to_owned()
}

#[test]
fn a_correction_ranks_above_what_it_corrects() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home();
    for prompt in [
        "The team meeting with the accountants is on Tuesday at ten.",
        "Actually the team meeting with the accountants is on Thursday at ten, not on Tuesday.",
    ] {
        home.memoir(["-p", prompt]).provider(&provider).succeed();
    }
    home.memoir(["-p", "When is the team meeting with the accountants?"]).provider(&provider).succeed();
    let fenced_text = fenced_text(&provider);
    let position =
        |text: &str| fenced_text.find(text).unwrap_or_else(|| panic!("no {text:?} in {fenced_text}"));
    assert!(position("Actually the team meeting") < position("- User: The team meeting"), "{fenced_text}");
    let corrected_exchange = fenced_text.split("**Exchange ID: 1**").nth(1).unwrap();
    assert!(corrected_exchange.lines().next().unwrap().contains("superseded on 20"), "{fenced_text}");
    let output = home.memoir(["search", "team meeting with the accountants"]).succeed();
    assert!(output.contains("superseded on 20"), "{output}");
}

#[test]
fn a_date_in_the_question_is_respected() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home();
    // The second prompt is from last Tuesday, the first from long before, and the third from today.
    let today = jiff::Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC);
    let tuesday = today.nth_weekday(-1, jiff::civil::Weekday::Tuesday).unwrap();
    let scope = home.workspace().canonicalize().unwrap();
    let days = [today.checked_sub(jiff::Span::new().days(60)).unwrap(), tuesday, today];
    for (day, price) in days.iter().zip(["900", "920", "950"]) {
        let prompt = format!("The landlord wants {price} euros a month for the flat in Porto.");
        let exchange = (prompt, "Noted.".to_owned());
        import_exchanges(&home, scope.to_str().unwrap(), &day.timestamp().to_string(), &[exchange]);
    }
    embed(&home);
    home.memoir(["-p", "What did I say last Tuesday about the rent in Porto?"]).provider(&provider).succeed();
    let exchanges = fenced_text(&provider).split_once("#### Relevant Exchanges").unwrap().1.to_owned();
    assert!(exchanges.trim_start().starts_with("**Exchange ID: 2**"), "{exchanges}");
    let since = home.memoir(["search", "rent in Porto", "--since", "30 days ago", "--json"]).succeed();
    assert!(!since.contains("900 euros") && since.contains("920 euros"), "{since}");
}

#[test]
fn a_thousand_similar_messages_do_not_hide_a_relevant_one() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    let exchanges: Vec<(String, String)> = (0..1000)
        .map(|number| {
            let prompt = format!(
                "The boiler was serviced again today, that is service number {number} of the boiler."
            );
            (prompt, "Noted.".into())
        })
        .collect();
    import_exchanges(&home, "/elsewhere", "2023-11-14T22:13:20Z", &exchanges);
    embed(&home);
    assert!(home.count("embeddings") > 1000);
    home.memoir(["-p", "Who serviced the boiler, what is the number?"]).provider(&provider).succeed();
    let fenced_text = fenced_text(&provider);
    assert!(fenced_text.contains("Olaf from Nordheat"), "{fenced_text}");
    assert!(fenced_text.matches("that is service number").count() <= 3, "{fenced_text}");
    assert!(fenced_text.contains("Project: /elsewhere"), "the project is named: {fenced_text}");
}

#[test]
fn recalled_passages_are_not_embedded_or_found_again() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    let before = home.count("embeddings");
    for _ in 0..3 {
        home.memoir(["-p", "Tell me please, who serviced the boiler for us in the spring?"])
            .provider(&provider)
            .succeed();
        assert!(last_message(&provider).contains("Nordheat"));
    }
    assert_eq!(home.count("embeddings"), before + 3, "one per question, none for the recalled passages");
    let json: Value =
        serde_json::from_str(&home.memoir(["search", "Olaf from Nordheat", "--json"]).succeed()).unwrap();
    let matches =
        json.as_array().unwrap().iter().filter(|result| result["text"].to_string().contains("Nordheat"));
    assert_eq!(matches.count(), 1);
}

#[test]
fn a_model_can_search_memory_itself() {
    let provider = ScriptedProvider::start([
        Reply::text("Noted."),
        Reply::tool_call("c1", "search_memory", &json!({"query": "heating engineer", "limit": 3})),
        Reply::text("Olaf did."),
    ]);
    let home = home();
    home.memoir(["-p", FACT]).provider(&provider).succeed();
    home.memoir(["-p", "hello"]).provider(&provider).succeed();
    let (role, result) = provider.requests()[2].messages().pop().unwrap();
    assert_eq!(role, "tool");
    assert!(
        result.contains("Olaf from Nordheat") && result.contains("(Conversation: 1, Date: 20"),
        "{result}"
    );
}

#[test]
fn recall_settings_are_shown_set_and_saved() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    home.write_config("[rag]\nrag_conversation_limit = 2\nmode = \"exact\"\n");
    let terminal = Terminal::open(&home, Some(&provider), (40, 140), &[]);
    terminal.wait_for_prompt();
    terminal.submit("/rag config");
    terminal.wait_until("the settings, the config's among them", |screen| {
        screen.contains("rag.conversation_limit           2 ")
            && screen.contains("rag.mode                         exact")
    });
    terminal.submit("/rag set rag_min_similarity 0.99");
    terminal.wait_for("rag.min_similarity is now 0.99.");
    terminal.submit("/rag set rag.mode quick");
    terminal.wait_for("rag.mode must be auto, exact or ann, not \"quick\"");
    terminal.submit("/rag set rag.speed 3");
    terminal.wait_for("there is no setting \"rag.speed\"");
    terminal.submit("/rag status");
    terminal.wait_for("All messages are embedded.");
    drop(terminal);
    // No passage is that similar, and few words are shared.
    home.memoir(["-p", "Who looked after our heating?"]).provider(&provider).succeed();
    assert!(!last_message(&provider).contains("<memory>"));
    home.write_config("[rag]\nspeed = 3\n");
    let stderr = home.memoir(["-p", "hi"]).provider(&provider).fail(1);
    assert!(
        stderr.contains("there is no setting \"speed\"") && stderr.contains("docs/settings.md"),
        "{stderr}"
    );
}

#[test]
fn search_can_be_limited_to_a_project_and_a_period() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    let elsewhere = home.workspace().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    home.memoir(["-p", "The boiler of the office is from Sunwarm and makes noises."])
        .provider(&provider)
        .current_dir(&elsewhere)
        .succeed();
    let search = |more: &[&str]| home.memoir(["search", "boiler"].iter().chain(more)).succeed();
    assert!(search(&[]).contains("Sunwarm") && search(&[]).contains("Nordheat"));
    let output = search(&["--scope", "elsewhere"]);
    assert!(output.contains("Sunwarm") && !output.contains("Nordheat"), "{output}");
    assert!(search(&["--since", "tomorrow-ish 2099-01-01"]).starts_with("Nothing in memory about this."));
    let stderr = home.memoir(["search", "boiler", "--since", "soonish"]).fail(2);
    assert!(stderr.contains("\"soonish\" is not a date"), "{stderr}");
    home.memoir(["search", "boiler", "--limit", "0"]).fail(2);
}

#[test]
fn an_empty_result_mentions_missing_embeddings() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    home.edit_database(Edit::DeleteFirstEmbedding);
    let output = home.memoir(["search", "zebras in the savannah"]).succeed();
    assert!(output.contains("1 text has not been embedded"), "{output}");
    // The next turn adds the missing embedding.
    home.memoir(["-p", "hello"]).provider(&provider).succeed();
    assert_eq!(
        home.memoir(["search", "zebras in the savannah"]).succeed(),
        "Nothing in memory about this.\n"
    );
    home.edit_database(Edit::DeleteFirstEmbedding);
    let output = home.memoir(["search", "zebras in the savannah"]).succeed();
    assert_eq!(
        output,
        "Nothing in memory about this. 1 text has not been embedded yet and can be found by keyword only.\n"
    );
}

#[test]
fn recall_is_evaluated_on_a_file() {
    let home = home();
    let data = json!([{
        "conversation_id": "c", "speakers": ["Ann", "Bob"],
        "sessions": [
            {"session_id": "s1", "date": "1:56 pm on 8 May, 2023", "turns": [
                {"id": "D1:1", "speaker": "Ann", "text": "I adopted a dog from the shelter last weekend, his name is Biscuit."},
                {"id": "D1:2", "speaker": "Bob", "text": "How lovely, I spent the weekend painting my kitchen in green."}]},
            {"session_id": "s2", "date": "2:00 pm on 9 June, 2023", "turns": [
                {"id": "D2:1", "speaker": "Ann", "text": "The train to Vienna was late again and I missed the concert."}]}],
        "questions": [
            {"id": "q1", "question": "What is the name of Ann's dog?", "category": "single-hop", "evidence": ["D1:1"]},
            {"id": "q2", "question": "Which colour has Bob's kitchen?", "category": "single-hop", "evidence": ["D1:2"]}]
    }]);
    let (file, out) = (home.workspace().join("data.json"), home.workspace().join("out.jsonl"));
    std::fs::write(&file, data.to_string()).unwrap();
    let output = home.memoir(["eval", "recall", "data.json", "--out", "out.jsonl"]).succeed();
    let all: Vec<&str> = output.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(all, ["data", "2", "100.0", "100.0", "100.0", "100.0", "100.0"], "{output}");
    assert!(output.contains("ms per question"));
    let both = home.memoir(["eval", "recall", "data.json", "data.json", "--out", "both.jsonl"]).succeed();
    assert_eq!(both.lines().filter(|line| line.starts_with("data ")).count(), 2, "{both}");
    let lines: Vec<Value> = std::fs::read_to_string(out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!((&lines[0]["question_id"], &lines[0]["ranked"][0]), (&json!("q1"), &json!("D1:1")));
    let arguments =
        ["eval", "recall", "data.json", "--out", "out.jsonl", "--mode", "keyword", "--without", "length"];
    home.memoir(arguments).succeed();
    let stderr =
        home.memoir(["eval", "recall", "data.json", "--out", "out.jsonl", "--without", "magic"]).fail(2);
    assert!(stderr.contains("\"magic\" is neither a recall stage nor a scoring term"), "{stderr}");
    std::fs::write(&file, "[{]").unwrap();
    home.memoir(["eval", "recall", "data.json", "--out", "out.jsonl"]).fail(1);
}

#[test]
fn answers_are_evaluated_on_a_file() {
    let home = home();
    let history = |id: &str, half: &str, wrong: &str| {
        json!({
            "id": id, "half": half, "now": "2026-05-01T12:00:00Z", "core_memory": {"user": "My name is Sam."},
            "conversations": [{"title": "Keys", "started": "2026-04-02T09:00:00Z", "messages": [
                {"speaker": "user", "text": "The spare key is under the blue flowerpot."},
                {"speaker": "assistant", "text": "Understood."}]}],
            "documents": [],
            "cases": [
                {"id": "1", "category": "plain", "ask": "Where is the spare key?", "first": ["flowerpot"]},
                {"id": "2", "category": "core", "ask": "What is my name?", "first": [wrong]},
                {"id": "3", "category": "absent", "ask": "Who won the regatta?", "absent": true}]
        })
    };
    let data = json!([history("a", "tune", "Sam"), history("b", "test", "Klara")]);
    let file = home.workspace().join("answers.json");
    std::fs::write(&file, data.to_string()).unwrap();
    let figures = |arguments: &[&str]| {
        let output = home.memoir([&["eval", "answers", "answers.json"], arguments].concat()).succeed();
        output.lines().rev().take(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let line = |share: &str| format!("answered by the first line: {share} %");
    assert_eq!(figures(&["--half", "tune"])[1], line("100.0"));
    assert_eq!(figures(&["--half", "test"])[1], line("50.0"));
    let all = figures(&[]);
    assert_eq!(all[1], line("75.0"));
    assert_eq!(all[0], "absent facts on which Memoir abstained: 100.0 %");
    let stderr = home.memoir(["eval", "answers", "answers.json", "--half", "best"]).fail(2);
    assert!(stderr.contains("the data has no half named \"best\""), "{stderr}");
    for broken in ["[{]", &data.to_string().replace("2026-05-01T12", "yesterday")] {
        std::fs::write(&file, broken).unwrap();
        home.memoir(["eval", "answers", "answers.json"]).fail(1);
    }
}

#[test]
fn people_are_found_by_their_nicknames() {
    let home = home();
    let messages: Vec<Value> = (0..6)
        .flat_map(|day| {
            [
                json!({"id": format!("a{day}"), "speaker": "Emmanuel", "text": format!("Hey Kate! I spent day {day} at the old lake.")}),
                json!({"id": format!("b{day}"), "speaker": "Kate", "text": format!("Hey Manny! I spent day {day} at the new market.")}),
            ]
        })
        .collect();
    let question = json!({"id": "q", "question": "How did Manny spend the day?", "category": "name", "evidence": ["a3"]});
    let data = json!([{"conversation_id": "c", "speakers": ["Emmanuel", "Kate"], "questions": [question],
        "sessions": [{"session_id": "s", "date": "1:56 pm on 8 May, 2023", "turns": messages}]}]);
    std::fs::write(home.workspace().join("data.json"), data.to_string()).unwrap();
    home.memoir(["eval", "recall", "data.json", "--out", "out.jsonl"]).succeed();
    let out = std::fs::read_to_string(home.workspace().join("out.jsonl")).unwrap();
    let line: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    let first: Vec<&str> =
        line["ranked"].as_array().unwrap().iter().take(5).filter_map(Value::as_str).collect();
    assert!(first.iter().all(|id| id.starts_with('a')), "{first:?}");
}

#[test]
fn a_large_index_is_loaded_while_the_first_line_is_typed() {
    let home = home();
    // Without workers, nothing else loads the index.
    home.write_config(
        "[workers]\nembedding_generator = \"off\"\nexchange_summarizer = \"off\"\nconversation_summarizer = \"off\"\n",
    );
    let exchanges: Vec<(String, String)> = (0..1500)
        .map(|number| (format!("Entry {number} is about the lighthouse at Cabo da Roca."), "Noted.".into()))
        .collect();
    import_exchanges(&home, "/elsewhere", "2023-11-14T22:13:20Z", &exchanges);
    assert!(!home.has_packed_index());
    let terminal = Terminal::open(&home, None, (24, 80), &[]);
    terminal.wait_for_prompt();
    // A process that had to read many rows packs them for the next start.
    wait_until("the index is packed", || home.has_packed_index());
}

#[test]
fn a_search_with_the_exact_words_finds_them() {
    let home = home();
    let prompt = "The boiler in the cellar was repaired by Jansen in March.";
    home.memoir(["--model", "memoir/recall", "-p", prompt]).succeed();
    let output = home.memoir(["search", prompt]).succeed();
    assert!(output.contains("repaired by Jansen"), "{output}");
}

#[test]
fn a_model_in_a_directory_embeds_memory() {
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let home = home_with_a_fact(&provider);
    embed(&home);
    let vectors = home.count("embeddings");
    let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/../memoir-embed/tests/tiny");
    home.write_config(&format!("[embedder]\npath = {tiny:?}\n"));
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    let report: Value = home.memoir(["doctor", "--json"]).json();
    let index = report.to_string();
    assert!(index.contains("up to date, embedding model directory/tiny-"), "{index}");
    assert!(home.count("embeddings") > vectors, "the model reads fewer tokens, so there are more parts");
    let found = home.memoir(["search", "the boiler was serviced in March by Olaf"]).succeed();
    assert!(found.contains("Nordheat"), "{found}");

    home.write_config("[embedder]\npath = \"/nowhere/model\"\n");
    let output = home.memoir(["-p", "Who serviced the boiler in March?"]).provider(&provider).output();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert!(
        notes.contains(
            "Memory is searched by keyword only: the embedding model in /nowhere/model cannot be used"
        ),
        "{notes}"
    );
    assert!(last_message(&provider).contains("Nordheat"), "keywords still find it");
    home.write_config("[embedder]\npath = \"model\"\nmodel = \"m\"\n");
    let failure = home.memoir(["-p", "hi"]).provider(&provider).fail(2);
    assert!(failure.contains("has a `model` and a `path`. Remove one of them."), "{failure}");
}
