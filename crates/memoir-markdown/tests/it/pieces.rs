//! Text that comes in pieces.

use memoir_markdown::{Renderer, TerminalStyle};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr;

use crate::{colored, plain, render};

/// What is shown after each piece, and at the end.
fn shown(pieces: &[&str], terminal: TerminalStyle) -> Vec<String> {
    let mut renderer = Renderer::new(terminal);
    let mut shown: Vec<_> = pieces.iter().map(|piece| renderer.push(piece)).collect();
    shown.push(renderer.finish());
    shown
}

#[test]
fn paragraphs_come_when_they_are_complete() {
    assert_eq!(
        shown(&["One ", "para", "graph.\n", "\n", "Two"], plain(80)),
        ["", "", "", "One paragraph.\n", "", "\nTwo\n"]
    );
    assert_eq!(shown(&["One\n", "# Two\n", "Three\n"], plain(80)), ["", "One\n\n# Two\n", "", "\nThree\n"]);
}

#[test]
fn items_come_one_by_one() {
    assert_eq!(
        shown(&["- a\n", "- b\n", "  - c\n", "\n", "End\n\n"], plain(80)),
        ["", "- a\n", "- b\n", "  - c\n", "\nEnd\n", ""]
    );
}

#[test]
fn code_comes_line_by_line() {
    assert_eq!(
        shown(
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
    assert_eq!(shown(&["1. a\n   ```\n", "   b\n", "   c"], colored(80)), ["1. a\n", "   b\n", "", "   c\n"]);
}

#[test]
fn it_is_known_what_is_waiting() {
    let mut renderer = Renderer::new(plain(80));
    let mut waits = |text: &str| {
        renderer.push(text);
        renderer.is_waiting()
    };
    let waiting =
        ["", "a", "\n", "\n", "```\n", "b", "\n", "```\n", "- ", "\n", "  c\n", "\n"].map(&mut waits);
    assert_eq!(waiting, [false, true, true, false, false, true, false, false, true, true, true, false]);
    renderer.push("end");
    renderer.finish();
    assert!(!renderer.is_waiting());
    assert_eq!(renderer.push("a new text\n\n"), "a new text\n");
}

#[test]
fn a_new_width_counts_from_now_on() {
    let mut renderer = Renderer::new(plain(80));
    assert_eq!(renderer.push("one two\n\n"), "one two\n");
    renderer.set_width(4);
    assert_eq!(renderer.push("one two\n\n"), "\none\ntwo\n");
}

/// What documents are made of.
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

/// Without escape sequences and without white space.
fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphanumeric()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn pieces_make_no_difference(text in document(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20), terminal in terminal()) {
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(text.len() + 1)).filter(|cut| text.is_char_boundary(*cut)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let pieces: Vec<_> = places.windows(2).map(|ends| &text[ends[0]..ends[1]]).collect();
        let shown = shown(&pieces, terminal);
        prop_assert!(shown.iter().all(|lines| lines.is_empty() || lines.ends_with('\n')));
        prop_assert_eq!(shown.concat(), render(&text, terminal));
    }

    #[test]
    fn no_word_is_lost_and_nothing_escapes(text in document(), width in 1..100_usize) {
        let shown = render(&text, plain(width));
        prop_assert!(!shown.contains('\u{1b}'), "{}", shown);
        prop_assert!(!shown.starts_with('\n') && !shown.ends_with("\n\n"));
        // Numbers of items are counted anew, and cells that a row has too many of are not shown.
        let words = |text: &str| letters(text).matches("word").count();
        if !text.contains('|') {
            prop_assert_eq!(words(&shown), words(&text), "{}", shown);
        }
    }

    #[test]
    fn no_line_but_code_is_too_wide(text in document(), width in 20..100_usize) {
        let text = text.replace(['`', '\t'], "").replace("  ", "").replace("~~~", "");
        for line in render(&text, plain(width)).lines() {
            prop_assert!(line.width() <= width, "{:?} in {:?}", line, text);
        }
    }
}
