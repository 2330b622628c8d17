//! Excerpts of long texts around the words of a question.

use std::{cmp::Reverse, ops::Range};

use memoir_core::content_words;

use crate::markdown::{HeadingPath, is_row, parse_heading, parse_item};

/// Maximum number of word occurrences to consider, which bounds the work for texts full of them.
const MAX_OCCURRENCES: usize = 100;

/// Returns the part of `text` that contains the most distinct `words`, on one line and with at most `length` characters.
/// Ellipses mark omitted text.
pub(crate) fn excerpt(text: &str, words: &[String], length: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let characters: Vec<char> = line.chars().collect();
    if characters.len() <= length {
        return line;
    }
    let start = best_start(&characters, words, length);
    let end = (start + length).min(characters.len());
    let before = if start > 0 { "…" } else { "" };
    let after = if end < characters.len() { "…" } else { "" };
    let part: String = characters[start..end].iter().collect();
    format!("{before}{}{after}", part.trim())
}

/// Returns an excerpt like [`excerpt`], from the part of `text` with this byte range unless another part contains more
/// of the `words`.
pub(crate) fn excerpt_part(
    text: &str,
    part: Option<&Range<usize>>,
    words: &[String],
    length: usize,
) -> String {
    let whole = excerpt(text, words, length);
    let Some((part, range)) = part.and_then(|range| Some((text.get(range.clone())?, range))) else {
        return whole;
    };
    let near = excerpt(part, words, length);
    if count_matches(&near, words) < count_matches(&whole, words) {
        return whole;
    }
    let before = if range.start > 0 && !near.starts_with('…') { "…" } else { "" };
    let after = if range.end < text.len() && !near.ends_with('…') { "…" } else { "" };
    format!("{before}{near}{after}")
}

/// Replaces the marks of headings, which mean nothing within a line, with a colon after each heading.
fn inline_headings(lines: &[&str]) -> String {
    let mut is_code = false;
    let mut inline = |line: &&str| {
        is_code ^= line.trim_start().starts_with("```");
        match parse_heading(line).filter(|_| !is_code) {
            Some((_, title)) if title.ends_with(char::is_alphanumeric) => format!("{title}:"),
            Some((_, title)) => title.to_owned(),
            None => (*line).to_owned(),
        }
    };
    lines.iter().map(&mut inline).collect::<Vec<_>>().join("\n")
}

/// Returns the number of `words` that a line contains.
fn count_matches(line: &str, words: &[String]) -> usize {
    let line_words = content_words(line);
    words.iter().filter(|word| line_words.iter().any(|other| is_form_of(other, word))).count()
}

