//! A long text cut down to the part that matters.

/// So many occurrences of the words are looked at; later ones are in a text that is full of them.
const MOST_PLACES: usize = 100;

/// The part of `text` of at most `length` characters that has the most of `words`, in one line. What is cut off is
/// marked.
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
    let kept: String = characters[start..end].iter().collect();
    format!("{before}{}{after}", kept.trim())
}

/// Where to begin: at a word or sentence, so that most different words of the question are in view; early rather than
/// late.
fn best_start(characters: &[char], words: &[String], length: usize) -> usize {
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut starts = vec![0];
    let mut word_start = 0;
    for index in 0..=characters.len() {
        if characters.get(index).is_some_and(|character| character.is_alphanumeric()) {
            continue;
        }
        let word: String = characters[word_start..index].iter().flat_map(|c| c.to_lowercase()).collect();
        if places.len() >= MOST_PLACES {
            break;
        }
        if let Some(known) = words.iter().position(|wanted| is_form_of(&word, wanted)) {
            places.push((word_start, known));
            starts.push(word_start.saturating_sub(length / 4));
        }
        word_start = index + 1;
    }
    let in_view = |start: usize| {
        let mut seen: Vec<usize> = places
            .iter()
            .filter(|(place, _)| (start..start + length).contains(place))
            .map(|(_, word)| *word)
            .collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    };
    let best = starts.iter().copied().max_by_key(|start| (in_view(*start), std::cmp::Reverse(*start)));
    let best = best.unwrap_or(0).min(characters.len().saturating_sub(length / 2));
    // Back to the beginning of a word.
    (0..=best).rev().find(|index| *index == 0 || characters[index - 1] == ' ').unwrap_or(0)
}

/// Whether a word is another, or shares all but its ending with it: what stemming would say, nearly.
pub(crate) fn is_form_of(word: &str, wanted: &str) -> bool {
    if word == wanted {
        return true;
    }
    let shared = word.chars().zip(wanted.chars()).take_while(|(a, b)| a == b).count();
    let (longer, shorter) =
        (word.chars().count().max(wanted.chars().count()), word.chars().count().min(wanted.chars().count()));
    shared >= 4 && shared + 1 >= shorter && longer - shared <= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_fits_stays_whole_and_in_one_line() {
        assert_eq!(excerpt(" a\n b ", &split("x"), 10), "a b");
        assert_eq!(excerpt("äöü", &[], 3), "äöü");
    }

    #[test]
    fn the_part_with_the_words_is_kept() {
        let text = format!(
            "{} The boiler was mended by Olaf in spring. {}",
            "Many words. ".repeat(40),
            "More. ".repeat(40)
        );
        let kept = excerpt(&text, &split("boilers olaf"), 60);
        assert!(kept.contains("boiler was mended by Olaf"), "{kept}");
        assert!(kept.starts_with('…') && kept.ends_with('…'), "{kept}");
        assert!(kept.chars().count() <= 62);
        let none = excerpt(&text, &split("zebra"), 60);
        assert!(none.starts_with("Many words. Many") && none.ends_with('…'), "{none}");
    }

    #[test]
    fn words_are_recognised_in_their_forms() {
        assert!(is_form_of("painted", "paint") && is_form_of("boiler", "boilers"));
        assert!(!is_form_of("cat", "car") && !is_form_of("international", "interview"));
    }
}
