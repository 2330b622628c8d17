//! A block that is complete, parsed: its text with styles, links and breaks, or a table.

use anstyle::{AnsiColor, Effects, Style};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream};

use crate::{
    TerminalStyle, clean, link,
    span::{StyledLine, StyledSpan, colored},
    table::TableBlock,
};

const CODE: Style = colored(AnsiColor::Cyan);

/// A part of what is shown.
#[derive(Debug)]
pub(crate) enum ParsedBlock {
    /// To be wrapped.
    Text(StyledLine),
    /// To be laid out.
    Table(TableBlock),
    /// From side to side.
    Rule,
}

/// Parses a paragraph, a heading or a table.
///
/// References are not resolved: what they refer to mostly follows when they are shown already. A definition is therefore
/// shown as it stands and does not vanish.
pub(crate) fn parse(source: &str, terminal: TerminalStyle) -> Vec<ParsedBlock> {
    let parsed = blocks(source, terminal).or_else(|| blocks(&format!("\\{source}"), terminal));
    parsed.filter(|blocks| !blocks.is_empty()).unwrap_or_else(|| vec![literal(source)])
}

/// Text as it was written.
pub(crate) fn literal(source: &str) -> ParsedBlock {
    ParsedBlock::Text(vec![StyledSpan { verbatim: true, ..StyledSpan::plain(source) }])
}

/// `None` where the source defines references, or holds what was to be taken care of before.
fn blocks(source: &str, terminal: TerminalStyle) -> Option<Vec<ParsedBlock>> {
    let parser = Parser::new_ext(source, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    if parser.reference_definitions().iter().next().is_some() {
        return None;
    }
    let mut builder = BlockBuilder::new(terminal);
    for event in TextMergeStream::new(parser) {
        builder.take(event)?;
    }
    Some(builder.blocks)
}

struct BlockBuilder {
    terminal: TerminalStyle,
    blocks: Vec<ParsedBlock>,
    text: StyledLine,
    style: Style,
    /// The styles around this one.
    outer: Vec<Style>,
    /// Where each link or image that is open begins, and its address.
    links: Vec<(usize, String)>,
    table: Option<TableBlock>,
    row: Vec<StyledLine>,
}

impl BlockBuilder {
    fn new(terminal: TerminalStyle) -> Self {
        Self {
            terminal,
            blocks: Vec::new(),
            text: StyledLine::new(),
            style: Style::new(),
            outer: Vec::new(),
            links: Vec::new(),
            table: None,
            row: Vec::new(),
        }
    }

    fn take(&mut self, event: Event<'_>) -> Option<()> {
        match event {
            Event::Start(tag) => self.start(tag)?,
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.put_text(&clean::text(&text)),
            Event::Code(code) => self.put_code(&clean::text(&code)),
            Event::Html(html) => {
                let html = clean::text(&html).into_owned();
                self.text.push(StyledSpan { verbatim: true, ..StyledSpan::plain(html) });
            }
            Event::InlineHtml(html) => self.put(&clean::text(&html)),
            Event::SoftBreak => self.put(" "),
            Event::HardBreak => self.put("\n"),
            Event::Rule => self.blocks.push(ParsedBlock::Rule),
            Event::InlineMath(_)
            | Event::DisplayMath(_)
            | Event::FootnoteReference(_)
            | Event::TaskListMarker(_) => return None,
        }
        Some(())
    }

    fn start(&mut self, tag: Tag<'_>) -> Option<()> {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock | Tag::TableRow | Tag::TableCell => {}
            Tag::Heading { level, .. } => {
                self.begin(heading(level), &format!("{} ", "#".repeat(level as usize)));
            }
            Tag::Emphasis => self.begin(Effects::ITALIC, "*"),
            Tag::Strong => self.begin(Effects::BOLD, "**"),
            Tag::Strikethrough => self.begin(Effects::STRIKETHROUGH, "~~"),
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                self.links.push((self.text.len(), clean::text(&dest_url).into_owned()));
            }
            Tag::Table(alignments) => self.table = Some(TableBlock::new(alignments)),
            Tag::TableHead => self.begin(Effects::BOLD, ""),
            _ => return None,
        }
        Some(())
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_text(),
            TagEnd::Heading(_) => {
                self.leave("");
                self.end_text();
            }
            TagEnd::Emphasis => self.leave("*"),
            TagEnd::Strong => self.leave("**"),
            TagEnd::Strikethrough => self.leave("~~"),
            TagEnd::Link => self.end_link(link::link),
            TagEnd::Image => self.end_link(link::image),
            TagEnd::Table => self.blocks.extend(self.table.take().map(ParsedBlock::Table)),
            TagEnd::TableHead => {
                self.leave("");
                self.end_row();
            }
            TagEnd::TableRow => self.end_row(),
            TagEnd::TableCell => self.row.push(std::mem::take(&mut self.text)),
            _ => {}
        }
    }

    fn end_text(&mut self) {
        self.blocks.push(ParsedBlock::Text(std::mem::take(&mut self.text)));
    }

    fn end_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        if let Some(table) = &mut self.table {
            table.rows.push(row);
        }
    }

    fn end_link(&mut self, make: fn(&mut StyledLine, usize, &str, TerminalStyle)) {
        if let Some((from, url)) = self.links.pop() {
            make(&mut self.text, from, &url, self.terminal);
        }
    }

    /// A style begins; without colour its mark does.
    fn begin(&mut self, effects: Effects, mark: &str) {
        self.outer.push(self.style);
        self.style = self.style.effects(self.style.get_effects() | effects);
        self.put_mark(mark);
    }

    fn leave(&mut self, mark: &str) {
        self.style = self.outer.pop().unwrap_or_default();
        self.put_mark(mark);
    }

    fn put_mark(&mut self, mark: &str) {
        if !self.terminal.color && !mark.is_empty() {
            self.put(mark);
        }
    }

    fn put(&mut self, text: &str) {
        self.text.push(StyledSpan::new(text, self.style));
    }

    fn put_text(&mut self, text: &str) {
        if self.terminal.links && self.terminal.color && self.links.is_empty() {
            link::bare(&mut self.text, text, self.style, self.terminal);
        } else {
            self.put(text);
        }
    }

    fn put_code(&mut self, code: &str) {
        let text = if self.terminal.color { code.to_owned() } else { ticked(code) };
        let style = CODE.effects(self.style.get_effects());
        self.text.push(StyledSpan { verbatim: true, ..StyledSpan::new(text, style) });
    }
}

