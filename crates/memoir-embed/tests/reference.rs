//! The compiled-in model against vectors of the original.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use memoir_embed::{DIMENSIONS, embed_blocking};
use sha2::{Digest as _, Sha256};

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn vectors_are_those_of_the_original_to_a_cosine_of_0_99() {
    let sentences: Vec<String> = include_str!("sentences.txt").lines().map(str::to_owned).collect();
    let reference: Vec<f32> = include_bytes!("reference.f16")
        .chunks_exact(2)
        .map(|bytes| half::f16::from_le_bytes([bytes[0], bytes[1]]).to_f32())
        .collect();
    assert!(sentences.len() >= 250 && reference.len() == sentences.len() * DIMENSIONS);
    let vectors = embed_blocking(&sentences).unwrap().vectors;
    for (index, sentence) in sentences.iter().enumerate() {
        let cosine = cosine(&vectors[index], &reference[index * DIMENSIONS..][..DIMENSIONS]);
        assert!(cosine >= 0.99, "{cosine} for {sentence:?}");
    }
}

#[test]
fn vectors_have_length_one_and_no_text_is_too_strange() {
    let texts = ["", " \n", "\0\u{fffd}", "🦀", "word ".repeat(5000).as_str(), "x".repeat(5000).as_str()]
        .map(str::to_owned);
    for vector in embed_blocking(&texts).unwrap().vectors {
        assert_eq!(vector.len(), DIMENSIONS);
        let length: f32 = vector.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-4, "{length}");
    }
    assert!(embed_blocking(&[]).unwrap().vectors.is_empty());
}

#[test]
fn a_text_has_one_vector_whatever_stands_beside_it() {
    let texts: Vec<String> = (0..9).map(|number| format!("sentence number {number}")).collect();
    let together = embed_blocking(&texts).unwrap().vectors;
    for (text, vector) in texts.iter().zip(together) {
        assert_eq!(embed_blocking(std::slice::from_ref(text)).unwrap().vectors[0], vector);
    }
}

#[test]
fn the_asset_is_the_one_that_was_made() {
    for line in include_str!("../assets/SHA256SUMS").lines() {
        let (digest, name) = line.split_once("  ").unwrap();
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name);
        let bytes = std::fs::read(path).unwrap();
        assert!(bytes.len() <= 25_000_000, "{name} is too large");
        let actual: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(actual, digest, "{name}");
    }
}
