//! Excerpts of long texts around the words of a question.

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
    let best = starts.iter().copied().max_by_key(|start| (distinct_words(*start), std::cmp::Reverse(*start)));
    let best = best.unwrap_or(0).min(characters.len().saturating_sub(length / 2));
    // Move back to the start of a word.
    (0..=best).rev().find(|index| *index == 0 || characters[index - 1] == ' ').unwrap_or(0)
}

/// Returns whether two words are equal or differ only in their endings, which approximates stemming.
pub(crate) fn is_form_of(word: &str, other: &str) -> bool {
    if word == other {
        return true;
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
    fn forms_of_a_word_are_recognized() {
        assert!(is_form_of("painted", "paint") && is_form_of("boiler", "boilers"));
        assert!(!is_form_of("cat", "car") && !is_form_of("international", "interview"));
    }
}
