//! The innermost loop: products of a query with codes, by counting bits.
//!
//! Codes come in blocks of eight rows, the first 64 bits of all eight, then the next: what one wide instruction
//! loads belongs to eight rows, whose counts stay in their own lanes. Where the processor counts the bits of eight
//! words at a time this is done with it; elsewhere by the plain loop. Both give the same numbers.

#![cfg_attr(
    target_arch = "x86_64",
    expect(
        unsafe_code,
        reason = "loads and stores of vector instructions, called once they are known to be there"
    )
)]

/// How many rows stand together.
pub(crate) const BLOCK: usize = 8;

/// The bits of a query's number: as many planes of one bit per dimension.
pub(crate) const PLANES: usize = 4;

/// So many words ahead of those that are counted are fetched from memory, two pages: a processor does not look beyond the end
/// of one by itself, and a scan is over as soon as everything was fetched.
#[cfg(target_arch = "x86_64")]
const AHEAD: usize = 1024;

/// 64 dimensions of a query: one word per plane.
pub(crate) type PlaneWord = [u64; PLANES];

/// One number for each row of a block.
pub(crate) type Products = [f32; BLOCK];

/// How counts become products: `weighted * scale + constant`, where `weighted` is the sum of the query's numbers where a
/// row's bits are set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinearScale {
    pub(crate) scale: f32,
    pub(crate) constant: f32,
}

impl LinearScale {
    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "counts of a vector's dimensions")]
    pub(crate) fn product(&self, weighted: i32) -> f32 {
        weighted as f32 * self.scale + self.constant
    }
}

/// What a row's bits under each plane add up to: the planes are the bits of a number between -8 and 7.
#[inline]
pub(crate) fn weigh(counts: [i32; PLANES]) -> i32 {
    let [first, second, third, fourth] = counts;
    first + 2 * second + 4 * third - 8 * fourth
}

/// What is to be estimated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work<'a> {
    /// The query, by words of 64 dimensions.
    pub(crate) query: &'a [PlaneWord],
    pub(crate) line: LinearScale,
    /// Blocks of rows.
    pub(crate) words: &'a [u64],
    /// What the product of each row is multiplied with.
    pub(crate) factors: &'a [Products],
    /// What an estimate has to exceed to be told.
    pub(crate) threshold: f32,
}

impl<'a> Work<'a> {
    /// Each block's words, and its factors.
    fn blocks(self) -> impl Iterator<Item = (&'a [u64], &'a Products)> {
        self.words.chunks_exact(self.query.len() * BLOCK).zip(self.factors)
    }
}

/// Estimates for every block, one after the other; of the first eight blocks it is told which rows exceed the threshold.
pub(crate) fn estimate(work: Work<'_>, estimates: &mut [Products]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vpopcntdq")
        {
            // SAFETY: the processor has what the function needs.
            return unsafe { with_avx512(work, estimates) };
        }
        if std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has what the function needs.
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
            // SAFETY: a block's words of eight rows are 64 bytes. Fetching from an address that is nobody's does nothing.
            let bits = unsafe {
                _mm_prefetch::<_MM_HINT_T0>(words.as_ptr().wrapping_add(AHEAD).cast());
                _mm512_loadu_si512(words.as_ptr().cast())
            };
            for (sum, plane) in sums.iter_mut().zip(planes) {
                let met = _mm512_and_si512(bits, _mm512_set1_epi64(plane.cast_signed()));
                *sum = _mm512_add_epi64(*sum, _mm512_popcnt_epi64(met));
            }
        }
        // As in `weigh`.
        let [first, second, third, fourth] = sums;
        let low = _mm512_add_epi64(first, _mm512_slli_epi64::<1>(second));
        let high = _mm512_sub_epi64(third, _mm512_slli_epi64::<1>(fourth));
        let weighted = _mm512_add_epi64(low, _mm512_slli_epi64::<2>(high));
        let scaled = _mm256_mul_ps(
            _mm256_cvtepi32_ps(_mm512_cvtepi64_epi32(weighted)),
            _mm256_set1_ps(work.line.scale),
        );
        let product = _mm256_add_ps(scaled, _mm256_set1_ps(work.line.constant));
        // SAFETY: there are eight factors, and there is room for eight numbers.
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
    fn every_version_gives_the_same_numbers() {
        let mut state = 1;
        let query: Vec<PlaneWord> = (0..6).map(|_| [(); PLANES].map(|()| next(&mut state))).collect();
        let blocks: Vec<u64> = (0..6 * BLOCK * 5).map(|_| next(&mut state)).collect();
        let line = LinearScale { scale: 0.003, constant: 0.5 };
        let factors: Vec<Products> = (0..5).map(|block| [0.5 + block as f32; BLOCK]).collect();
        let work = Work { query: &query, line, words: &blocks, factors: &factors, threshold: 0.4 };
        let (mut one, mut other) = ([Products::default(); 5], [Products::default(); 5]);
        let above = plain(work, &mut one);
        assert_eq!(above, estimate(work, &mut other));
        assert_eq!(one, other);
        let highest: Vec<usize> = (0..40).filter(|row| one[row / 8][row % 8] > 0.4).collect();
        assert_eq!(highest, (0..64).filter(|row| above >> row & 1 == 1).collect::<Vec<_>>());
        assert!(!highest.is_empty() && highest.len() < 40, "{one:?}");
    }
}
