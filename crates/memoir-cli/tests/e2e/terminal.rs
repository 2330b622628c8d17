//! The REPL in a real terminal.

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome};

use crate::home;

const SIZE: (u16, u16) = (24, 80);

fn open(home: &TestHome, provider: Option<&ScriptedProvider>) -> Terminal {
    let terminal = Terminal::open(home, provider, SIZE, &[]);
    terminal.wait_for_prompt();
    terminal
}

#[test]
fn a_conversation_is_typed_answered_and_remembered() {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::text("Hello, Ada.").usage(1000, 4, 0),
        Reply::text("You are Ada."),
        Reply::text("Nice to meet you."),
    ]);
    let mut terminal = open(&home, Some(&provider));
    terminal.wait_for("openai/gpt-5.6-luna (OPENAI_API_KEY is set)");
    terminal.submit("I am Ada");
    terminal.wait_for("Hello, Ada.");
    let screen = terminal.wait_for("1000 in · 4 out");
    assert!(!screen.contains("thinking"), "the spinner left something behind:\n{screen}");
    terminal.wait_for_prompt();
    terminal.submit("Who am I?");
    terminal.wait_for("You are Ada.");
    terminal.wait_for_prompt();
    assert!(provider.requests()[1].messages().iter().any(|(_, text)| text == "Hello, Ada."));

    terminal.submit("/new");
    terminal.wait_for("Started a new conversation");
    terminal.wait_for_prompt();
    terminal.submit("Hi");
    terminal.wait_for("Nice to meet you.");
    terminal.wait_for_prompt();
    assert!(provider.requests()[2].messages().iter().all(|(_, text)| !text.contains("Ada")));

    terminal.submit("/exit");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(home.conversations().len(), 2);
}

#[test]
fn commands_work_and_unknown_ones_point_to_help() {
    let home = home();
    let terminal = open(&home, None);
    terminal.submit("/help");
    let screen = terminal.wait_for("/help 2              Show more commands;");
    for command in ["/help", "/new", "/history [N]", "/resume", "/retry", "/memory"] {
        assert!(screen.contains(command), "{command} is missing:\n{screen}");
    }
    terminal.wait_for_prompt();
    terminal.submit("/help 3");
    let screen = terminal.wait_for("Exit; Ctrl-D does the same");
    for command in ["/doctor", "/version", "/exit"] {
        assert!(screen.contains(command), "{command} is missing:\n{screen}");
    }
    terminal.wait_for_prompt();
    terminal.submit("/frob");
    terminal.wait_for("unknown command /frob. Type `/help` for a list of commands.");
    terminal.wait_for_prompt();
    terminal.submit("/tools");
    terminal.wait_for("Search earlier conversations and the user's documents");
    terminal.wait_for_prompt();
    terminal.submit("/vers");
    terminal.wait_for("memoir 0.1.0 (schema ");
    terminal.wait_for_prompt();
    terminal.submit("/info");
    terminal.wait_for("memoir/recall (no model is connected)");
    terminal.wait_for("0 messages in 0 conversations, 0 documents");
}

#[test]
fn history_shows_the_conversation_and_earlier_lines_survive_a_restart() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("Forty-two."), Reply::text("Forty-two again.")]);
    let mut terminal = open(&home, Some(&provider));
    terminal.submit("What is the answer?");
    terminal.wait_for("Forty-two.");
    terminal.wait_for_prompt();
    terminal.submit("/history");
    terminal.wait_until("the exchange with its date", |screen| {
        screen.contains("[1] 20") && screen.matches("What is the answer?").count() >= 2
    });
    terminal.wait_for_prompt();
    terminal.type_keys("\x04");
    assert_eq!(terminal.wait_for_exit(), 0);

    let next = open(&home, Some(&provider));
    // Up twice: past `/history`, to the question.
    next.type_keys("\x1b[A\x1b[A");
    next.wait_for("> What is the answer?");
    next.type_keys("\r");
    next.wait_for("Forty-two again.");
}

