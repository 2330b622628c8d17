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

/// 64 dimensions of a query: one word per plane.
pub(crate) type PlaneWord = [u64; PLANES];

/// One number for each row of a block.
pub(crate) type Products = [f32; BLOCK];

/// How counts become products: `weighted * scale + constant`, where `weighted` is the sum of the query's numbers where a
/// row's bits are set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) scale: f32,
    pub(crate) constant: f32,
}

impl Line {
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

/// Products for every block of `blocks`, one after the other.
pub(crate) fn multiply(blocks: &[u64], query: &[PlaneWord], line: Line, products: &mut [Products]) {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512vpopcntdq")
        {
            // SAFETY: the processor has what the function needs.
            return unsafe { with_avx512(blocks, query, line, products) };
        }
        if std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has what the function needs.
            return unsafe { with_popcnt(blocks, query, line, products) };
        }
    }
    plain(blocks, query, line, products);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn with_avx512(blocks: &[u64], query: &[PlaneWord], line: Line, products: &mut [Products]) {
    use std::arch::x86_64::{
        _mm256_add_ps, _mm256_cvtepi32_ps, _mm256_mul_ps, _mm256_set1_ps, _mm256_storeu_ps, _mm512_add_epi64,
        _mm512_and_si512, _mm512_cvtepi64_epi32, _mm512_loadu_si512, _mm512_popcnt_epi64, _mm512_set1_epi64,
        _mm512_setzero_si512, _mm512_slli_epi64, _mm512_sub_epi64,
    };
    for (block, products) in blocks.chunks_exact(query.len() * BLOCK).zip(products) {
        let mut sums = [_mm512_setzero_si512(); PLANES];
        for (rows, planes) in block.as_chunks::<BLOCK>().0.iter().zip(query) {
            // SAFETY: a block's words of eight rows are 64 bytes.
            let bits = unsafe { _mm512_loadu_si512(rows.as_ptr().cast()) };
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
        let scaled =
            _mm256_mul_ps(_mm256_cvtepi32_ps(_mm512_cvtepi64_epi32(weighted)), _mm256_set1_ps(line.scale));
        // SAFETY: there is room for eight numbers.
        unsafe {
            _mm256_storeu_ps(products.as_mut_ptr(), _mm256_add_ps(scaled, _mm256_set1_ps(line.constant)));
        };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn with_popcnt(blocks: &[u64], query: &[PlaneWord], line: Line, products: &mut [Products]) {
    plain(blocks, query, line, products);
}

#[inline(always)]
fn plain(blocks: &[u64], query: &[PlaneWord], line: Line, products: &mut [Products]) {
    for (block, products) in blocks.chunks_exact(query.len() * BLOCK).zip(products) {
        let mut counts = [[0; PLANES]; BLOCK];
        for (rows, planes) in block.as_chunks::<BLOCK>().0.iter().zip(query) {
            for (bits, counts) in rows.iter().zip(&mut counts) {
                for (count, plane) in counts.iter_mut().zip(planes) {
                    *count += (bits & plane).count_ones().cast_signed();
                }
            }
        }
        for (product, counts) in products.iter_mut().zip(counts) {
            *product = line.product(weigh(counts));
        }
    }
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
        let line = Line { scale: 0.003, constant: 0.5 };
        let (mut one, mut other) = ([Products::default(); 5], [Products::default(); 5]);
        plain(&blocks, &query, line, &mut one);
        multiply(&blocks, &query, line, &mut other);
        assert_eq!(one, other);
        assert_ne!(one[4][7], one[4][6], "{one:?}");
    }
}
