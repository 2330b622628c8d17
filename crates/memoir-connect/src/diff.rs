//! Finds the parts in which two texts differ.
//!
//! The texts are compared word by word with Myers' algorithm, so that an edit which only inserts text yields
//! hunks that only insert.

use std::ops::Range;

/// A part of one text and the part of the other text that replaces it, as byte ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) before: Range<usize>,
    pub(crate) after: Range<usize>,
}

/// Maximum number of differing words. Above it the texts are treated as one hunk, since time and memory grow
/// with the square of this number.
const MAX_DIFFERENCES: usize = 2000;

/// Returns the differences between two texts, in order.
pub(crate) fn differences(before: &str, after: &str) -> Vec<Hunk> {
    let (old, new) = (words(before), words(after));
    let prefix = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let suffix_limit = old.len().min(new.len()) - prefix;
    let is_equal = |(a, b): &(&&str, &&str)| a == b;
    let suffix = old.iter().rev().zip(new.iter().rev()).take(suffix_limit).take_while(is_equal).count();
    let middle_old = &old[prefix..old.len() - suffix];
    let middle_new = &new[prefix..new.len() - suffix];
    let start: usize = old[..prefix].iter().map(|word| word.len()).sum();
    match matching_words(middle_old, middle_new) {
        Some(matches) => hunks(middle_old, middle_new, &matches, start),
        None => vec![Hunk {
            before: start..start + total_length(middle_old),
            after: start..start + total_length(middle_new),
        }],
    }
}

fn total_length(words: &[&str]) -> usize {
    words.iter().map(|word| word.len()).sum()
}

/// Splits a text into names, runs of spaces, and single characters.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_same_kind = |c: char| match first {
            _ if first.is_alphanumeric() => c.is_alphanumeric(),
            ' ' | '\t' => c == first,
            _ => false,
        };
        let end = rest.find(|c| !is_same_kind(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, tail) = rest.split_at(end);
        words.push(word);
        rest = tail;
    }
    words
}

/// Returns the indexes of the words that both texts have in the same order, or `None` if too many differ.
fn matching_words(old: &[&str], new: &[&str]) -> Option<Vec<(usize, usize)>> {
    if old.is_empty() || new.is_empty() {
        return Some(Vec::new());
    }
    let limit = (old.len() + new.len()).min(MAX_DIFFERENCES);
    // For each diagonal, shifted by `offset`, the furthest position in `old`.
    let offset = limit + 1;
    let mut furthest = vec![0_usize; 2 * limit + 3];
    let mut trace = Vec::new();
    for distance in 0..=limit {
        trace.push(furthest[offset - distance..=offset + distance].to_vec());
        for step in 0..=distance {
            // The diagonal is `2 * step - distance`.
            let index = offset + 2 * step - distance;
            let is_insertion = step == 0 || (step != distance && furthest[index - 1] < furthest[index + 1]);
            let mut x = if is_insertion { furthest[index + 1] } else { furthest[index - 1] + 1 };
            let mut y = x + offset - index;
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            furthest[index] = x;
            if x >= old.len() && y >= new.len() {
                return Some(walk_back(&trace, old.len(), new.len()));
            }
        }
    }
    None
}

/// Follows the recorded positions from the end to the start.
fn walk_back(trace: &[Vec<usize>], mut x: usize, mut y: usize) -> Vec<(usize, usize)> {
    let mut matches = Vec::new();
    for (distance, furthest) in trace.iter().enumerate().rev() {
        let (previous_x, previous_y) = if distance == 0 {
            (0, 0)
        } else {
            // `furthest` holds the diagonals from -distance to distance.
            let index = x + distance - y;
            let is_insertion =
                index == 0 || (index != 2 * distance && furthest[index - 1] < furthest[index + 1]);
            let previous = if is_insertion { index + 1 } else { index - 1 };
            (furthest[previous], furthest[previous] + distance - previous)
        };
        while x > previous_x && y > previous_y {
            (x, y) = (x - 1, y - 1);
            matches.push((x, y));
        }
        (x, y) = (previous_x, previous_y);
    }
    matches.reverse();
    matches
}

/// Returns the parts between the matching words.
fn hunks(old: &[&str], new: &[&str], matches: &[(usize, usize)], start: usize) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let (mut x, mut y) = (0, 0);
    let (mut before, mut after) = (start, start);
    for &(next_x, next_y) in matches.iter().chain(std::iter::once(&(old.len(), new.len()))) {
        let before_end = before + total_length(&old[x..next_x]);
        let after_end = after + total_length(&new[y..next_y]);
        if before_end > before || after_end > after {
            hunks.push(Hunk { before: before..before_end, after: after..after_end });
        }
        let shared = old.get(next_x).map_or(0, |word| word.len());
        (before, after) = (before_end + shared, after_end + shared);
        (x, y) = (next_x + 1, next_y + 1);
        if next_x == old.len() {
            break;
        }
    }
    hunks
}
