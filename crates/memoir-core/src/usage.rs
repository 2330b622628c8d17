//! What a model call used, in tokens.

use std::ops::{Add, AddAssign};

use serde::Serialize;

/// Tokens of one call, or of several added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Usage {
    /// Everything sent, cached or not.
    pub input_tokens: u64,
    /// Everything produced, reasoning included.
    pub output_tokens: u64,
    /// The part of the input that the provider read from its cache.
    pub cached_tokens: u64,
    /// The part of the input that the provider wrote to its cache.
    pub cache_write_tokens: u64,
    /// The part of the output that was reasoning.
    pub reasoning_tokens: u64,
}

/// Sums stay at the largest number there is: what a server says it used can be anything.
impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.saturating_add(other.reasoning_tokens),
        }
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_beyond_all_numbers_stays_at_the_largest() {
        let used = Usage { input_tokens: u64::MAX, output_tokens: 1, ..Usage::default() };
        assert_eq!(used + used, Usage { output_tokens: 2, ..used });
    }
}
