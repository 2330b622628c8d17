//! The innermost loop: dot products of a query with codes, computed by counting bits.
//!
//! Codes are stored in blocks of eight rows: the first 64 bits of all eight rows, then the next 64, and so on. One wide
//! load therefore fetches a word of each row, and the counts of each row stay in their own lane. AVX-512 processors
//! count the bits of eight words at a time; others use a plain loop. Both return the same numbers.

#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector loads and stores, used only after detecting the processor feature")
)]

/// Number of rows in a block.
pub(crate) const BLOCK: usize = 8;

/// Number of bits per query component. Each bit forms a plane with one bit per dimension.
pub(crate) const PLANES: usize = 4;

/// Prefetch distance in words (two pages). A scan is limited by memory bandwidth, and hardware prefetchers stop at page
/// boundaries.
#[cfg(target_arch = "x86_64")]
const PREFETCH_WORDS: usize = 1024;

/// 64 dimensions of a query, with one word per plane.
pub(crate) type PlaneWord = [u64; PLANES];

/// One number for each row of a block.
pub(crate) type Products = [f32; BLOCK];

/// Converts weighted counts to dot products: `weighted * scale + constant`, where `weighted` is the sum of the query
/// components at the row's set bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinearScale {
    pub(crate) scale: f32,
    pub(crate) constant: f32,
}

impl LinearScale {
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "bit counts are small")]
    pub(crate) fn product(&self, weighted: i32) -> f32 {
        weighted as f32 * self.scale + self.constant
    }
}

/// Combines the counts of the planes, which are the bits of two's complement numbers from -8 to 7.
#[inline]
pub(crate) fn weigh(counts: [i32; PLANES]) -> i32 {
    let [first, second, third, fourth] = counts;
    first + 2 * second + 4 * third - 8 * fourth
}

/// A query and the rows to estimate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work<'a> {
    /// Query in words of 64 dimensions.
    pub(crate) query: &'a [PlaneWord],
    pub(crate) line: LinearScale,
    /// Codes in blocks of rows.
    pub(crate) words: &'a [u64],
    /// Factors of the rows; each product is multiplied by one.
    pub(crate) factors: &'a [Products],
    /// Estimates above this value are set in the result mask.
    pub(crate) threshold: f32,
}

impl<'a> Work<'a> {
    /// Returns the words and factors of each block.
    fn blocks(self) -> impl Iterator<Item = (&'a [u64], &'a Products)> {
        self.words.chunks_exact(self.query.len() * BLOCK).zip(self.factors)
    }
}

