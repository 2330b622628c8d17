//! The recording in the README: a real session with the demo, as an animated picture.

use std::{fmt::Write as _, fs, path::Path};

use memoir_testkit::{Terminal, TestHome};
use vt100::{Cell, Color, Screen};

use crate::{ChoreError, ChoreResult};

/// Rows and columns of the terminal.
const SIZE: (u16, u16) = (22, 92);

/// Width of a character in pixels.
const COLUMN: f64 = 8.4;
/// Height of a row in pixels.
const ROW: f64 = 18.0;

/// Each line to type, with the text to wait for.
const SESSION: [(&str, &str); 2] =
    [("Which two colours suit somebody who mixes up red and green?", "recalled"), ("/why", "score")];

/// A screen and its display time in milliseconds.
type RecordedFrame = (Screen, u32);

/// Records the session with the program at `binary`, and writes the picture.
pub(crate) fn record(root: &Path, binary: &Path) -> ChoreResult {
    let home = TestHome::new(binary);
    let terminal = Terminal::open(&home, None, SIZE, &["demo"]);
    terminal.wait_for_prompt();
    let mut frames: Vec<RecordedFrame> = vec![(terminal.screen(), 2500)];
    for (typed, shown) in &SESSION {
        let letters: Vec<char> = typed.chars().collect();
        for piece in letters.chunks(3) {
            terminal.type_keys(&piece.iter().collect::<String>());
            terminal
                .wait_until("the letters", |screen| screen.contains(piece.iter().collect::<String>().trim()));
            std::thread::sleep(std::time::Duration::from_millis(60));
            frames.push((terminal.screen(), 120));
        }
        terminal.type_keys("\r");
        terminal.wait_for(shown);
        terminal.wait_for_prompt();
        frames.push((terminal.screen(), 5000));
    }
    let picture = draw(&frames);
    let path = root.join("docs/recording.svg");
    fs::write(&path, &picture).map_err(|error| ChoreError::file(&path, error))?;
    Ok(format!("{} frames, {} kB.", frames.len(), picture.len() / 1024))
}

fn draw(frames: &[RecordedFrame]) -> String {
    let (rows, columns) = SIZE;
    let (width, height) = (f64::from(columns) * COLUMN + 24.0, f64::from(rows) * ROW + 24.0);
    let total: u32 = frames.iter().map(|(_, duration)| duration).sum();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"A session with memoir demo\">\n\
         <style>text{{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#d8dee9;white-space:pre}}g{{visibility:hidden}}\n"
    );
    let mut start = 0;
    for (number, (_, duration)) in frames.iter().enumerate() {
        let percent = |moment: u32| f64::from(moment) * 100.0 / f64::from(total);
        // Writing to a string cannot fail.
        let _ = writeln!(
            svg,
            "#f{number}{{animation:k{number} {total}ms step-end infinite}}@keyframes k{number}{{0%{{visibility:hidden}}{:.3}%{{visibility:visible}}{:.3}%,100%{{visibility:hidden}}}}",
            percent(start),
            percent(start + duration).min(99.999),
        );
        start += duration;
    }
    svg.push_str("</style>\n<rect width=\"100%\" height=\"100%\" rx=\"8\" fill=\"#20242c\"/>\n");
    for (number, (screen, _)) in frames.iter().enumerate() {
        let _ = writeln!(svg, "<g id=\"f{number}\">");
        for row in 0..rows {
            draw_row(screen, row, &mut svg);
        }
        svg.push_str("</g>\n");
    }
    svg.push_str("</svg>\n");
    svg
}

/// Draws a row as runs of one style.
fn draw_row(screen: &Screen, row: u16, svg: &mut String) {
    let y = 12.0 + f64::from(row + 1) * ROW - 4.0;
    let mut column = 0;
    while column < SIZE.1 {
        let Some(first) = screen.cell(row, column) else { return };
        let (start, style) = (column, style(first));
        let mut text = String::new();
        while let Some(cell) = screen.cell(row, column).filter(|cell| self::style(cell) == style) {
            if !cell.is_wide_continuation() {
                text.push_str(if cell.has_contents() { cell.contents() } else { " " });
            }
            column += 1;
        }
        if !text.trim().is_empty() {
            let x = 12.0 + f64::from(start) * COLUMN;
            let text = text.trim_end().replace('&', "&amp;").replace('<', "&lt;");
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\"{style}>{text}</text>");
        }
    }
}

/// Returns the style of a cell as SVG attributes.
fn style(cell: &Cell) -> String {
    let mut style = String::new();
    if let Color::Idx(number) = cell.fgcolor() {
        const PALETTE: [&str; 8] =
            ["#4c566a", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9"];
        let _ = write!(style, " fill=\"{}\"", PALETTE[usize::from(number) % 8]);
    }
    if cell.bold() {
        style.push_str(" font-weight=\"bold\"");
    }
    if cell.dim() {
        style.push_str(" opacity=\"0.6\"");
    }
    style
}
