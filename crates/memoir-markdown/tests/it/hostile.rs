//! Hostile input: control characters, misleading links, and deep or long texts.

use memoir_markdown::{TerminalStyle, color_diff};

use crate::{colored, plain, render};

const ALL: TerminalStyle = TerminalStyle { width: 40, color: true, links: true };

/// Removes the styles and links that the renderer added, and checks that they are well formed.
fn strip_styles(text: &str) -> String {
    let mut pieces = text.split('\x1b');
    let mut stripped = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let is_digit = |character: char| character.is_ascii_digit();
        if let Some(style) = piece.strip_prefix('[') {
            let rest = style.trim_start_matches(is_digit).strip_prefix('m');
            stripped.push_str(rest.unwrap_or_else(|| panic!("{piece:?}")));
        } else if let Some(url) = piece.strip_prefix("]8;;") {
            assert!(url.bytes().all(|byte| byte.is_ascii_graphic()), "{piece:?}");
        } else {
            stripped.push_str(piece.strip_prefix('\\').unwrap_or_else(|| panic!("{piece:?}")));
        }
    }
    stripped
}

#[test]
fn control_characters_are_replaced_everywhere() {
    let bad =
        "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31m\u{85}\u{202e}\u{2066}\u{7f}\u{8}\rx&#27;[1m&#x9b;&#x202e;";
    let texts = [
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
    for text in texts {
        for terminal in [ALL, colored(7), plain(40)] {
            let output = strip_styles(&render(&text, terminal));
            let is_harmful = |character: char| {
                (character.is_control() && !"\n\t".contains(character))
                    || "\u{202e}\u{2066}".contains(character)
            };
            assert!(!output.contains(is_harmful), "{output:?}");
            assert!(output.contains('�'), "{output:?}");
        }
        assert!(!strip_styles(&color_diff(&text, ALL)).contains('\u{1b}'));
    }
}

#[test]
fn urls_of_misleading_links_are_shown() {
    let output = |text: &str| strip_styles(&render(text, ALL));
    assert_eq!(
        output("[https://bank.example](https://x.example)"),
        "https://bank.example (https://x.example)\n"
    );
    assert_eq!(output("[run](javascript:alert)"), "run (javascript:alert)\n");
    assert_eq!(output("[see](file:///etc/passwd)"), "see (file:///etc/passwd)\n");
    assert!(!render("[run](javascript:alert)", ALL).contains("\x1b]8"));
}

#[test]
fn deep_and_long_texts_are_rendered() {
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
fn record_labels_are_shortened() {
    let head = format!("{}|b\n-|-\n", "long ".repeat(2_000));
    let output = render(&format!("{head}{}", "x|y\n".repeat(2_000)), plain(10));
    assert!(output.len() < 200_000, "{}", output.len());
}
