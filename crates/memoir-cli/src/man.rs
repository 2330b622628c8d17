//! The man pages, derived from the declaration of the command line.

use clap_mangen::Man;

use crate::args::command_line;

/// Date in the pages, which is that of the last change of the commands.
const DATE: &str = "2026-11-18";

/// Maximum number of bytes in a line of the source.
const MAX_LINE: usize = 78;

/// Returns the man page of the program in roff format.
pub fn man_page() -> String {
    render(&built())
}

/// Returns the man pages of the program and of all its commands, each with the name of its file.
pub(crate) fn all_pages() -> Vec<(String, String)> {
    let mut pages = Vec::new();
    add_pages(&built(), &mut pages);
    pages
}

fn built() -> clap::Command {
    let mut command = command_line().disable_help_subcommand(true);
    command.build();
    command
}

fn add_pages(command: &clap::Command, pages: &mut Vec<(String, String)>) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    pages.push((format!("{name}.1"), render(command)));
    let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
    shown.for_each(|command| add_pages(command, pages));
}

fn render(command: &clap::Command) -> String {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = Man::new(command.clone()).date(DATE).render(&mut page);
    tidy(&String::from_utf8_lossy(&page))
}

/// Changes what `mandoc` warns about: breaks next to empty lines, long lines and a title in lower case.
fn tidy(page: &str) -> String {
    let lines: Vec<&str> = page.lines().collect();
    let mut out = String::new();
    for (index, line) in lines.iter().map(|line| line.trim_end()).enumerate() {
        let neighbors = [index.checked_sub(1), Some(index + 1)].into_iter().flatten();
        let is_next_to_space = neighbors.filter_map(|index| lines.get(index)).any(|line| is_space(line));
        if line == ".br" && is_next_to_space {
            continue;
        }
        match line.strip_prefix(".TH ").and_then(|rest| rest.split_once(' ')) {
            Some((title, rest)) => out.push_str(&format!(".TH {} {rest}\n", title.to_uppercase())),
            None if line.starts_with('.') => out.push_str(&format!("{line}\n")),
            None => wrap(line, &mut out),
        }
    }
    out
}

fn is_space(line: &str) -> bool {
    line.is_empty() || [".sp", ".PP", ".TP", ".SH", ".RS", ".RE"].iter().any(|space| line.starts_with(space))
}

/// Breaks a line of text between words. No line starts with a character that has a meaning there.
fn wrap(line: &str, out: &mut String) {
    let mut length = 0;
    for (index, word) in line.split(' ').enumerate() {
        let fits = length + 1 + word.len() <= MAX_LINE || word.starts_with(['.', '\'']) || word.is_empty();
        if index > 0 {
            out.push(if fits { ' ' } else { '\n' });
            length = if fits { length + 1 } else { 0 };
        }
        out.push_str(word);
        length += word.len();
    }
    out.push('\n');
}
