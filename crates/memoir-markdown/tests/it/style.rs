//! Styles of markers and code, links, and colors of diffs.

use memoir_markdown::{TerminalStyle, color_diff};

use crate::{colored, plain, render};

#[test]
fn markers_become_styles() {
    assert_eq!(render("# One\n## Two", colored(80)), "\x1b[1m\x1b[4mOne\x1b[0m\n\n\x1b[1mTwo\x1b[0m\n");
    assert_eq!(
        render("**b** *i* ~~s~~ `c`", colored(80)),
        "\x1b[1mb\x1b[0m \x1b[3mi\x1b[0m \x1b[9ms\x1b[0m \x1b[36mc\x1b[0m\n"
    );
    assert_eq!(
        render("- a\n- [x] b\n\n> c\n\n---", colored(10)),
        "• a\n\x1b[32m[x]\x1b[0m b\n\n\x1b[2m│ \x1b[0mc\n\n\x1b[2m──────────\x1b[0m\n"
    );
    assert_eq!(
        render("|a|b|\n|-|-|\n|c|d|", colored(80)),
        "\x1b[1ma\x1b[0m\x1b[2m │ \x1b[0m\x1b[1mb\x1b[0m\n\x1b[2m──┼──\x1b[0m\nc\x1b[2m │ \x1b[0md\n"
    );
}

#[test]
fn code_is_highlighted_across_lines() {
    assert_eq!(
        render("```rust\nlet a = \"b\n1\";\n```", colored(80)),
        "\x1b[2mrust\x1b[0m\n\x1b[35mlet\x1b[0m a = \x1b[32m\"b\x1b[0m\n\x1b[32m1\"\x1b[0m;\n"
    );
    assert_eq!(render("```\nlet a\n```", colored(80)), "let a\n");
    assert_eq!(render("```klingon\nlet a\n```", colored(80)), "\x1b[2mklingon\x1b[0m\nlet a\n");
    assert_eq!(
        render("```diff\n-a\n+b\n```", colored(80)),
        "\x1b[2mdiff\x1b[0m\n\x1b[31m-a\x1b[0m\n\x1b[32m+b\x1b[0m\n"
    );
}

#[test]
fn links_are_passed_to_the_terminal_or_shown() {
    let text = "[a](https://a.example) <https://b.example> https://c.example. [d](d.md)";
    assert_eq!(
        render(text, plain(80)),
        "a (https://a.example) https://b.example https://c.example. d (d.md)\n"
    );
    let hyperlink = |text: &str, url: &str| format!("\x1b]8;;{url}\x1b\\\x1b[4m{text}\x1b[0m\x1b]8;;\x1b\\");
    let (a, b, c) = ("https://a.example", "https://b.example", "https://c.example");
    assert_eq!(
        render(text, TerminalStyle { width: 80, color: true, links: true }),
        format!(
            "{} {} {}. \x1b[4md\x1b[0m\x1b[2m (d.md)\x1b[0m\n",
            hyperlink("a", a),
            hyperlink(b, b),
            hyperlink(c, c)
        )
    );
    // A link that spans two lines is repeated on each.
    assert_eq!(
        render("[a b](https://a.example)", TerminalStyle { width: 2, color: true, links: true }),
        format!("{}\n{}\n", hyperlink("a", a), hyperlink("b", a))
    );
}

#[test]
fn diffs_are_colored() {
    let text = "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(color_diff(text, plain(40)), text);
    assert!(color_diff(text, colored(40)).contains("\x1b[31m-x\x1b[0m\n\x1b[32m+y\x1b[0m\n"));
}
