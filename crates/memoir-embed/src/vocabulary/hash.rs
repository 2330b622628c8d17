// The hash of a word, which the build script and the program must compute alike. FNV-1a, because words are short.

/// Number of places in the table of built-in words. A power of two, twice as large as needed, so that few words collide.
pub(crate) const PLACES: usize = 1 << 16;

/// Marks a place without a word. No word has this id.
pub(crate) const EMPTY: u16 = u16::MAX;

/// Returns the first place where a word may be. It is at this one or at one of the following.
pub(crate) fn first_place(word: &str) -> usize {
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    // The lower bits are mixed less well.
    usize::try_from(hash >> 32).unwrap_or(0) % PLACES
}