fn heading(level: HeadingLevel) -> Effects {
    match level {
        HeadingLevel::H1 => Effects::BOLD | Effects::UNDERLINE,
        HeadingLevel::H2 => Effects::BOLD,
        _ => Effects::BOLD | Effects::ITALIC,
    }
}

/// Code between as many ticks as it takes.
fn ticked(code: &str) -> String {
    let longest = code.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{code}{pad}{ticks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: TerminalStyle = TerminalStyle { width: 80, color: true, links: false };
    const PLAIN: TerminalStyle = TerminalStyle { color: false, ..TERMINAL };

    fn shown(source: &str, terminal: TerminalStyle) -> Vec<String> {
        let text = |line: &StyledLine| line.iter().map(|span| span.text.as_str()).collect::<String>();
        let block = |block: &ParsedBlock| match block {
            ParsedBlock::Text(line) => text(line),
            ParsedBlock::Table(table) => format!("{} rows", table.rows.len()),
            ParsedBlock::Rule => "rule".into(),
        };
        parse(source, terminal).iter().map(block).collect()
    }

    #[test]
    fn without_colour_the_marks_stay() {
        let source = "__a__ _b_ ~~c~~ `d` ``e`f`` <b>g</b> \\*";
        assert_eq!(shown(source, PLAIN), ["**a** *b* ~~c~~ `d` ``e`f`` <b>g</b> *"]);
        assert_eq!(shown(source, TERMINAL), ["a b c d e`f <b>g</b> *"]);
        assert_eq!(shown("## a *b* ##", PLAIN), ["## a *b*"]);
        assert_eq!(shown("a\n===", PLAIN), ["# a"]);
    }

    #[test]
    fn styles_are_nested() {
        let ParsedBlock::Text(line) = &parse("**a *b* `c`** d", TERMINAL)[0] else { panic!() };
        let styles: Vec<_> = line.iter().map(|span| (span.text.as_str(), span.style)).collect();
        let bold = Style::new().bold();
        let code = CODE.bold();
        assert_eq!(
            styles,
            [("a ", bold), ("b", bold.italic()), (" ", bold), ("c", code), (" d", Style::new())]
        );
    }

    #[test]
    fn definitions_do_not_vanish() {
        for source in
            ["[1]: https://a.example 'title'", "[^1]: note", "[a\nb]: /url\ntext", "<!-- c -->\n[a]: b"]
        {
            assert_eq!(shown(source, PLAIN).join("").replace(' ', "\n"), source.replace(' ', "\n"));
        }
        assert_eq!(shown("see [^1] and [a][1]", PLAIN), ["see [^1] and [a][1]"]);
    }

    #[test]
    fn what_is_no_paragraph_is_shown_as_it_stands() {
        assert_eq!(shown("> a\n- b", PLAIN), ["> a\n- b"]);
        assert_eq!(shown("<div>\n  *a*\n</div>", PLAIN), ["<div>\n  *a*\n</div>"]);
        assert_eq!(shown("a|b\n-|-\n1|2\n---", PLAIN), ["2 rows", "rule"]);
    }

    #[test]
    fn characters_by_their_number_are_cleaned_too() {
        assert_eq!(shown("a&#27;[31m&#x202e;b [c](x&#27;y)", PLAIN), ["a�[31m�b c (x�y)"]);
    }
}
