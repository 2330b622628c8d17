//! The innermost loop: products of unsigned 8-bit activations with signed 8-bit weights, summed in 32 bits.
//!
//! Four tokens meet four rows of weights at a time, so that everything loaded is used four times. Where the
//! processor has VNNI this is one instruction per 64 products; elsewhere the compiler makes of the plain loop
//! what it can. All versions give the same numbers.

#![expect(
    unsafe_code,
    reason = "loads for vector instructions, and calling a function that needs them once they are known to be there"
)]

/// How many tokens and how many rows meet at a time.
pub(crate) const BLOCK: usize = 4;

/// All lengths are multiples of this.
const WIDTH: usize = 64;

/// Sums of products: one per token and row.
pub(crate) type Sums = [[i32; BLOCK]; BLOCK];

/// `sums[t][r]` is the product of token `t` with row `r`; both come as rows of `length` numbers.
pub(crate) fn products(length: usize, tokens: &[u8], rows: &[i8]) -> Sums {
    assert!(length.is_multiple_of(WIDTH) && tokens.len() == BLOCK * length && rows.len() == BLOCK * length);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512vnni") && std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has what the function needs, and the lengths are as asserted above.
        return unsafe { with_vnni(length, tokens, rows) };
    }
    plain(length, tokens, rows)
}

fn plain(length: usize, tokens: &[u8], rows: &[i8]) -> Sums {
    let mut sums = [[0; BLOCK]; BLOCK];
    for (token, sums) in tokens.chunks_exact(length).zip(&mut sums) {
        for (row, sum) in rows.chunks_exact(length).zip(sums) {
            *sum = token.iter().zip(row).map(|(token, row)| i32::from(*token) * i32::from(*row)).sum();
        }
    }
    sums
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
unsafe fn with_vnni(length: usize, tokens: &[u8], rows: &[i8]) -> Sums {
    use std::arch::x86_64::{
        __m512i, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_reduce_add_epi32, _mm512_setzero_si512,
    };

    let mut sums = [[_mm512_setzero_si512(); BLOCK]; BLOCK];
    for offset in (0..length).step_by(WIDTH) {
        let token = |index: usize| {
            let part = &tokens[index * length + offset..][..WIDTH];
            // SAFETY: the slice has as many bytes as are loaded.
            unsafe { _mm512_loadu_si512(part.as_ptr().cast::<__m512i>()) }
        };
        let row = |index: usize| {
            let part = &rows[index * length + offset..][..WIDTH];
            // SAFETY: the slice has as many bytes as are loaded.
            unsafe { _mm512_loadu_si512(part.as_ptr().cast::<__m512i>()) }
        };
        let rows = [row(0), row(1), row(2), row(3)];
        for (index, sums) in sums.iter_mut().enumerate() {
            let token = token(index);
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum = _mm512_dpbusd_epi32(*sum, token, row);
            }
        }
    }
    sums.map(|sums| sums.map(|sum| _mm512_reduce_add_epi32(sum)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_version_gives_the_same_numbers() {
        for length in [64, 384, 1536] {
            let tokens: Vec<u8> = (0..BLOCK * length).map(|index| (index * 37 % 256) as u8).collect();
            let rows: Vec<i8> = (0..BLOCK * length).map(|index| (index * 101 % 255) as u8 as i8).collect();
            assert_eq!(products(length, &tokens, &rows), plain(length, &tokens, &rows));
        }
    }

    #[test]
    fn the_largest_products_do_not_overflow() {
        let sums = products(1536, &[255; BLOCK * 1536], &[-127; BLOCK * 1536]);
        assert_eq!(sums, [[-255 * 127 * 1536; BLOCK]; BLOCK]);
    }
}
