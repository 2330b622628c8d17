//! The innermost loop: dot products of unsigned 8-bit activations with signed 8-bit weights, summed in 32 bits.
//!
//! Weights are stored in panels of sixteen rows, four numbers of every row at a time. One instruction therefore
//! multiplies 64 pairs and adds them up in sixteen lanes, one per row. A panel is multiplied with eight tokens at a
//! time, so each load is used eight times. That is what VNNI does; AVX2 needs several instructions for it, because its
//! own product of 8-bit numbers is not exact. Other processors use a plain loop. All return the same numbers.

#![expect(unsafe_code, reason = "vector loads and stores, used only after detecting the processor feature")]

/// Number of rows in a panel.
pub(crate) const PANEL: usize = 16;

/// Number of tokens multiplied with a panel at a time.
pub(crate) const TOKENS: usize = 8;

/// Number of consecutive numbers of a row or a token.
pub(crate) const QUAD: usize = 4;

/// Dot products, one per token and row.
pub(crate) type PanelSums = [[i32; PANEL]; TOKENS];

/// Returns `sums`, where `sums[t][r]` is the dot product of token `t` with row `r`.
///
/// # Panics
///
/// Panics if the tokens and rows differ in length.
pub(crate) fn products(group: &[u8], panel: &[i8]) -> PanelSums {
    assert!(group.len().is_multiple_of(TOKENS * QUAD) && group.len() / TOKENS == panel.len() / PANEL);
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx512vnni") && std::arch::is_x86_feature_detected!("avx512f") {
        // SAFETY: the required processor features were just detected.
        return unsafe { with_vnni(group, panel) };
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the required processor feature was just detected.
        return unsafe { with_avx2(group, panel) };
    }
    plain(group, panel)
}

/// Pairs the quads of all tokens with the quads of all rows.
fn steps<'a>(
    group: &'a [u8],
    panel: &'a [i8],
) -> impl Iterator<Item = (&'a [[u8; QUAD]], &'a [i8; PANEL * QUAD])> {
    let (quads, _) = group.as_chunks::<QUAD>();
    let (weights, _) = panel.as_chunks::<{ PANEL * QUAD }>();
    quads.chunks_exact(TOKENS).zip(weights)
}

