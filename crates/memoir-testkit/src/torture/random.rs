//! Random numbers that a seed reproduces, independently for each step.

use fastrand::Rng;

/// Returns the generator for one step. It does not depend on how many numbers other steps draw, so a seed
/// reproduces each step.
pub(super) fn seed_step(seed: u64, step: u64) -> Rng {
    // Mix the seed first, because step 2 of seed 1 must differ from step 1 of seed 2.
    Rng::with_seed(Rng::with_seed(seed).u64(..) ^ step)
}

/// Returns a number below `bound`, or 0 if `bound` is 0.
pub(super) fn draw_below(random: &mut Rng, bound: u64) -> u64 {
    if bound == 0 { 0 } else { random.u64(..bound) }
}

/// Returns a random element of `items`.
///
/// # Panics
///
/// Panics if `items` is empty.
pub(super) fn pick<'a, T>(random: &mut Rng, items: &'a [T]) -> &'a T {
    &items[random.usize(..items.len())]
}
