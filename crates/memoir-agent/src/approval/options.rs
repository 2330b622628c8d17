//! Options with which a harmless command writes files or runs other programs.

/// What the names of such options contain: `git log --output=x`, `find -delete`, `sort --compress-program=x`.
const NAMES: [&str; 27] = [
    "action", "command", "config", "create", "delete", "dest", "dump", "edit", "eval", "exec", "export",
    "ext-diff", "file", "fls", "fprint", "install", "load", "log", "output", "pack", "pager", "place",
    "program", "save", "script", "textconv", "write",
];

/// Short options with the same effects: an output file (`sort -o`), a program (`git grep -O`, `tar -I`), a config (`-c`),
/// an expression of a language (`-e`), editing in place (`-i`), a confirmed command (`find -ok`).
const LETTERS: &str = "oOIceik";

/// Returns whether an argument may be an option that makes a command write a file or run a program. Errs on the side
/// of yes, because the user is only asked then.
pub(super) fn may_write_or_run(argument: &str) -> bool {
    let Some(option) = argument.strip_prefix('-') else { return false };
    let (long, name) = match option.strip_prefix('-') {
        Some(name) => (true, name),
        None => (false, option),
    };
    let name = name.split(['=', ' ']).next().unwrap_or_default().to_lowercase();
    // Many programs accept the beginning of a long option for all of it.
    let may_be = |dangerous: &str| {
        name.contains(dangerous) || (long && !name.is_empty() && dangerous.starts_with(&name))
    };
    NAMES.iter().any(|dangerous| may_be(dangerous))
        || (!long && option.contains(|letter| LETTERS.contains(letter)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_write_or_run_are_recognized() {
        for option in [
            "--output=x",
            "--output",
            "--outp=x",
            "--OUTPUT=x",
            "-o",
            "-ox",
            "-so",
            "-delete",
            "-exec",
            "-execdir",
            "-fprintf",
            "--ext-diff",
            "--open-files-in-pager=sh",
            "-Osh",
            "--in-place",
            "-i.bak",
            "--upload-pack=x",
            "--to-command=x",
            "--checkpoint-action=exec=x",
            "-c",
            "--config=x",
            "--compress-program=x",
            "-e",
            "--use-compress-program=x",
        ] {
            assert!(may_write_or_run(option), "{option}");
        }
        for option in [
            "-s",
            "-la",
            "--oneline",
            "--stat",
            "-n",
            "--since=last week",
            "x",
            "src/-o",
            "-p",
            "--nocapture",
            "--",
            "-10",
        ] {
            assert!(!may_write_or_run(option), "{option}");
        }
    }
}
