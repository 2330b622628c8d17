//! Answers without a language model.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, Terminal};

use crate::helpers::home;

fn first_line(answer: &str) -> &str {
    answer.lines().next().unwrap_or_default()
}

#[test]
fn the_sentence_that_answers_comes_first_with_its_source_and_without_scores() {
    let home = home();
    let told = "We met the plumber today. The spare key is under the blue flowerpot. It was raining.";
    home.memoir(["-p", told]).succeed();
    let answer = home.memoir(["-p", "Where is the spare key?"]).succeed();
    let lines: Vec<&str> = answer.lines().collect();
    assert_eq!(lines[0], "The spare key is under the blue flowerpot.");
    assert!(lines[2].starts_with('(') && lines[2].ends_with("conversation 1, exchange 1)"), "{answer}");
    assert!(answer.contains("From memory:") && !answer.contains("score"), "{answer}");
}

#[test]
fn a_question_asked_before_is_answered_with_its_answer() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text(
        "I checked the gateway. The invoices endpoint now allows 240 requests per minute.",
    )]);
    home.memoir(["-p", "What is the rate limit of the invoices endpoint?"]).provider(&provider).succeed();
    let answer = home.memoir(["-p", "What is the invoices rate limit?"]).succeed();
    assert!(first_line(&answer).contains("now allows 240 requests per minute"), "{answer}");
    assert!(answer.contains("> What is the rate limit of the invoices endpoint?"), "{answer}");
}

#[test]
fn statements_are_acknowledged_with_what_they_supersede() {
    let home = home();
    let answer = home.memoir(["-p", "My sister Klara lives in Porto"]).succeed();
    assert!(answer.starts_with("Noted."), "{answer}");
    assert!(!answer.contains("supersedes"), "{answer}");
    home.memoir(["-p", "Samira works 24 hours a week in the shop."]).succeed();
    let answer = home.memoir(["-p", "Samira works 30 hours a week from now on."]).succeed();
    assert!(answer.starts_with("Noted."), "{answer}");
    assert!(answer.contains("> Samira works 24 hours a week in the shop."), "{answer}");
    let answer = home.memoir(["-p", "Where does Klara live?"]).succeed();
    assert_eq!(first_line(&answer), "My sister Klara lives in Porto");
}

#[test]
fn questions_in_other_words_are_answered_and_similar_ones_without_an_answer_are_not() {
    let home = home();
    for told in [
        "Our plumber is called Ines Prado.",
        "The bins go out on Thursday.",
        "My sister Klara lives in Porto.",
    ] {
        home.memoir(["-p", told]).succeed();
    }
    for (question, answer) in [
        ("Who can repair a burst pipe?", "Our plumber is called Ines Prado."),
        ("When is the rubbish collected?", "The bins go out on Thursday."),
        ("In which city is my sibling?", "My sister Klara lives in Porto."),
        ("When is Klara's birthday?", "Nothing in memory about this."),
        ("Who is our electrician?", "Nothing in memory about this."),
        ("stock options", "Nothing in memory about this."),
    ] {
        assert_eq!(first_line(&home.memoir(["-p", question]).succeed()), answer, "{question}");
    }
}

#[test]
fn the_end_of_a_long_message_is_found() {
    let home = home();
    let walk =
        |day: u32| format!("On day {day} we walked along the river to mill {day} and watched {day} ducks. ");
    let (before, after) = ((1..30).map(walk).collect::<String>(), (30..60).map(walk).collect::<String>());
    home.memoir(["-p", &format!("{before}My sister Klara lives in Porto. {after}")]).succeed();
    for told in ["The bins go out on Thursday.", "Our plumber is called Ines Prado."] {
        home.memoir(["-p", told]).succeed();
    }
    let answer = home.memoir(["-p", "In which city is my sibling?"]).succeed();
    assert_eq!(first_line(&answer), "My sister Klara lives in Porto.");
    let (_, passages) = answer.split_once("From memory:").unwrap();
    assert!(passages.contains("Klara"), "the part that matches is quoted: {answer}");
}

