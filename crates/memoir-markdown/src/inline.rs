//! Parses a complete block into styled text with links and line breaks, or into a table.

use anstyle::{AnsiColor, Effects, Style};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream};

use crate::{
    TerminalStyle, clean, link,
    span::{StyledLine, StyledSpan, colored},
    table::TableBlock,
};

const CODE: Style = colored(AnsiColor::Cyan);

#[derive(Debug)]
pub(crate) enum ParsedBlock {
    /// Text that has not been wrapped yet.
    Text(StyledLine),
    Table(TableBlock),
    Rule,
}

/// Parses a paragraph, a heading or a table.
///
/// References are not resolved, because their definitions usually come after they have been written.
/// Definitions are therefore shown verbatim.
pub(crate) fn parse(source: &str, terminal: TerminalStyle) -> Vec<ParsedBlock> {
    let blocks = parse_blocks(source, terminal).or_else(|| parse_blocks(&format!("\\{source}"), terminal));
    blocks.filter(|blocks| !blocks.is_empty()).unwrap_or_else(|| vec![literal(source)])
}

/// Returns the source as verbatim text.
pub(crate) fn literal(source: &str) -> ParsedBlock {
    ParsedBlock::Text(vec![StyledSpan { verbatim: true, ..StyledSpan::plain(source) }])
}

/// Returns `None` if the source defines references, or contains containers or code blocks, which `Blocks` handles.
fn parse_blocks(source: &str, terminal: TerminalStyle) -> Option<Vec<ParsedBlock>> {
    let parser = Parser::new_ext(source, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    if parser.reference_definitions().iter().next().is_some() {
        return None;
    }
    let mut builder = BlockBuilder::new(terminal);
    for event in TextMergeStream::new(parser) {
        builder.handle(event)?;
    }
    Some(builder.blocks)
}

struct BlockBuilder {
    terminal: TerminalStyle,
    blocks: Vec<ParsedBlock>,
    text: StyledLine,
    style: Style,
    /// Styles of the enclosing elements.
    outer_styles: Vec<Style>,
    /// Index of the first span and URL of each open link or image.
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
            outer_styles: Vec::new(),
            links: Vec::new(),
            table: None,
            row: Vec::new(),
        }
    }

    fn handle(&mut self, event: Event<'_>) -> Option<()> {
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
                self.begin(heading_effects(level), &format!("{} ", "#".repeat(level as usize)));
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

    fn end_link(&mut self, add_link: fn(&mut StyledLine, usize, &str, TerminalStyle)) {
        if let Some((start, url)) = self.links.pop() {
            add_link(&mut self.text, start, &url, self.terminal);
        }
    }

    /// Starts a style, shown by its Markdown marker if the terminal has no color.
    fn begin(&mut self, effects: Effects, marker: &str) {
        self.outer_styles.push(self.style);
        self.style = self.style.effects(self.style.get_effects() | effects);
        self.put_marker(marker);
    }

    fn leave(&mut self, marker: &str) {
        self.style = self.outer_styles.pop().unwrap_or_default();
        self.put_marker(marker);
    }

    fn put_marker(&mut self, marker: &str) {
        if !self.terminal.color && !marker.is_empty() {
            self.put(marker);
        }
    }

    fn put(&mut self, text: &str) {
        self.text.push(StyledSpan::new(text, self.style));
    }

    fn put_text(&mut self, text: &str) {
        if self.terminal.links && self.terminal.color && self.links.is_empty() {
            link::add_text(&mut self.text, text, self.style, self.terminal);
        } else {
            self.put(text);
        }
    }

    fn put_code(&mut self, code: &str) {
        let text = if self.terminal.color { code.to_owned() } else { with_backticks(code) };
        let style = CODE.effects(self.style.get_effects());
        self.text.push(StyledSpan { verbatim: true, ..StyledSpan::new(text, style) });
    }
}

fn heading_effects(level: HeadingLevel) -> Effects {
    match level {
        HeadingLevel::H1 => Effects::BOLD | Effects::UNDERLINE,
        HeadingLevel::H2 => Effects::BOLD,
        _ => Effects::BOLD | Effects::ITALIC,
    }
}

/// Encloses code in one backtick more than its longest run of them.
fn with_backticks(code: &str) -> String {
    let longest_run = code.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    let backticks = "`".repeat(longest_run + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{backticks}{pad}{code}{pad}{backticks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: TerminalStyle = TerminalStyle { width: 80, color: true, links: false };
    const PLAIN: TerminalStyle = TerminalStyle { color: false, ..TERMINAL };

    fn texts(source: &str, terminal: TerminalStyle) -> Vec<String> {
        let text = |line: &StyledLine| line.iter().map(|span| span.text.as_str()).collect::<String>();
        let block = |block: &ParsedBlock| match block {
            ParsedBlock::Text(line) => text(line),
            ParsedBlock::Table(table) => format!("{} rows", table.rows.len()),
            ParsedBlock::Rule => "rule".into(),
        };
        parse(source, terminal).iter().map(block).collect()
    }

    #[test]
    fn markers_are_kept_without_color() {
        let source = "__a__ _b_ ~~c~~ `d` ``e`f`` <b>g</b> \\*";
        assert_eq!(texts(source, PLAIN), ["**a** *b* ~~c~~ `d` ``e`f`` <b>g</b> *"]);
        assert_eq!(texts(source, TERMINAL), ["a b c d e`f <b>g</b> *"]);
        assert_eq!(texts("## a *b* ##", PLAIN), ["## a *b*"]);
        assert_eq!(texts("a\n===", PLAIN), ["# a"]);
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
    fn definitions_are_shown_verbatim() {
        for source in
            ["[1]: https://a.example 'title'", "[^1]: note", "[a\nb]: /url\ntext", "<!-- c -->\n[a]: b"]
        {
            assert_eq!(texts(source, PLAIN).join("").replace(' ', "\n"), source.replace(' ', "\n"));
        }
        assert_eq!(texts("see [^1] and [a][1]", PLAIN), ["see [^1] and [a][1]"]);
    }

    #[test]
    fn containers_and_html_are_shown_verbatim() {
        assert_eq!(texts("> a\n- b", PLAIN), ["> a\n- b"]);
        assert_eq!(texts("<div>\n  *a*\n</div>", PLAIN), ["<div>\n  *a*\n</div>"]);
        assert_eq!(texts("a|b\n-|-\n1|2\n---", PLAIN), ["2 rows", "rule"]);
    }

    #[test]
    fn character_references_are_cleaned_too() {
        assert_eq!(texts("a&#27;[31m&#x202e;b [c](x&#27;y)", PLAIN), ["a�[31m�b c (x�y)"]);
    }
}
