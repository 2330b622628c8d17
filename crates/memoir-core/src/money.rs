//! Money as an integer number of nano-dollars, so that sums of small prices stay exact.

use std::{fmt, iter::Sum, ops::Add};

use serde::{Serialize, Serializer};

/// An amount of US dollars, stored as nano-dollars (10^-9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Usd(i64);

impl Usd {
    /// Zero, the cost of a local model.
    pub const ZERO: Self = Self(0);

    /// Creates an amount from nano-dollars.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self(nanos)
    }

    /// Returns the amount in nano-dollars.
    pub const fn as_nanos(self) -> i64 {
        self.0
    }

    /// Creates an amount from dollars, rounded to the nearest nano-dollar.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "amounts are far below the limit, and the cast saturates"
    )]
    pub fn from_dollars(dollars: f64) -> Self {
        Self((dollars * 1e9).round() as i64)
    }

    /// Returns the amount in dollars, for JSON.
    #[expect(clippy::cast_precision_loss, reason = "exact below nine million dollars")]
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add for Usd {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sum for Usd {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, Add::add)
    }
}

/// Serializes the amount in dollars as a JSON number.
impl Serialize for Usd {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_dollars())
    }
}

/// Formats the amount as in `$1.20`, with four decimals below ten cents.
impl fmt::Display for Usd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dollars = self.as_dollars();
        if self.0 != 0 && dollars.abs() < 0.000_1 {
            write!(f, "<$0.0001")
        } else if self.0 == 0 || dollars.abs() >= 0.1 {
            write!(f, "${dollars:.2}")
        } else {
            write!(f, "${dollars:.4}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_amounts_show_four_decimals_and_sums_are_exact() {
        let thousandth: Usd = std::iter::repeat_n(Usd::from_nanos(100), 10_000).sum();
        assert_eq!(thousandth, Usd::from_nanos(1_000_000));
        assert_eq!(thousandth.to_string(), "$0.0010");
        assert_eq!(Usd::ZERO.to_string(), "$0.00");
        assert_eq!(Usd::from_nanos(50).to_string(), "<$0.0001", "a tiny amount is not shown as zero");
        assert_eq!(Usd::from_nanos(12_340_000_000).to_string(), "$12.34");
    }
}
