//! Token usage of model calls.

use std::ops::{Add, AddAssign};

use serde::Serialize;

/// Token usage of one call, or the sum of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Usage {
    /// Tokens sent, cached or not.
    pub input_tokens: u64,
    /// Tokens generated, including reasoning.
    pub output_tokens: u64,
    /// Input tokens that the provider read from its cache.
    pub cached_tokens: u64,
    /// Input tokens that the provider wrote to its cache.
    pub cache_write_tokens: u64,
    /// Output tokens spent on reasoning.
    pub reasoning_tokens: u64,
}

/// Saturates instead of overflowing, because servers can report arbitrary numbers.
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
    fn sums_saturate_at_the_maximum() {
        let usage = Usage { input_tokens: u64::MAX, output_tokens: 1, ..Usage::default() };
        assert_eq!(usage + usage, Usage { output_tokens: 2, ..usage });
    }
}
