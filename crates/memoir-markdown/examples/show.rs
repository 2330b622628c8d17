//! Renders a file line by line: `cargo run --example show -- FILE [WIDTH] [plain|links]`.
#![expect(clippy::print_stdout, reason = "the example writes to the terminal")]

use memoir_markdown::{Renderer, TerminalStyle};

fn main() -> Result<(), std::io::Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let text = std::fs::read_to_string(arguments.first().map_or("README.md", String::as_str))?;
    let width = arguments.get(1).and_then(|width| width.parse().ok()).unwrap_or(80);
    let mode = arguments.get(2).map(String::as_str);
    let mut renderer =
        Renderer::new(TerminalStyle { width, color: mode != Some("plain"), links: mode == Some("links") });
    for line in text.split_inclusive('\n') {
        print!("{}", renderer.push(line));
    }
    print!("{}", renderer.finish());
    Ok(())
}