#[test]
fn ctrl_c_cancels_a_turn_and_the_up_arrow_restores_the_prompt() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("Let me ").stalled(), Reply::text("Here you are.")]);
    let mut terminal = open(&home, Some(&provider));
    terminal.submit("Tell me");
    terminal.wait_for("writing");
    terminal.type_keys("\x03");
    let screen = terminal.wait_for("Cancelled; nothing was stored.");
    assert!(screen.contains("Let") && !screen.contains("writing"), "the partial answer is shown:\n{screen}");
    terminal.wait_for_prompt();
    terminal.type_keys("\x1b[A");
    terminal.wait_until("the line to send again", |screen| screen.trim_end().ends_with("> Tell me"));
    terminal.type_keys("\r");
    terminal.wait_for("Here you are.");
    terminal.wait_for_prompt();
    // Ctrl-C clears a line with text, and exits on an empty line.
    terminal.type_keys("half a thou");
    terminal.wait_for("> half a thou");
    terminal.type_keys("\x03");
    terminal.wait_for("Press Ctrl-C again to exit.");
    terminal.wait_for_prompt();
    terminal.type_keys("and another");
    terminal.wait_for("> and another");
    terminal.type_keys("\x03");
    terminal.wait_until("the hint a second time", |screen| {
        screen.matches("Press Ctrl-C again to exit.").count() == 2
    });
    terminal.wait_for_prompt();
    terminal.type_keys("\x03");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(home.exchanges().len(), 1);
}

#[test]
fn ctrl_c_in_a_history_search_ends_only_the_search() {
    let home = home();
    let terminal = open(&home, None);
    terminal.type_keys("\x12");
    terminal.wait_for("history:");
    terminal.type_keys("\x03");
    terminal.wait_for("Press Ctrl-C again to exit.");
    terminal.wait_for_prompt();
    // The search is not the second Ctrl-C in a row.
    terminal.type_keys("\x12");
    terminal.wait_for("history:");
    terminal.type_keys("\x03");
    terminal.wait_for_prompt();
    terminal.submit("/version");
    terminal.wait_for("memoir 0.1.0");
}

#[test]
fn several_lines_are_typed_and_pasted_as_one_prompt() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("Three lines."), Reply::text("Pasted.")]);
    let terminal = open(&home, Some(&provider));
    terminal.type_keys("one\x1b\rtwo\x1b\rthree\r");
    terminal.wait_for("Three lines.");
    terminal.wait_for_prompt();
    terminal.type_keys("\x1b[200~first\nsecond\x1b[201~\r");
    terminal.wait_for("Pasted.");
    let sent = |request: usize| provider.requests()[request].messages().last().cloned().unwrap().1;
    assert_eq!(sent(0), "one\ntwo\nthree");
    assert_eq!(sent(1), "first\nsecond");
}

#[test]
fn an_escape_sequence_from_a_model_has_no_effect() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text("before\u{1b}[2Jafter")]);
    let terminal = open(&home, Some(&provider));
    terminal.submit("Hi");
    let screen = terminal.wait_for("before[2Jafter");
    assert!(screen.contains("Memoir 0.1.0"), "the screen was cleared:\n{screen}");
}

#[test]
fn a_conversation_is_picked_from_a_list() {
    let home = home();
    let provider = ScriptedProvider::start(["one", "two", "three"].map(Reply::text));
    home.memoir(["-p", "about tea"]).provider(&provider).succeed();
    home.memoir(["-p", "about coffee"]).provider(&provider).succeed();
    let terminal = Terminal::open(&home, Some(&provider), SIZE, &["-r"]);
    terminal.wait_for("Resume which conversation?");
    let screen = terminal.wait_for("work: about tea");
    assert!(screen.contains("work: about tea") && screen.contains("work: about coffee"), "{screen}");
    terminal.type_keys("tea");
    terminal.wait_until("one line", |screen| !screen.contains("about coffee"));
    terminal.type_keys("\r");
    terminal.wait_for("Resumed conversation 1.");
    // The last exchanges remind the user.
    let screen = terminal.wait_for_prompt();
    assert!(screen.contains("> about tea\none"), "{screen}");
    terminal.submit("more");
    terminal.wait_for("three");
    assert!(provider.requests()[2].messages().iter().any(|(_, text)| text == "about tea"));
}

