//! Compares the built-in model with the 32-bit encoder it was quantized from.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use memoir_embed::{DIMENSIONS, embed_blocking};
use sha2::{Digest as _, Sha256};

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[test]
fn embeddings_have_a_cosine_of_at_least_0_99_with_the_32_bit_encoder() {
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
fn unusual_texts_have_unit_length_embeddings() {
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
fn embedding_does_not_depend_on_the_batch() {
    let texts: Vec<String> = (0..9).map(|number| format!("sentence number {number}")).collect();
    let batch = embed_blocking(&texts).unwrap().vectors;
    for (text, vector) in texts.iter().zip(batch) {
        assert_eq!(embed_blocking(std::slice::from_ref(text)).unwrap().vectors[0], vector);
    }
}

#[test]
fn assets_match_their_checksums() {
    for line in include_str!("../assets/SHA256SUMS").lines() {
        let (digest, name) = line.split_once("  ").unwrap();
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets").join(name);
        let bytes = std::fs::read(path).unwrap();
        assert!(bytes.len() <= 25_000_000, "{name} is too large");
        let actual: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(actual, digest, "{name}");
    }
}