#[test]
fn a_decision_in_other_words_replaces_an_earlier_one() {
    let home = home();
    for told in [
        "We use Postgres as the database of the weather station.",
        "The anemometer turns again.",
        "All measurements are in a single SQLite file since the weekend.",
    ] {
        home.memoir(["-p", told]).succeed();
    }
    let answer = home.memoir(["-p", "Which database does the weather station use?"]).succeed();
    assert_eq!(first_line(&answer), "All measurements are in a single SQLite file since the weekend.");
}

#[test]
fn the_current_state_comes_first_and_the_former_one_is_found_when_asked_for() {
    let home = home();
    home.memoir(["-p", "The handover of the on-call phone is on Monday."]).succeed();
    home.memoir(["-p", "The handover of the on-call phone is on Wednesday."]).succeed();
    let answer = home.memoir(["-p", "When is the handover of the on-call phone?"]).succeed();
    assert!(first_line(&answer).contains("Wednesday"), "{answer}");
    assert!(answer.contains("superseded on"), "{answer}");
    let answer = home.memoir(["-p", "When was the handover of the on-call phone previously?"]).succeed();
    assert!(first_line(&answer).contains("Monday"), "{answer}");
}

#[test]
fn follow_ups_are_understood_after_the_question_before_them() {
    let home = home();
    home.memoir(["-p", "We use the MIT licence for the library."]).succeed();
    let switch = "We use the Apache licence for the library now. We switched because of the patent clause.";
    home.memoir(["-p", switch]).succeed();
    let terminal = Terminal::open(&home, None, (40, 120), &[]);
    terminal.wait_for_prompt();
    terminal.submit("Which licence do we use for the library?");
    terminal.wait_for("Apache licence");
    terminal.wait_for_prompt();
    terminal.submit("Why did we switch?");
    terminal
        .wait_until("the reason", |screen| screen.contains("We switched because of the patent clause.\n"));
    terminal.wait_for_prompt();
    // A model that is connected later gets the same passages for a follow-up.
    let provider = ScriptedProvider::start([Reply::text("Apache."), Reply::text("Patents.")]);
    home.memoir(["-p", "Which licence do we use for the library?"]).provider(&provider).succeed();
    home.memoir(["-c", "-p", "Why did we switch?"]).provider(&provider).succeed();
    let request = provider.requests()[1].messages();
    assert!(request.last().is_some_and(|(_, text)| text.contains("patent clause")), "{request:?}");
}

#[test]
fn statements_about_others_are_not_taken_for_corrections() {
    let home = home();
    for statement in [
        "Dentist for Ana on Tuesday at 8:15.",
        "Dentist for Tom on Friday at 9:00.",
        "The staging server runs on port 8080.",
        "The production server runs on port 9090.",
        "My sister Eva lives in Graz.",
        "My sister Lena lives in Linz.",
    ] {
        assert_eq!(home.memoir(["-p", statement]).succeed(), "Noted. Memoir will remember this.\n");
    }
    for (question, answer) in [
        ("When is Ana's dentist?", "Dentist for Ana on Tuesday at 8:15."),
        ("When is Tom's dentist?", "Dentist for Tom on Friday at 9:00."),
        ("Which port does staging use?", "The staging server runs on port 8080."),
        ("Where does Eva live?", "My sister Eva lives in Graz."),
    ] {
        assert_eq!(first_line(&home.memoir(["-p", question]).succeed()), answer, "{question}");
    }
}

#[test]
fn the_latest_decision_is_quoted_first_and_then_the_one_before() {
    let home = home();
    for (question, answer) in [
        ("What database do we use?", "SQLite"),
        ("What battery do we use?", "LiFePO4"),
        ("When does Ines get a warning text?", "04:45"),
        ("Which radio frequency do we use?", "869.525 MHz"),
    ] {
        let text = home.memoir(["demo", question]).succeed();
        assert!(first_line(&text).contains(answer), "{question} {text}");
    }
    let terminal = Terminal::open(&home, None, (80, 120), &["demo"]);
    terminal.wait_for_prompt();
    terminal.submit("What database do we use?");
    terminal.wait_for("SQLite, one file.");
    terminal.wait_for_prompt();
    terminal.submit("What did we use before?");
    terminal.wait_until("the former decision", |screen| {
        let answer = screen.rsplit("What did we use before?").next().unwrap_or_default();
        answer.trim_start().lines().next().is_some_and(|line| line.contains("Postgres"))
    });
}

