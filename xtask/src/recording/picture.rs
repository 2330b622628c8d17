//! Draws a recording as an SVG file that needs no script.

use std::{collections::BTreeMap, fmt::Write as _};

use vt100::{Cell, Color, Screen};

use super::{RecordedFrame, SIZE};

/// Width of a character in pixels.
const COLUMN: f64 = 8.4;
/// Height of a row in pixels.
const ROW: f64 = 18.0;
/// Margin in pixels.
const MARGIN: f64 = 12.0;

/// A period in milliseconds since the start of the recording.
type Period = (u128, u128);

/// Draws the frames. Rows that do not change are drawn once. Where animation is not wanted, the last frame is shown.
pub(super) fn draw(frames: &[RecordedFrame], title: &str) -> String {
    let (rows, columns) = SIZE;
    let (width, height) = (f64::from(columns) * COLUMN + 2.0 * MARGIN, f64::from(rows) * ROW + 2.0 * MARGIN);
    let total = frames.iter().map(|frame| frame.duration.as_millis()).sum();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{title}\" \
         fill=\"#d8dee9\" xml:space=\"preserve\">\n\
         <style>text{{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre}}\n"
    );
    let periods = group_by_period(frames);
    for (number, &period) in periods.keys().enumerate().filter(|(_, period)| **period != (0, total)) {
        svg.push_str(&animation(number, period, total));
    }
    svg.push_str("</style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#20242c\"/>\n");
    for (number, drawing) in periods.values().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(svg, "<g id=\"f{number}\">\n{drawing}</g>");
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws every row once for each period in which it stays the same, and groups rows that appear and disappear together.
fn group_by_period(frames: &[RecordedFrame]) -> BTreeMap<Period, String> {
    let mut periods: BTreeMap<Period, String> = BTreeMap::new();
    for row in 0..SIZE.0 {
        let mut shown = (String::new(), 0);
        let mut now = 0;
        for frame in frames {
            let drawing = draw_row(&frame.screen, row);
            if drawing != shown.0 {
                let (previous, start) = std::mem::replace(&mut shown, (drawing, now));
                add(&mut periods, (start, now), &previous);
            }
            now += frame.duration.as_millis();
        }
        add(&mut periods, (shown.1, now), &shown.0);
    }
    periods
}

fn add(periods: &mut BTreeMap<Period, String>, period: Period, drawing: &str) {
    if !drawing.is_empty() {
        periods.entry(period).or_default().push_str(drawing);
    }
}

/// Returns the style rules that show a group only in its period.
fn animation(number: usize, (start, end): Period, total: u128) -> String {
    let percent = |moment: u128| moment as f64 * 100.0 / total as f64;
    let (start_percent, end_percent) = (percent(start), percent(end));
    // The keyframe at the start of a recording would otherwise contradict the first one.
    let before = if start == 0 { String::new() } else { "0%{visibility:hidden}".to_owned() };
    let after = if end == total {
        "100%{visibility:visible}".to_owned()
    } else {
        format!("{end_percent:.3}%,100%{{visibility:hidden}}")
    };
    let at_rest = if end == total { "visible" } else { "hidden" };
    format!(
        "#f{number}{{visibility:{at_rest}}}@keyframes k{number}{{{before}{start_percent:.3}%{{visibility:visible}}{after}}}\
         @media (prefers-reduced-motion:no-preference){{#f{number}{{animation:k{number} {total}ms step-end infinite}}}}\n"
    )
}

/// Draws a row as runs of one style, and the cursor if it is there.
fn draw_row(screen: &Screen, row: u16) -> String {
    let top = MARGIN + f64::from(row) * ROW;
    let mut drawing = String::new();
    if !screen.hide_cursor() && screen.cursor_position().0 == row {
        let x = MARGIN + f64::from(screen.cursor_position().1) * COLUMN;
        let _ = writeln!(
            drawing,
            "<rect x=\"{x:.1}\" y=\"{top:.1}\" width=\"{COLUMN}\" height=\"{ROW}\" fill=\"#7b88a1\"/>"
        );
    }
    let baseline = top + ROW - 4.0;
    let mut column = 0;
    while column < SIZE.1 {
        let Some(first) = screen.cell(row, column) else { break };
        let (start, style) = (column, style(first));
        let mut text = String::new();
        while let Some(cell) = screen.cell(row, column).filter(|cell| self::style(cell) == style) {
            if !cell.is_wide_continuation() {
                text.push_str(if cell.has_contents() { cell.contents() } else { " " });
            }
            column += 1;
        }
        if !text.trim().is_empty() {
            let x = MARGIN + f64::from(start) * COLUMN;
            let text = text.trim_end().replace('&', "&amp;").replace('<', "&lt;");
            let _ = writeln!(drawing, "<text x=\"{x:.1}\" y=\"{baseline:.1}\"{style}>{text}</text>");
        }
    }
    drawing
}

/// Returns the style of a cell as SVG attributes.
fn style(cell: &Cell) -> String {
    let mut style = String::new();
    match cell.fgcolor() {
        Color::Idx(number) => {
            const PALETTE: [&str; 8] =
                ["#4c566a", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9"];
            let _ = write!(style, " fill=\"{}\"", PALETTE[usize::from(number) % PALETTE.len()]);
        }
        Color::Rgb(red, green, blue) => {
            let _ = write!(style, " fill=\"#{red:02x}{green:02x}{blue:02x}\"");
        }
        Color::Default => {}
    }
    if cell.bold() {
        style.push_str(" font-weight=\"bold\"");
    }
    if cell.dim() {
        style.push_str(" opacity=\"0.6\"");
    }
    style
}
