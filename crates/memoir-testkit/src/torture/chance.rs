//! Chance that can be repeated.

/// Numbers that look like chance, and are the same again for the same seed (xorshift64*).
#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    /// Chance that begins with this seed.
    pub fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Chance of one step of many. What other steps draw has no part in it, so that a seed repeats each of them.
    pub fn of_step(seed: u64, step: u64) -> Self {
        // As SplitMix64 does it: neighbours have nothing in common.
        let place = step.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut mixed = seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(place);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        // Zero would stay zero.
        Self((mixed ^ (mixed >> 31)) | 1)
    }

    /// A number.
    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `bound`; zero if that is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.number().checked_rem(bound).unwrap_or(0)
    }

    /// One of some things.
    pub fn one_of<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        let place = self.below(things.len() as u64);
        &things[usize::try_from(place).unwrap_or(0)]
    }
}
