//! The model's tokenizer: BERT word pieces, uncased.
//!
//! Existing tokenizer crates are either very large or cannot be shared between threads. The reference embeddings verify
//! this one against the original in several scripts.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

use crate::{error::AssetError, vocabulary::Vocabulary};

/// Maximum tokens the model reads. Longer texts are truncated.
pub(crate) const MAX_TOKENS: usize = 256;

/// Maximum length of a word in characters. Longer words become the unknown token.
const MAX_WORD_CHARS: usize = 100;

pub(crate) struct Tokens {
    vocabulary: Vocabulary,
    /// Whether upper and lower case and accents make no difference.
    is_uncased: bool,
    max_tokens: usize,
    pub(crate) start: u32,
    pub(crate) end: u32,
    unknown: u32,
}

impl Tokens {
    /// Loads the vocabulary of the built-in models.
    pub(crate) fn load() -> Result<Self, AssetError> {
        Self::new(Vocabulary::BuiltIn, true, MAX_TOKENS)
    }

    /// Creates a tokenizer from the words of a vocabulary and their ids.
    pub(crate) fn new(
        vocabulary: Vocabulary,
        is_uncased: bool,
        max_tokens: usize,
    ) -> Result<Self, AssetError> {
        let special = |name| vocabulary.id(name).ok_or(AssetError::MissingToken { name });
        let (start, end, unknown) = (special("[CLS]")?, special("[SEP]")?, special("[UNK]")?);
        Ok(Self { start, end, unknown, vocabulary, is_uncased, max_tokens })
    }

    /// Returns the largest id.
    pub(crate) fn max_id(&self) -> u32 {
        self.vocabulary.max_id()
    }

    /// Returns the token ids of a text between a start and an end token, truncated to the maximum.
    pub(crate) fn ids(&self, text: &str) -> Vec<u32> {
        let mut ids = vec![self.start];
        self.push(text, self.max_tokens.saturating_sub(2), &mut ids);
        ids.push(self.end);
        ids
    }

    /// Appends the token ids of a text, truncated to `limit`.
    pub(crate) fn push(&self, text: &str, limit: usize, ids: &mut Vec<u32>) {
        let end = ids.len() + limit;
        for word in split_words(text, self.is_uncased) {
            self.push_pieces(&word, ids);
            if ids.len() >= end {
                ids.truncate(end);
                break;
            }
        }
    }

    /// Returns the number of tokens in a text without truncation, including the start and end tokens.
    pub(crate) fn count(&self, text: &str) -> usize {
        let mut ids = Vec::new();
        split_words(text, self.is_uncased).iter().for_each(|word| self.push_pieces(word, &mut ids));
        ids.len() + 2
    }

    /// Appends the ids of the longest matching pieces from left to right, or the unknown token if the word cannot be
    /// split.
    fn push_pieces(&self, word: &str, ids: &mut Vec<u32>) {
        let before = ids.len();
        let mut rest = word;
        let mut piece = String::new();
        while !rest.is_empty() && word.chars().count() <= MAX_WORD_CHARS {
            let ends = rest.char_indices().map(|(index, character)| index + character.len_utf8()).rev();
            let longest = ends.into_iter().find_map(|end| {
                piece.clear();
                if rest.len() < word.len() {
                    piece.push_str("##");
                }
                piece.push_str(&rest[..end]);
                self.vocabulary.id(&piece).map(|id| (id, end))
            });
            let Some((id, end)) = longest else { break };
            ids.push(id);
            rest = &rest[end..];
        }
        if !rest.is_empty() {
            ids.truncate(before);
            ids.push(self.unknown);
        }
    }
}

/// Splits a text into words and single punctuation marks. If `is_uncased`, words become lowercase and lose their accents.
fn split_words(text: &str, is_uncased: bool) -> Vec<String> {
    let visible = text.chars().filter(|character| !is_ignored(*character));
    match is_uncased {
        true => {
            let plain = visible.flat_map(char::to_lowercase).nfd();
            collect_words(plain.filter(|character| !is_combining_mark(*character)))
        }
        false => collect_words(visible),
    }
}

fn collect_words(characters: impl Iterator<Item = char>) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    for character in characters {
        if character.is_whitespace() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        } else if is_punctuation(character) || is_ideograph(character) {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            words.push(character.to_string());
        } else {
            word.push(character);
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

fn is_ignored(character: char) -> bool {
    matches!(character, '\0' | '\u{fffd}')
        || (character.is_control() && !matches!(character, '\t' | '\n' | '\r'))
        || is_format(character)
}

/// Returns whether a character is invisible, such as a joiner or a direction mark.
fn is_format(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
        || matches!(character,
            '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}' | '\u{37e}' | '\u{387}'
            | '\u{55a}'..='\u{55f}' | '\u{589}' | '\u{58a}' | '\u{5be}' | '\u{5c0}' | '\u{5c3}' | '\u{60c}' | '\u{61b}'
            | '\u{61e}' | '\u{61f}' | '\u{66a}'..='\u{66d}' | '\u{6d4}' | '\u{964}' | '\u{965}'
            | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{2043}' | '\u{2045}'..='\u{2051}' | '\u{2053}'..='\u{205e}'
            | '\u{2308}'..='\u{230b}' | '\u{2329}' | '\u{232a}' | '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}'
            | '\u{3014}'..='\u{301f}' | '\u{3030}' | '\u{303d}' | '\u{30a0}' | '\u{30fb}' | '\u{fe10}'..='\u{fe19}'
            | '\u{fe30}'..='\u{fe52}' | '\u{fe54}'..='\u{fe61}' | '\u{ff01}'..='\u{ff03}' | '\u{ff05}'..='\u{ff0a}'
            | '\u{ff0c}'..='\u{ff0f}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}' | '\u{ff20}' | '\u{ff3b}'..='\u{ff3d}'
            | '\u{ff3f}' | '\u{ff5b}' | '\u{ff5d}' | '\u{ff5f}'..='\u{ff65}')
}

/// Returns whether a character is a Chinese ideograph, which is a word by itself.
fn is_ideograph(character: char) -> bool {
    matches!(character,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}' | '\u{2a700}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

#[cfg(test)]
mod tests {
    use super::split_words;

    #[test]
    fn words_are_lowercased_stripped_of_accents_and_separated() {
        assert_eq!(
            split_words("Naïve CAFÉ, isn't\tit?", true),
            ["naive", "cafe", ",", "isn", "'", "t", "it", "?"]
        );
        assert_eq!(split_words("我喜欢tea", true), ["我", "喜", "欢", "tea"]);
        assert!(split_words(" \n\0", true).is_empty());
        assert_eq!(split_words("Naïve CAFÉ", false), ["Naïve", "CAFÉ"]);
    }
}