#[test]
fn a_period_is_answered_with_its_conversations() {
    let home = home();
    home.memoir(["-p", "The boiler was repaired by Olaf."]).succeed();
    let answer = home.memoir(["-p", "What did I tell you today?"]).succeed();
    assert!(first_line(&answer).starts_with("On 20"), "{answer}");
    assert!(answer.contains("The boiler was repaired by Olaf."), "{answer}");
    assert!(!answer.contains("What did I tell you"), "a question is not listed: {answer}");
    let answer = home.memoir(["-p", "What did we talk about on 3 May 2019?"]).succeed();
    assert_eq!(answer, "On 2019-05-03: no conversations.\n");
}

#[test]
fn core_memory_answers() {
    let home = home();
    let terminal = Terminal::open(&home, None, (24, 100), &[]);
    terminal.wait_for_prompt();
    terminal.submit("/memory edit user My name is Sam");
    terminal.wait_for_prompt();
    drop(terminal);
    let answer = home.memoir(["-p", "What is my name?"]).succeed();
    assert!(answer.starts_with("My name is Sam\n\n(core memory, user)"), "{answer}");
}

#[test]
fn questions_do_not_become_evidence() {
    let home = home();
    home.memoir(["-p", "Which ferry goes to the island of Hven?"]).succeed();
    home.memoir(["-p", "which ferry goes to the island of Hven"]).succeed();
    home.memoir(["-p", "ferry to the island of Hven"]).succeed();
    let answer = home.memoir(["-p", "ferry island Hven"]).succeed();
    assert!(answer.starts_with("Nothing in memory about this."), "{answer}");
    for _ in 0..2 {
        home.memoir(["-p", "The ferry to Hven leaves from Landskrona."]).succeed();
    }
    let answer = home.memoir(["-p", "Where does the ferry to Hven leave?"]).succeed();
    assert_eq!(first_line(&answer), "The ferry to Hven leaves from Landskrona.");
    assert!(!answer.contains("From memory:"), "there is nothing else to quote: {answer}");
}

#[test]
fn what_the_user_says_is_found_whatever_its_form() {
    for (prompt, question, answer) in [
        (
            "Please remember that the spare key hangs in the woodshed",
            "Where does the spare key hang?",
            "woodshed",
        ),
        ("I moved to Bergen in May. Where did I live before?", "Where did I move in May?", "Bergen"),
        (
            "Packing list for Hven:\n- tent\n- the blue kettle",
            "Which kettle is on the packing list for Hven?",
            "blue",
        ),
        ("locker code 4712", "What is the locker code?", "4712"),
        ("klara moved to oslo", "Where did Klara move?", "oslo"),
        ("The oven is fixed.", "Is the oven fixed?", "fixed"),
    ] {
        let home = home();
        home.memoir(["-p", "My sister Klara lives in Porto."]).succeed();
        home.memoir(["-p", "locker code 4711"]).succeed();
        home.memoir(["-p", prompt]).succeed();
        let found = home.memoir(["-p", question]).succeed();
        assert!(found.lines().next().is_some_and(|line| line.contains(answer)), "{prompt}: {found}");
    }
}

#[test]
fn a_prompt_that_says_and_asks_something_is_recalled_by_other_models() {
    let home = home();
    home.memoir(["-p", "I moved to Bergen in May. Where did I live before?"]).succeed();
    let provider = ScriptedProvider::start([Reply::text("In Bergen.")]);
    home.memoir(["-p", "Where did I move in May?"]).provider(&provider).succeed();
    let messages = provider.requests()[0].messages();
    assert!(messages.iter().any(|(_, text)| text.contains("I moved to Bergen")), "{messages:?}");
}