/// Returns an excerpt of a Markdown text. A table or list stays one: the excerpt consists of the headings above it, the
/// header of the table, and as many lines as fit around the one with the most distinct `words`.
pub(crate) fn excerpt_markdown(text: &str, words: &[String], length: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let matches = |line: &str| count_matches(line, words);
    let best = (0..lines.len())
        .filter(|index| is_row(lines[*index]) || parse_item(lines[*index]).is_some())
        .max_by_key(|index| (matches(lines[*index]), Reverse(*index)));
    let Some(best) = best.filter(|best| lines.iter().all(|line| matches(line) <= matches(lines[*best])))
    else {
        return excerpt(&inline_headings(&lines), words, length);
    };
    let is_same = |line: &str| if is_row(lines[best]) { is_row(line) } else { parse_item(line).is_some() };
    let start = (0..best).rev().take_while(|index| is_same(lines[*index])).last().unwrap_or(best);
    let end = (best..lines.len()).take_while(|index| is_same(lines[*index])).last().unwrap_or(best);
    let mut chosen = vec![best];
    if is_row(lines[best]) {
        // The names of the columns and the line below them.
        chosen.extend((start..best).take(2));
    }
    let mut remaining = length.saturating_sub(chosen.iter().map(|index| lines[*index].len()).sum());
    for distance in 1..lines.len() {
        for index in [best.checked_sub(distance), Some(best + distance)].into_iter().flatten() {
            let line =
                lines.get(index).filter(|_| (start..=end).contains(&index) && !chosen.contains(&index));
            if let Some(line) = line.filter(|line| line.len() < remaining) {
                remaining -= line.len();
                chosen.push(index);
            }
        }
    }
    chosen.sort_unstable();
    let mut path = HeadingPath::default();
    lines[..start].iter().for_each(|line| {
        path.add(line);
    });
    let headings = path.titles();
    let heading = (!headings.is_empty()).then(|| headings.join(" > "));
    heading
        .into_iter()
        .chain(chosen.into_iter().map(|index| lines[index].to_owned()))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Returns the start of a word from which the excerpt contains the most distinct words. Earlier starts win ties.
fn best_start(characters: &[char], words: &[String], length: usize) -> usize {
    let mut occurrences: Vec<(usize, usize)> = Vec::new();
    let mut starts = vec![0];
    let mut word_start = 0;
    for index in 0..=characters.len() {
        if characters.get(index).is_some_and(|character| character.is_alphanumeric()) {
            continue;
        }
        let word: String = characters[word_start..index].iter().flat_map(|c| c.to_lowercase()).collect();
        if occurrences.len() >= MAX_OCCURRENCES {
            break;
        }
        if let Some(index) = words.iter().position(|other| is_form_of(&word, other)) {
            occurrences.push((word_start, index));
            starts.push(word_start.saturating_sub(length / 4));
        }
        word_start = index + 1;
    }
    let distinct_words = |start: usize| {
        let mut indices: Vec<usize> = occurrences
            .iter()
            .filter(|(position, _)| (start..start + length).contains(position))
            .map(|(_, index)| *index)
            .collect();
        indices.sort_unstable();
        indices.dedup();
        indices.len()
    };
    let best = starts.iter().copied().max_by_key(|start| (distinct_words(*start), Reverse(*start)));
    let best = best.unwrap_or(0).min(characters.len().saturating_sub(length / 2));
    // Move back to the start of a word.
    (0..=best).rev().find(|index| *index == 0 || characters[index - 1] == ' ').unwrap_or(0)
}

/// Returns whether two words are equal or differ only in their endings, which approximates stemming.
pub(crate) fn is_form_of(word: &str, other: &str) -> bool {
    if word == other {
        return true;
    }
    // Another number is another thing.
    if word.contains(|c: char| c.is_ascii_digit()) || other.contains(|c: char| c.is_ascii_digit()) {
        return false;
    }
    let shared = word.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let (longer, shorter) =
        (word.chars().count().max(other.chars().count()), word.chars().count().min(other.chars().count()));
    shared >= 4 && shared + 1 >= shorter && longer - shared <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn short_texts_stay_whole_on_one_line() {
        assert_eq!(excerpt(" a\n b ", &split("x"), 10), "a b");
        assert_eq!(excerpt("äöü", &[], 3), "äöü");
    }

    #[test]
    fn the_excerpt_of_a_part_is_replaced_only_by_one_with_more_words() {
        let text = format!("{}Nothing of interest here. Olaf mends pipes.", "The boiler hums. ".repeat(20));
        let part = text.len() - 43..text.len();
        assert_eq!(
            excerpt_part(&text, Some(&part), &split("plumber"), 60),
            "…Nothing of interest here. Olaf mends pipes."
        );
        assert!(excerpt_part(&text, Some(&part), &split("boiler"), 60).starts_with("The boiler hums."));
    }

    #[test]
    fn the_excerpt_contains_the_words() {
        let text = format!(
            "{} The boiler was mended by Olaf in spring. {}",
            "Many words. ".repeat(40),
            "More. ".repeat(40)
        );
        let part = excerpt(&text, &split("boilers olaf"), 60);
        assert!(part.contains("boiler was mended by Olaf"), "{part}");
        assert!(part.starts_with('…') && part.ends_with('…'), "{part}");
        assert!(part.chars().count() <= 62);
        let without_match = excerpt(&text, &split("zebra"), 60);
        assert!(
            without_match.starts_with("Many words. Many") && without_match.ends_with('…'),
            "{without_match}"
        );
    }

    #[test]
    fn tables_and_lists_are_excerpted_at_the_matching_line() {
        let rows: String = (0..40).map(|number| format!("| part {number} | {number} months |\n")).collect();
        let text = format!("# Manual\n\nIntro.\n\n## Checks\n\n| part | interval |\n| --- | --- |\n{rows}");
        let part = excerpt_markdown(&text, &split("part 27"), 120);
        let lines: Vec<&str> = part.lines().collect();
        assert_eq!(lines[..3], ["Manual > Checks", "| part | interval |", "| --- | --- |"], "{part}");
        assert!(lines.contains(&"| part 27 | 27 months |") && part.len() < 200, "{part}");
        let list = "Buy:\n- milk\n- brown bread\n- tea";
        assert_eq!(excerpt_markdown(list, &split("bread"), 60), "- milk\n- brown bread\n- tea");
        assert_eq!(excerpt_markdown("a\nb", &split("b"), 60), "a b");
        assert_eq!(excerpt_markdown("# Orders\n\n## Wood\n\nOak", &split("oak"), 60), "Orders: Wood: Oak");
        let code = "# Learning C#\n```\n# install\n```\n## Is it safe?";
        assert_eq!(excerpt_markdown(code, &split("safe"), 60), "Learning C# ``` # install ``` Is it safe?");
    }

    #[test]
    fn forms_of_a_word_are_recognized() {
        assert!(is_form_of("painted", "paint") && is_form_of("boiler", "boilers"));
        assert!(!is_form_of("stock12", "stock13"));
        assert!(!is_form_of("cat", "car") && !is_form_of("international", "interview"));
    }
}