#[test]
fn a_conversation_is_resumed_by_words_of_its_title() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    for prompt in ["about green tea", "about black tea", "about coffee"] {
        home.memoir(["-p", prompt]).provider(&provider).succeed();
    }
    let terminal = Terminal::open(&home, Some(&provider), SIZE, &["-r", "coffee"]);
    terminal.wait_for("Resumed conversation 3.");
    terminal.submit("/resume Green tea");
    terminal.wait_for("Resumed conversation 1: about green tea");
    terminal.submit("/resume cocoa");
    terminal.wait_for("no conversation has \"cocoa\" in its title.");
    terminal.wait_for_prompt();
    // Of several, the user picks one.
    terminal.submit("/resume tea");
    let screen = terminal.wait_for("work: about black tea");
    assert!(!screen.contains("work: about coffee"), "{screen}");
    terminal.type_keys("\u{1b}");
    terminal.wait_for_prompt();
    let stderr = home.memoir(["-r", "tea", "-p", "more"]).provider(&provider).fail(2);
    assert!(stderr.contains("2 conversations have \"tea\" in their titles. Add words"), "{stderr}");
    // Nothing opens if the user picks none.
    let mut terminal = Terminal::open(&home, Some(&provider), SIZE, &["-r"]);
    terminal.wait_for("Resume which conversation?");
    terminal.type_keys("\u{1b}");
    assert_eq!(terminal.wait_for_exit(), 130);
}

#[test]
fn the_list_shows_real_questions_first_and_single_ones_last() {
    let home = home();
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    home.memoir(["-p", "hi"]).provider(&provider).succeed();
    home.memoir(["-c", "-p", "Which pear ripens first?"]).provider(&provider).succeed();
    home.memoir(["-p", "How long do eggs boil?"]).provider(&provider).succeed();
    let terminal = Terminal::open(&home, Some(&provider), (24, 60), &[]);
    terminal.submit("/resume");
    let screen = terminal.wait_for("How long do eggs boil?");
    let conversation = screen.find("1    just now  work: Which pear ripens first?");
    let single = screen.find("2    just now  work: How long do eggs boil? (one");
    assert!(conversation.is_some() && conversation < single, "{screen}");
    terminal.type_keys("\r");
    terminal.wait_for("Resumed conversation 1: hi");
    terminal.wait_for("> Which pear ripens first?");
    terminal.wait_for_prompt();
    // A long history is shown in pages.
    let long = "\n\nline".repeat(60);
    provider.push(Reply::text(&long));
    terminal.submit("tell me");
    terminal.wait_for_prompt();
    terminal.submit("/history");
    terminal.wait_until("the last page", |screen| screen.contains("(END)") && !screen.contains("> hi"));
    terminal.type_keys("gq");
    terminal.wait_for_prompt();
}

#[test]
fn questions_that_memory_answered_are_not_offered_for_resuming() {
    let home = home();
    home.memoir(["-p", "The samovar is in the attic."]).succeed();
    home.memoir(["-p", "Where is the samovar?"]).succeed();
    let terminal = Terminal::open(&home, None, SIZE, &["-r"]);
    terminal.wait_for("Resume which conversation?");
    let screen = terminal.wait_for("work: The samovar is in the attic.");
    assert!(!screen.contains("Where is the samovar?"), "{screen}");
    terminal.type_keys("\u{1b}");
    assert!(home.memoir(["conversations", "list"]).succeed().contains("Where is the samovar?"));
}

#[test]
fn a_failed_turn_is_explained_and_the_conversation_continues() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::status(400, "no such thing"), Reply::text("Back again.")]);
    let terminal = open(&home, Some(&provider));
    terminal.submit("Hello?");
    terminal.wait_for("no such thing. Check the model name, start a new conversation, or try another model.");
    terminal.wait_for_prompt();
    terminal.submit("Hello again");
    terminal.wait_for("Back again.");
}
