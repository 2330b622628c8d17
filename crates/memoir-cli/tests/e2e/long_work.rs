//! Commands that take longer: progress, and what Ctrl-C leaves behind.

use std::fs;

use memoir_testkit::{Terminal, TestHome};

use crate::home;

/// Writes files that take a while to embed.
fn write_notes(home: &TestHome) {
    let notes = home.workspace().join("notes");
    fs::create_dir(&notes).unwrap();
    for number in 0..300 {
        let sentence =
            |n: usize| format!("Tree {number} in row {n} had {} apples on the ladder side. ", n * number);
        let text: String = (0..6).map(sentence).collect();
        fs::write(notes.join(format!("note-{number}.md")), format!("# Note {number}\n\n{text}")).unwrap();
    }
}

#[test]
fn progress_is_shown_and_cancelled_work_continues_later() {
    let home = home();
    write_notes(&home);
    let mut terminal = Terminal::open(&home, None, (24, 80), &["docs", "add", "notes"]);
    terminal.wait_until("a bar with its rate and the time left", |screen| {
        screen.contains(" of 300 chunks, ") && screen.contains(" per second, ") && screen.contains(" left")
    });
    terminal.type_keys("\u{3}");
    let screen = terminal.wait_for("What was done is kept. Run the command again to continue.");
    assert!(screen.lines().any(|line| line.starts_with("memoir: cancelled.")), "{screen}");
    assert_eq!(terminal.wait_for_exit(), 130);
    assert_eq!(home.documents().len(), 300, "the files were added, and only some chunks are not embedded");
    assert!(!home.search("tree 7 in row 3").is_empty(), "the memory is usable");
    let output = home.memoir(["docs", "add", "notes"]).succeed();
    assert!(output.contains("300 unchanged"), "{output}");
    let left = home.memoir(["worker", "run", "--until-idle"]).succeed();
    assert!(left.contains("embedding_generator      0 done"), "the second run embedded the rest: {left}");
}
