//! Text that means harm.

use memoir_markdown::{TerminalStyle, diff};

use crate::{colored, plain, render};

const ALL: TerminalStyle = TerminalStyle { width: 40, color: true, links: true };

/// Takes out what the renderer itself puts in: styles and links, well formed.
fn without_own(text: &str) -> String {
    let mut pieces = text.split('\x1b');
    let mut left = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_digit = |letter: char| letter.is_ascii_digit();
        if let Some(style) = piece.strip_prefix('[') {
            let rest = style.trim_start_matches(is_digit).strip_prefix('m');
            left.push_str(rest.unwrap_or_else(|| panic!("{piece:?}")));
        } else if let Some(url) = piece.strip_prefix("]8;;") {
            assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{piece:?}");
        } else {
            left.push_str(piece.strip_prefix('\\').unwrap_or_else(|| panic!("{piece:?}")));
        }
    }
    left
}

#[test]
fn no_control_character_gets_through() {
    let bad =
        "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{85}\u{202e}\u{2066}\u{7f}\u{8}\rx&#27;[1m&#x9b;&#x202e;";
    let places = [
        bad.to_owned(),
        format!("# {bad}"),
        format!("- {bad}\n  1. {bad}"),
        format!("> {bad}"),
        format!("**{bad}** `{bad}`"),
        format!("```{bad}\n{bad}\n```"),
        format!("```rust\n\"{bad}\" // {bad}\n```"),
        format!("```diff\n+{bad}\n```"),
        format!("    {bad}"),
        format!("|a|b|\n|-|-|\n|{bad}|x|"),
        format!("[{bad}](https://x.example/{bad})"),
        format!("[a](<https://x.example/{bad}>) ![{bad}](<{bad}>) <https://y.example/{bad}>"),
        format!("https://z.example/{bad}"),
        format!("<div title=\"{bad}\">{bad}</div>"),
        format!("[{bad}]: {bad}\n[^1]: {bad}"),
    ];
    for text in places {
        for terminal in [ALL, colored(7), plain(40)] {
            let shown = without_own(&render(&text, terminal));
            let harmful = |letter: char| {
                (letter.is_control() && !"\n\t".contains(letter)) || "\u{202e}\u{2066}".contains(letter)
            };
            assert!(!shown.contains(harmful), "{shown:?}");
            assert!(shown.contains('�'), "{shown:?}");
        }
        assert!(!without_own(&diff(&text, ALL)).contains('\u{1b}'));
    }
}

#[test]
fn links_do_not_pretend() {
    let shown = |text: &str| without_own(&render(text, ALL));
    assert_eq!(
        shown("[https://bank.example](https://x.example)"),
        "https://bank.example (https://x.example)\n"
    );
    assert_eq!(shown("[run](javascript:alert)"), "run (javascript:alert)\n");
    assert_eq!(shown("[see](file:///etc/passwd)"), "see (file:///etc/passwd)\n");
    assert!(!render("[run](javascript:alert)", ALL).contains("\x1b]8"));
}

#[test]
fn what_is_deep_or_long_is_borne() {
    let count = 20_000;
    for part in
        ["> ", "- ", "1. ", "[", "![", "*", "**a ", "`", "``a", "<", "<!--", "|", "\\", "&", "~~", "]("]
    {
        for text in [
            part.repeat(count),
            format!("a|b\n-|-\n{}", part.repeat(count)),
            format!("{}\n", part).repeat(500),
        ] {
            for terminal in [ALL, plain(40)] {
                assert!(render(&text, terminal).len() < 100 * text.len());
            }
        }
    }
}

#[test]
fn a_table_does_not_grow_beyond_measure() {
    let head = format!("{}|b\n-|-\n", "long ".repeat(2_000));
    let shown = render(&format!("{head}{}", "x|y\n".repeat(2_000)), plain(10));
    assert!(shown.len() < 200_000, "{}", shown.len());
}
