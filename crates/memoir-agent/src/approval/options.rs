//! Which arguments may follow an allowed command. Options can make a harmless command write files or run other programs,
//! and programs accept them in many spellings, so only those that are known to be harmless are accepted.

/// Options that no common program uses to write a file or run a program, without their dashes.
const HARMLESS: [&str; 74] = [
    "all",
    "all-features",
    "all-targets",
    "author",
    "bins",
    "cached",
    "color",
    "context",
    "count",
    "decorate",
    "doc",
    "empty",
    "exact",
    "examples",
    "first-parent",
    "follow",
    "format",
    "graph",
    "grep",
    "help",
    "hidden",
    "human-readable",
    "ignore-case",
    "ignored",
    "iname",
    "ipath",
    "lib",
    "line-number",
    "long",
    "max-count",
    "max-depth",
    "maxdepth",
    "merges",
    "mindepth",
    "mmin",
    "mtime",
    "name",
    "name-only",
    "name-status",
    "newer",
    "no-color",
    "no-fail-fast",
    "no-merges",
    "no-pager",
    "nocapture",
    "numstat",
    "oneline",
    "package",
    "patch",
    "path",
    "porcelain",
    "pretty",
    "print",
    "print0",
    "quiet",
    "race",
    "recursive",
    "release",
    "reverse",
    "run",
    "short",
    "shortstat",
    "since",
    "size",
    "sort",
    "staged",
    "stat",
    "test",
    "test-threads",
    "tests",
    "type",
    "until",
    "verbose",
    "version",
];

/// Short options that are harmless, alone or together.
const HARMLESS_LETTERS: &str = "aAhlnpqrRstuvz0123456789";

/// Returns whether a word that follows an allowed command may make it write a file or run a program. Errs on the side
/// of yes, because the user is only asked then.
pub(super) fn may_write_or_run(word: &str) -> bool {
    let Some(option) = word.strip_prefix('-') else {
        // A variable of `make`, or a file with further arguments.
        return word.contains('=') || word.starts_with('@');
    };
    let is_short = !option.starts_with('-');
    let name = option.trim_start_matches('-').split('=').next().unwrap_or_default();
    let is_harmless = name.is_empty()
        || HARMLESS.contains(&name)
        || (is_short && option.chars().all(|letter| HARMLESS_LETTERS.contains(letter)));
    !is_harmless
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_options_are_accepted() {
        for word in [
            "--output=x",
            "--output",
            "--outp=x",
            "-o",
            "-ox",
            "-so",
            "-delete",
            "-exec",
            "-fprintf",
            "--ext-diff",
            "--op=x",
            "-Osh",
            "--in-place",
            "-i.bak",
            "--upl=x",
            "--to-command=x",
            "--checkpoint-ac=exec=x",
            "-c",
            "--comp=x",
            "-e",
            "CC=touch",
            "@args",
            "-f",
            "-C",
            "--prefix",
            "--pre",
            "--junitxml=x",
            "--ldflags=x",
            "--fix",
            "--target-dir=x",
            "--manifest-path=x",
            "--debug",
            "-E",
        ] {
            assert!(may_write_or_run(word), "{word}");
        }
        for word in [
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
            "-name",
            "*.rs",
        ] {
            assert!(!may_write_or_run(word), "{word}");
        }
    }
}
