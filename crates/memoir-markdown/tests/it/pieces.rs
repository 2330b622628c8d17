//! Text that arrives in chunks.

use memoir_markdown::{Renderer, TerminalStyle};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use crate::{colored, plain, render};

/// Returns the output after each chunk and at the end.
fn outputs(chunks: &[&str], terminal: TerminalStyle) -> Vec<String> {
    let mut renderer = Renderer::new(terminal);
    let mut outputs: Vec<_> = chunks.iter().map(|chunk| renderer.push(chunk)).collect();
    outputs.push(renderer.finish());
    outputs
}

#[test]
fn paragraphs_are_returned_when_complete() {
    assert_eq!(
        outputs(&["One ", "para", "graph.\n", "\n", "Two"], plain(80)),
        ["", "", "", "One paragraph.\n", "", "\nTwo\n"]
    );
    assert_eq!(outputs(&["One\n", "# Two\n", "Three\n"], plain(80)), ["", "One\n\n# Two\n", "", "\nThree\n"]);
}

#[test]
fn list_items_are_returned_one_by_one() {
    assert_eq!(
        outputs(&["- a\n", "- b\n", "  - c\n", "\n", "End\n\n"], plain(80)),
        ["", "- a\n", "- b\n", "  - c\n", "\nEnd\n", ""]
    );
}

#[test]
fn code_is_returned_line_by_line() {
    assert_eq!(
        outputs(
            &["Run:\n", "```rust\n", "let a", " = 1;\n", "\n", "1. \"x\n", "y\"", "\n```", "\nEnd"],
            colored(80)
        ),
        [
            "",
            "Run:\n\n\x1b[2mrust\x1b[0m\n",
            "",
            "\x1b[35mlet\x1b[0m a = \x1b[36m1\x1b[0m;\n",
            "\n",
            "\x1b[36m1\x1b[0m. \x1b[32m\"x\x1b[0m\n",
            "",
            "\x1b[32my\"\x1b[0m\n",
            "",
            "\nEnd\n",
        ]
    );
    assert_eq!(
        outputs(&["1. a\n   ```\n", "   b\n", "   c"], colored(80)),
        ["1. a\n", "   b\n", "", "   c\n"]
    );
}

#[test]
fn is_waiting_reports_pending_text() {
    let mut renderer = Renderer::new(plain(80));
    let mut push = |text: &str| {
        renderer.push(text);
        renderer.has_pending_text()
    };
    let has_pending_text =
        ["", "a", "\n", "\n", "```\n", "b", "\n", "```\n", "- ", "\n", "  c\n", "\n"].map(&mut push);
    assert_eq!(
        has_pending_text,
        [false, true, true, false, false, true, false, false, true, true, true, false]
    );
    renderer.push("end");
    renderer.finish();
    assert!(!renderer.has_pending_text());
    assert_eq!(renderer.push("a new text\n\n"), "a new text\n");
}

#[test]
fn a_new_width_applies_to_later_text() {
    let mut renderer = Renderer::new(plain(80));
    assert_eq!(renderer.push("one two\n\n"), "one two\n");
    renderer.set_width(4);
    assert_eq!(renderer.push("one two\n\n"), "\none\ntwo\n");
}

/// Building blocks of random documents.
const PARTS: [&str; 44] = [
    "\n",
    "\n\n",
    "\n\n\n",
    " ",
    "  ",
    "    ",
    "\t",
    "\r\n",
    "a",
    "word ",
    "two words",
    "- ",
    "* ",
    "1. ",
    "3) ",
    "> ",
    "- [ ] ",
    "- [x] ",
    "# ",
    "### ",
    "---\n",
    "===\n",
    "```",
    "```rust\n",
    "```\n",
    "~~~\n",
    "````",
    "`",
    "**",
    "*",
    "_",
    "~~",
    "|",
    "|-|-|\n",
    "| a | b |\n|---|:-:|\n| 日本 | 🍎 |\n",
    "[x](https://x.example)",
    "[^1]: ",
    "[r]: /u\n",
    "<b>",
    "\\",
    "日本語のテキスト",
    "👩‍👩‍👧",
    "let a = \"b\"; // c",
    "\u{1b}[31m",
];

fn document() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PARTS[..]), 0..60).prop_map(|parts| parts.concat())
}

fn terminal() -> impl Strategy<Value = TerminalStyle> {
    (prop::sample::select(&[0, 1, 7, 20, 40, 80, 1000][..]), any::<bool>(), any::<bool>())
        .prop_map(|(width, color, links)| TerminalStyle { width, color, links })
}

fn alphanumerics(text: &str) -> String {
    text.chars().filter(|character| character.is_alphanumeric()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chunk_sizes_make_no_difference(text in document(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20), terminal in terminal()) {
        let mut offsets: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).filter(|cut| text.is_char_boundary(*cut)).collect();
        offsets.extend([0, text.len()]);
        offsets.sort_unstable();
        let chunks: Vec<_> = offsets.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
        let outputs = outputs(&chunks, terminal);
        prop_assert!(outputs.iter().all(|lines| lines.is_empty() || lines.ends_with('\n')));
        prop_assert_eq!(outputs.concat(), render(&text, terminal));
    }

    #[test]
    fn no_word_is_lost_and_no_escape_sequence_is_written(text in document(), width in 1..100_usize) {
        let output = render(&text, plain(width));
        prop_assert!(!output.contains('\u{1b}'), "{}", output);
        prop_assert!(!output.starts_with('\n') && !output.ends_with("\n\n"));
        // Items are renumbered, and surplus cells of a row are dropped.
        let words = |text: &str| alphanumerics(text).matches("word").count();
        if !text.contains('|') {
            prop_assert_eq!(words(&output), words(&text), "{}", output);
        }
    }

    #[test]
    fn only_code_exceeds_the_width(text in document(), width in 20..100_usize) {
        let text = text.replace(['`', '\t'], "").replace("  ", "").replace("~~~", "");
        for line in render(&text, plain(width)).lines() {
            prop_assert!(line.width() <= width, "{:?} in {:?}", line, text);
        }
    }
}