/// Writes the estimates of every block. Returns a bit mask of the rows above the threshold, for up to eight blocks.
pub(crate) fn estimate(work: Work<'_>, estimates: &mut [Products]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vpopcntdq")
        {
            // SAFETY: the required processor features were just detected.
            return unsafe { with_avx512(work, estimates) };
        }
        if std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the required processor features were just detected.
            return unsafe { with_popcnt(work, estimates) };
        }
    }
    plain(work, estimates)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn with_avx512(work: Work<'_>, estimates: &mut [Products]) -> u64 {
    use std::arch::x86_64::{
        _CMP_GT_OQ, _MM_HINT_T0, _mm_prefetch, _mm256_add_ps, _mm256_cmp_ps, _mm256_cvtepi32_ps,
        _mm256_loadu_ps, _mm256_movemask_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_storeu_ps,
        _mm512_add_epi64, _mm512_and_si512, _mm512_cvtepi64_epi32, _mm512_loadu_si512, _mm512_popcnt_epi64,
        _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64, _mm512_sub_epi64,
    };
    let mut above = 0;
    for (index, ((block, factors), estimates)) in work.blocks().zip(estimates).enumerate() {
        let mut sums = [_mm512_setzero_si512(); PLANES];
        for (words, planes) in block.as_chunks::<BLOCK>().0.iter().zip(work.query) {
            // SAFETY: one word of each of eight rows is 64 bytes. Prefetching an invalid address has no effect.
            let bits = unsafe {
                _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().wrapping_add(PREFETCH_WORDS).cast());
                _mm512_loadu_si512(words.as_ptr().cast())
            };
            for (sum, plane) in sums.iter_mut().zip(planes) {
                let common = _mm512_and_si512(bits, _mm512_set1_epi64(plane.cast_signed()));
                *sum = _mm512_add_epi64(*sum, _mm512_popcnt_epi64(common));
            }
        }
        // Same computation as in `weigh`.
        let [first, second, third, fourth] = sums;
        let low = _mm512_add_epi64(first, _mm512_slli_epi64::<1>(second));
        let high = _mm512_sub_epi64(third, _mm512_slli_epi64::<1>(fourth));
        let weighted = _mm512_add_epi64(low, _mm512_slli_epi64::<2>(high));
        let scaled = _mm256_mul_ps(
            _mm256_cvtepi32_ps(_mm512_cvtepi64_epi32(weighted)),
            _mm256_set1_ps(work.line.scale),
        );
        let product = _mm256_add_ps(scaled, _mm256_set1_ps(work.line.constant));
        // SAFETY: `factors` and `estimates` each hold eight numbers.
        let estimate = unsafe {
            let estimate = _mm256_mul_ps(product, _mm256_loadu_ps(factors.as_ptr()));
            _mm256_storeu_ps(estimates.as_mut_ptr(), estimate);
            estimate
        };
        let exceeds = _mm256_cmp_ps::<_CMP_GT_OQ>(estimate, _mm256_set1_ps(work.threshold));
        above |= u64::from(_mm256_movemask_ps(exceeds).cast_unsigned()) << (index % 8 * BLOCK);
    }
    above
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn with_popcnt(work: Work<'_>, estimates: &mut [Products]) -> u64 {
    plain(work, estimates)
}

#[inline(always)]
fn plain(work: Work<'_>, estimates: &mut [Products]) -> u64 {
    let mut above = 0;
    for (index, ((block, factors), estimates)) in work.blocks().zip(estimates).enumerate() {
        let mut counts = [[0; PLANES]; BLOCK];
        for (rows, planes) in block.as_chunks::<BLOCK>().0.iter().zip(work.query) {
            for (bits, counts) in rows.iter().zip(&mut counts) {
                for (count, plane) in counts.iter_mut().zip(planes) {
                    *count += (bits & plane).count_ones().cast_signed();
                }
            }
        }
        for (row, (estimate, counts)) in estimates.iter_mut().zip(counts).enumerate() {
            *estimate = work.line.product(weigh(counts)) * factors[row];
            above |= u64::from(*estimate > work.threshold) << (index % 8 * BLOCK + row);
        }
    }
    above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rotation::next;

    #[test]
    fn all_implementations_return_the_same_numbers() {
        let mut state = 1;
        let query: Vec<PlaneWord> = (0..6).map(|_| [(); PLANES].map(|()| next(&mut state))).collect();
        let blocks: Vec<u64> = (0..6 * BLOCK * 5).map(|_| next(&mut state)).collect();
        let line = LinearScale { scale: 0.003, constant: 0.5 };
        let factors: Vec<Products> = (0..5).map(|block| [0.5 + block as f32; BLOCK]).collect();
        let work = Work { query: &query, line, words: &blocks, factors: &factors, threshold: 0.4 };
        let (mut expected, mut actual) = ([Products::default(); 5], [Products::default(); 5]);
        let above = plain(work, &mut expected);
        assert_eq!(above, estimate(work, &mut actual));
        assert_eq!(expected, actual);
        let highest: Vec<usize> = (0..40).filter(|row| expected[row / 8][row % 8] > 0.4).collect();
        assert_eq!(highest, (0..64).filter(|row| above >> row & 1 == 1).collect::<Vec<_>>());
        assert!(!highest.is_empty() && highest.len() < 40, "{expected:?}");
    }
}