fn plain(group: &[u8], panel: &[i8]) -> PanelSums {
    let mut sums = [[0; PANEL]; TOKENS];
    for (quads, weights) in steps(group, panel) {
        let (rows, _) = weights.as_chunks::<QUAD>();
        for (sums, quad) in sums.iter_mut().zip(quads) {
            for (sum, row) in sums.iter_mut().zip(rows) {
                *sum +=
                    quad.iter().zip(row).map(|(token, row)| i32::from(*token) * i32::from(*row)).sum::<i32>();
            }
        }
    }
    sums
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn with_vnni(group: &[u8], panel: &[i8]) -> PanelSums {
    use std::arch::x86_64::{
        __m512i, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_setzero_si512,
        _mm512_storeu_si512,
    };

    let mut sums = [_mm512_setzero_si512(); TOKENS];
    for (quads, weights) in steps(group, panel) {
        // SAFETY: `weights` holds the 64 bytes that are loaded.
        let weights = unsafe { _mm512_loadu_si512(weights.as_ptr().cast::<__m512i>()) };
        for (sum, quad) in sums.iter_mut().zip(quads) {
            *sum = _mm512_dpbusd_epi32(*sum, _mm512_set1_epi32(i32::from_le_bytes(*quad)), weights);
        }
    }
    let mut stored = [[0; PANEL]; TOKENS];
    for (stored, sum) in stored.iter_mut().zip(sums) {
        // SAFETY: `stored` holds the sixteen numbers that are written.
        unsafe { _mm512_storeu_si512(stored.as_mut_ptr().cast::<__m512i>(), sum) };
    }
    stored
}

/// Number of tokens that AVX2 multiplies with a panel at a time. It has too few registers for the sums of all.
#[cfg(target_arch = "x86_64")]
const AVX2_TOKENS: usize = 4;

/// Multiplies 16-bit numbers. In every lane, the first and third number of a quad are one pair and the other two are
/// another, so that each pair of products is added up in the lane of its row.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2(group: &[u8], panel: &[i8]) -> PanelSums {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_and_si256, _mm256_loadu_si256, _mm256_madd_epi16,
        _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_slli_epi16, _mm256_srai_epi16,
        _mm256_srli_epi16, _mm256_storeu_si256,
    };

    let low_byte = _mm256_set1_epi16(0xff);
    let mut stored = [[0; PANEL]; TOKENS];
    for first in (0..TOKENS).step_by(AVX2_TOKENS) {
        let mut sums = [[_mm256_setzero_si256(); 2]; AVX2_TOKENS];
        for (quads, weights) in steps(group, panel) {
            // SAFETY: `weights` holds the twice 32 bytes that are loaded.
            let halves = unsafe {
                let start = weights.as_ptr().cast::<__m256i>();
                [_mm256_loadu_si256(start), _mm256_loadu_si256(start.add(1))]
            };
            let weights = halves.map(|half| {
                let even = _mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(half));
                (even, _mm256_srai_epi16::<8>(half))
            });
            for (sums, quad) in sums.iter_mut().zip(&quads[first..first + AVX2_TOKENS]) {
                let quad = _mm256_set1_epi32(i32::from_le_bytes(*quad));
                let (even, odd) = (_mm256_and_si256(quad, low_byte), _mm256_srli_epi16::<8>(quad));
                for (sum, (even_weights, odd_weights)) in sums.iter_mut().zip(weights) {
                    let products = _mm256_add_epi32(
                        _mm256_madd_epi16(even, even_weights),
                        _mm256_madd_epi16(odd, odd_weights),
                    );
                    *sum = _mm256_add_epi32(*sum, products);
                }
            }
        }
        for (stored, sums) in stored[first..].iter_mut().zip(sums) {
            for (stored, sum) in stored.as_chunks_mut::<{ PANEL / 2 }>().0.iter_mut().zip(sums) {
                // SAFETY: `stored` holds the eight numbers that are written.
                unsafe { _mm256_storeu_si256(stored.as_mut_ptr().cast::<__m256i>(), sum) };
            }
        }
    }
    stored
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel and its name.
    type NamedKernel = (&'static str, fn(&[u8], &[i8]) -> PanelSums);

    /// Returns the kernels that this processor can run.
    fn kernels() -> Vec<NamedKernel> {
        let mut kernels: Vec<NamedKernel> = vec![("plain", plain)];
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the required processor feature was just detected.
                kernels.push(("AVX2", |group, panel| unsafe { with_avx2(group, panel) }));
            }
            if std::arch::is_x86_feature_detected!("avx512vnni")
                && std::arch::is_x86_feature_detected!("avx512f")
            {
                // SAFETY: the required processor features were just detected.
                kernels.push(("VNNI", |group, panel| unsafe { with_vnni(group, panel) }));
            }
        }
        kernels
    }

    #[test]
    fn all_implementations_return_the_same_numbers() {
        for length in [64, 384, 1536] {
            let group: Vec<u8> = (0..TOKENS * length).map(|index| (index * 37 % 256) as u8).collect();
            let panel: Vec<i8> = (0..PANEL * length).map(|index| (index * 101 % 255) as u8 as i8).collect();
            for (name, kernel) in kernels() {
                assert_eq!(kernel(&group, &panel), plain(&group, &panel), "{name}");
            }
        }
    }

    #[test]
    fn rows_are_multiplied_with_tokens() {
        // Row 3 of the panel starts with 1, 2, 3, 4 and token 2 with 5, 6, 7, 8. All other numbers are zero.
        let (mut group, mut panel) = (vec![0; TOKENS * 64], vec![0; PANEL * 64]);
        group[2 * QUAD..][..4].copy_from_slice(&[5, 6, 7, 8]);
        panel[3 * QUAD..][..4].copy_from_slice(&[1, 2, 3, 4]);
        let sums = products(&group, &panel);
        assert_eq!(sums[2][3], 5 + 12 + 21 + 32);
        assert_eq!(sums.iter().flatten().filter(|sum| **sum != 0).count(), 1);
    }

    #[test]
    fn the_largest_products_do_not_overflow() {
        for (name, kernel) in kernels() {
            let sums = kernel(&[255; TOKENS * 1536], &[-127; PANEL * 1536]);
            assert_eq!(sums, [[-255 * 127 * 1536; PANEL]; TOKENS], "{name}");
        }
    }
}
