//! Showing Markdown. HTML in it is shown as text, nothing is loaded from elsewhere, and links lead only to pages.

use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html::push_html};

use super::text::plain;

/// Maximum length of a text that is shown as Markdown, in bytes. Longer ones are shown as they are.
const MAX_BYTES: usize = 200_000;

/// Returns Markdown as HTML.
pub(super) fn render(text: &str) -> Markup {
    let text = plain(text);
    if text.len() > MAX_BYTES {
        return html! { pre.raw { (text) } };
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events = Parser::new_ext(&text, options).map(make_safe);
    let mut output = String::with_capacity(text.len() * 3 / 2);
    push_html(&mut output, events);
    html! { div.prose dir="auto" { (PreEscaped(output)) } }
}

fn make_safe(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        // A single line break was meant as one.
        Event::SoftBreak => Event::HardBreak,
        // The text of an image is enough, and loading it would tell its server.
        Event::Start(Tag::Image { dest_url, .. }) => link(dest_url),
        Event::End(TagEnd::Image) => Event::End(TagEnd::Link),
        Event::Start(Tag::Link { dest_url, .. }) => link(dest_url),
        // Ids of headings could be those of the page.
        Event::Start(Tag::Heading { level, .. }) => {
            Event::Start(Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() })
        }
        other => other,
    }
}

/// Returns the beginning of a link. One that would run a script leads nowhere.
fn link(address: CowStr<'_>) -> Event<'_> {
    let is_page = ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| address.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    let dest_url = if is_page { address } else { CowStr::Borrowed("#content") };
    let (title, id) = (CowStr::Borrowed(""), CowStr::Borrowed(""));
    Event::Start(Tag::Link { link_type: LinkType::Inline, dest_url, title, id })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_and_scripts_are_text_and_images_are_links() {
        let hostile = "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> [a](javascript:alert(1)) \
                       [b](JaVaScRiPt:x) [c](data:text/html,x) [d](//evil.example) ![e](https://evil.example/p.png)\n\n\
                       # T {#content onclick=x}\n\n[f](https://ok.example \"\\\" onclick=x\")";
        let shown = render(hostile).into_string();
        for harmful in
            ["<script", "<img", "javascript:", "data:", "\"//evil", "onclick=x\"", "id=\"content\""]
        {
            assert!(!shown.to_lowercase().contains(harmful), "{harmful}: {shown}");
        }
        assert!(shown.contains("href=\"https://evil.example/p.png\"") && shown.contains("&lt;script&gt;"));
        assert!(shown.contains("href=\"https://ok.example\""), "{shown}");
    }

    #[test]
    fn usual_markdown_is_shown_as_such() {
        let shown = render("Use **this**:\n\n- `a`\n\n| x |\n|---|\n| 1 |").into_string();
        assert!(
            shown.contains("<strong>this</strong>") && shown.contains("<li><code>a</code></li>"),
            "{shown}"
        );
        assert!(shown.contains("<td>1</td>"), "{shown}");
    }
}