#[test]
fn forgetting_a_title_deletes_the_answers_that_show_it() {
    let home = home();
    home.memoir(["-p", "The vault of the quibblewort is in the cellar."]).succeed();
    home.memoir(["-c", "-p", "The lid of the pot is green."]).succeed();
    let answer = home.memoir(["-p", "What color is the lid of the pot?"]).succeed();
    assert!(answer.starts_with("The lid of the pot is green.") && answer.contains("quibblewort"), "{answer}");
    home.memoir(["memory", "forget", "--exchange", "1", "--yes"]).succeed();
    assert_eq!(home.files_containing("quibblewort"), Vec::<String>::new());
}

#[test]
fn an_overview_keeps_to_the_project() {
    let home = home();
    let (bees, boats) = (home.workspace().join("bees"), home.workspace().join("boats"));
    for (directory, prompt) in [(&bees, "The queen was marked green."), (&boats, "The keel was painted red.")]
    {
        fs::create_dir(directory).unwrap();
        home.memoir(["-p", prompt]).current_dir(directory).succeed();
    }
    let ask = || home.memoir(["-p", "What did I tell you today?"]).current_dir(&bees).succeed();
    assert!(ask().contains("keel"), "{}", ask());
    home.memoir(["config", "set", "rag.scope", "only"]).succeed();
    let overview = ask();
    assert!(overview.contains("queen") && !overview.contains("keel"), "{overview}");
}

#[test]
fn deleting_what_an_answer_quotes_deletes_the_answer() {
    let home = home();
    home.memoir(["-p", "The vault of the quibblewort opens at 7 in the morning."]).succeed();
    home.memoir(["-p", "The vault of the quibblewort opens at 9 in the morning."]).succeed();
    let overview = home.memoir(["-p", "What did I tell you today?"]).succeed();
    assert!(overview.contains("quibblewort"), "{overview}");
    home.memoir(["-p", "When does the vault of the quibblewort close?"]).succeed();
    for exchange in ["1", "2"] {
        home.memoir(["memory", "forget", "--exchange", exchange, "--yes"]).succeed();
    }
    let messages = home.messages();
    let answers = messages.iter().filter(|message| message.text.contains("opens at"));
    assert_eq!(answers.count(), 0, "{messages:?}");
    assert_eq!(
        messages.iter().filter(|message| message.text.starts_with("On 20")).count(),
        0,
        "{messages:?}"
    );
}

#[test]
fn unknown_facts_are_not_answered() {
    let home = home();
    home.memoir(["-p", "Tomo came by with a cake on Sunday."]).succeed();
    let answer = home.memoir(["-p", "What is Tomo's surname?"]).succeed();
    assert!(answer.starts_with("Nothing in memory about this."), "{answer}");
}

#[test]
fn documents_are_quoted_by_row_with_their_headings() {
    let home = home();
    let text = "# Oven manual\n\n## Maintenance\n\n| part | interval |\n| --- | --- |\n| door seals | every 3 months |\n| burner | every year |\n";
    std::fs::write(home.workspace().join("oven.md"), text).unwrap();
    home.memoir(["docs", "add", "oven.md"]).succeed();
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    let answer = home.memoir(["-p", "How often do the door seals of the oven have to be checked?"]).succeed();
    assert_eq!(first_line(&answer), "door seals | every 3 months");
    assert!(answer.contains("\"Oven manual\", Maintenance, document oven-manual)"), "{answer}");
}

#[test]
fn a_document_is_found_in_other_words_but_not_by_a_word_alone() {
    let home = home();
    let text = "Ramen broth at home: pork bones, twelve hours, kombu and patience.\n";
    std::fs::write(home.workspace().join("ramen.md"), text).unwrap();
    home.memoir(["docs", "add", "ramen.md"]).succeed();
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    for prompt in ["japanese noodle soup stock", "how did I make the noodle soup stock?"] {
        let answer = home.memoir(["-p", prompt]).succeed();
        assert!(answer.contains("Ramen broth at home"), "{prompt}: {answer}");
    }
    let answer = home.memoir(["-p", "stock options"]).succeed();
    assert!(answer.starts_with("Nothing in memory about this."), "{answer}");
}
