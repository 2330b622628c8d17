//! The evaluation set: 150 texts with secrets and 150 that only look as if they had some.

use std::collections::BTreeMap;

use memoir_redact::find;
use serde::Deserialize;

/// One text. Secrets are stored backwards and apart from the text, so that scanners do not flag the file.
#[derive(Deserialize)]
pub(crate) struct Text {
    pub(crate) note: String,
    pub(crate) half: String,
    text: String,
    secrets: Vec<String>,
}

/// Right and wrong findings in a half of the set.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) secrets: usize,
    pub(crate) found: usize,
    pub(crate) findings: usize,
    pub(crate) right: usize,
    /// Texts without secrets, and those of them that stay as they are.
    pub(crate) harmless: usize,
    pub(crate) unchanged: usize,
}

impl Figures {
    pub(crate) fn precision(self) -> f64 {
        100.0 * self.right as f64 / self.findings.max(1) as f64
    }

    pub(crate) fn recall(self) -> f64 {
        100.0 * self.found as f64 / self.secrets.max(1) as f64
    }
}

impl Text {
    /// Returns the text and the positions of its secrets.
    pub(crate) fn assemble(&self) -> (String, Vec<std::ops::Range<usize>>) {
        let secrets: Vec<String> = self.secrets.iter().map(|secret| secret.chars().rev().collect()).collect();
        let (mut text, mut ranges) = (String::new(), Vec::new());
        let mut rest = self.text.as_str();
        while let Some((before, after)) = rest.split_once('⟦') {
            text.push_str(before);
            let Some((number, after)) = after.split_once('⟧') else { break };
            let secret = number.parse::<usize>().ok().and_then(|number| secrets.get(number));
            let start = text.len();
            text.push_str(secret.map_or("", String::as_str));
            ranges.push(start..text.len());
            rest = after;
        }
        text.push_str(rest);
        (text, ranges)
    }
}

/// Returns all texts.
pub(crate) fn texts() -> impl Iterator<Item = Text> {
    include_str!("texts.jsonl").lines().filter_map(|line| serde_json::from_str(line).ok())
}

/// Measures each half, and calls `explain` with every mistake.
pub(crate) fn measure(mut explain: impl FnMut(&str, &Text, &str)) -> BTreeMap<String, Figures> {
    let mut halves: BTreeMap<String, Figures> = BTreeMap::new();
    for case in texts() {
        let (text, secrets) = case.assemble();
        let findings = find(&text);
        let figures = halves.entry(case.half.clone()).or_default();
        figures.secrets += secrets.len();
        figures.findings += findings.len();
        for secret in &secrets {
            // Found is what leaves no part of six or more characters behind.
            let mut left = secret.clone();
            for finding in &findings {
                if finding.range.start <= left.start + 5 && finding.range.end + 5 >= left.end {
                    left = 0..0;
                }
            }
            match left.is_empty() {
                true => figures.found += 1,
                false => explain("missed", &case, &text[secret.clone()]),
            }
        }
        for finding in &findings {
            // Right is what lies within a secret, give or take its quotes and prefix.
            let is_right = secrets.iter().any(|secret| {
                finding.range.start + 24 >= secret.start
                    && finding.range.end <= secret.end + 4
                    && finding.range.start < secret.end
                    && secret.start < finding.range.end
            });
            match is_right {
                true => figures.right += 1,
                false => explain("wrong", &case, &text[finding.range.clone()]),
            }
        }
        if secrets.is_empty() {
            figures.harmless += 1;
            figures.unchanged += usize::from(findings.is_empty());
        }
    }
    halves
}
