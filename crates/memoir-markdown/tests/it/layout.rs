//! Layout of paragraphs, lists, quotes, tables and code.

use crate::{plain, render};

const FRUIT: &str = "\
| Fruit | 数量 | Note |
|:------|-----:|:----:|
| 林檎 🍎 | 12 | `red` |
| Banana | 3 | a longer note about **bananas** and such |
";

#[test]
fn paragraphs_are_wrapped_to_the_width() {
    let text = "# A *heading*\n\nOne paragraph of words that\nis wrapped, with a  \nhard break.\nNext.\n";
    assert_eq!(
        render(text, plain(20)),
        "# A *heading*\n\nOne paragraph of\nwords that is\nwrapped, with a\nhard break. Next.\n"
    );
    assert_eq!(
        render(text, plain(40)),
        "# A *heading*\n\nOne paragraph of words that is wrapped,\nwith a\nhard break. Next.\n"
    );
    assert_eq!(
        render(text, plain(80)),
        "# A *heading*\n\nOne paragraph of words that is wrapped, with a\nhard break. Next.\n"
    );
}

#[test]
fn lists_are_nested_and_keep_their_numbers() {
    let text = "Before:\n- one\n- two of many words\n  1. deep\n  1. deeper\n\n     more\n- [ ] open\n- [x] done\n\n\
                7) seven\n9) nine\n\nAfter\n";
    assert_eq!(
        render(text, plain(16)),
        "Before:\n\n- one\n- two of many\n  words\n  1. deep\n  2. deeper\n\n     more\n- [ ] open\n- [x] done\n\n\
         7) seven\n9) nine\n\nAfter\n"
    );
}

#[test]
fn blank_lines_between_items_are_preserved() {
    assert_eq!(render("- a\n\n- b\n- c\n\n\n- d", plain(80)), "- a\n\n- b\n- c\n\n- d\n");
    assert_eq!(render("-\n- a\n-\n", plain(80)), "-\n- a\n-\n");
}

#[test]
fn quotes_have_a_bar() {
    let text = "> one two three\n> four\nfive\n>\n> - a\n>   > b\n\n> other\n";
    assert_eq!(render(text, plain(20)), "> one two three four\n> five\n>\n> - a\n>   > b\n\n> other\n");
}

#[test]
fn table_columns_are_aligned_by_display_width() {
    assert_eq!(
        render(FRUIT, plain(80)),
        "\
| Fruit   | 数量 |                   Note                   |
| ------- | ---: | :--------------------------------------: |
| 林檎 🍎 |   12 |                  `red`                   |
| Banana  |    3 | a longer note about **bananas** and such |
"
    );
}

#[test]
fn cells_of_a_wide_table_are_wrapped() {
    assert_eq!(
        render(FRUIT, plain(40)),
        "\
| Fruit   | 数量 |        Note         |
| ------- | ---: | :-----------------: |
| 林檎 🍎 |   12 |        `red`        |
| ------- | ---- | ------------------- |
| Banana  |    3 | a longer note about |
|         |      |   **bananas** and   |
|         |      |        such         |
"
    );
}

#[test]
fn a_very_wide_table_becomes_records() {
    assert_eq!(
        render(FRUIT, plain(20)),
        "\
Fruit: 林檎 🍎
数量: 12
Note: `red`

Fruit: Banana
数量: 3
Note: a longer note
about **bananas**
and such
"
    );
}

#[test]
fn code_is_shown_verbatim() {
    let line = "x".repeat(50);
    let text = format!(
        "Run:\n```sh\n\tif true; then  \n\n{line}\n```\n\n    indented\n1. Or\n   ~~~\n   a\n     b\n   ~~~\n"
    );
    assert_eq!(
        render(&text, plain(20)),
        format!(
            "Run:\n\n```sh\n\tif true; then  \n\n{line}\n```\n\n    indented\n\n1. Or\n   ~~~\n   a\n     b\n   ~~~\n"
        )
    );
}

#[test]
fn rules_images_html_and_footnotes() {
    let text = "a\n\n***\n<div>\n  <b>x</b>\n</div>\n\n![alt](i.png) ![](j.png)[^1]\n\n[^1]: note\n[b]: https://b.example\n";
    assert_eq!(
        render(text, plain(80)),
        "a\n\n---\n\n<div>\n  <b>x</b>\n</div>\n\nalt (i.png) j.png[^1]\n\n[^1]: note\n[b]: https://b.example\n"
    );
}
