//! The contract of both indexes, and loading of saved codes and graphs.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::atomic::AtomicBool;

use memoir_index::{Codes, Graph, GraphError, QuantizedVectors, RowFilter, Scan, VectorIndex, error_margin};

const DIMENSIONS: usize = 200;

/// Returns deterministic random unit vectors in loose groups of ten.
fn vectors(count: usize) -> Vec<Vec<f32>> {
    let mut state = 42_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / 16_777_216.0 - 0.5
    };
    let mut vectors: Vec<Vec<f32>> = Vec::new();
    for row in 0..count {
        let center = if row % 10 == 0 { None } else { vectors.get(row / 10 * 10).cloned() };
        let mut vector: Vec<f32> = (0..DIMENSIONS).map(|_| random()).collect();
        if let Some(center) = center {
            vector.iter_mut().zip(&center).for_each(|(value, center)| *value = *value * 0.25 + center);
        }
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.iter_mut().for_each(|value| *value /= length);
        vectors.push(vector);
    }
    vectors
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

struct Fixture {
    vectors: Vec<Vec<f32>>,
    codes: Codes,
    graph: Graph,
}

/// Returns codes of all vectors and a graph over all but the last fifty.
fn fixture(count: usize) -> Fixture {
    let vectors = vectors(count);
    let mut codes = Codes::new(DIMENSIONS);
    let mut bytes = QuantizedVectors::new(DIMENSIONS);
    for vector in &vectors[..count - 50] {
        codes.push(vector);
        bytes.push(vector);
    }
    let graph = Graph::build(&codes, &bytes, &AtomicBool::new(false)).unwrap();
    vectors[count - 50..].iter().for_each(|vector| codes.push(vector));
    Fixture { vectors, codes, graph }
}

/// Returns the fraction of the true ten nearest vectors that are among the sixty best estimates.
fn recall(fixture: &Fixture, index: &dyn VectorIndex, filter: Option<&dyn RowFilter>) -> f64 {
    let (mut hits, mut all) = (0, 0);
    for query in fixture.vectors.iter().step_by(37) {
        let mut exact: Vec<(f32, u32)> = (0..)
            .zip(&fixture.vectors)
            .filter(|(row, _)| filter.is_none_or(|filter| filter.accepts(*row)))
            .map(|(row, vector)| (dot(query, vector), row))
            .collect();
        // Ignore distant vectors, whose order is arbitrary.
        exact.retain(|(cosine, _)| *cosine > 0.3);
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        let nearest = index.nearest(&fixture.codes, &fixture.codes.query(query), filter, 60);
        assert!(nearest.is_sorted_by(|a, b| a.estimate >= b.estimate));
        assert!(nearest.len() <= 60);
        assert!(nearest.iter().all(|candidate| filter.is_none_or(|filter| filter.accepts(candidate.row))));
        all += exact.len().min(10);
        let is_hit = |row: u32| nearest.iter().any(|candidate| candidate.row == row);
        hits += exact.iter().take(10).filter(|(_, row)| is_hit(*row)).count();
    }
    f64::from(hits as u32) / f64::from(all as u32)
}

#[test]
fn nearest_vectors_are_among_the_best_estimates() {
    let fixture = fixture(3000);
    assert!(recall(&fixture, &Scan, None) >= 0.99);
    // Separate groups are the hardest case for a graph. Embeddings of real text are easier.
    assert!(recall(&fixture, &fixture.graph, None) >= 0.9);
}

#[test]
fn filters_apply_during_the_search() {
    let fixture = fixture(3000);
    // `few` accepts one row in a hundred: a filter applied to sixty results would leave almost none.
    let (few, half, most): (&dyn RowFilter, &dyn RowFilter, &dyn RowFilter) =
        (&|row: u32| row % 100 == 7, &|row: u32| row < 1500, &|row: u32| row % 10 != 3);
    for filter in [few, half, most] {
        assert!(recall(&fixture, &Scan, Some(filter)) >= 0.99);
        let query = fixture.codes.query(&fixture.vectors[11]);
        let mut all = Scan.nearest(&fixture.codes, &query, None, 3000);
        all.retain(|candidate| filter.accepts(candidate.row));
        assert_eq!(Scan.nearest(&fixture.codes, &query, Some(filter), 3000), all);
        assert!(recall(&fixture, &fixture.graph, Some(filter)) >= 0.9);
    }
    let nothing =
        Scan.nearest(&fixture.codes, &fixture.codes.query(&fixture.vectors[0]), Some(&|_: u32| false), 5);
    assert!(nothing.is_empty());
}

#[test]
fn estimates_rarely_fall_short_by_more_than_the_doubt() {
    let fixture = fixture(500);
    let (mut beyond, mut beyond_half, mut all) = (0, 0, 0);
    for query in fixture.vectors.iter().step_by(7) {
        for candidate in Scan.nearest(&fixture.codes, &fixture.codes.query(query), None, 500) {
            let cosine = f64::from(dot(query, &fixture.vectors[candidate.row as usize]));
            let (shortfall, error_margin) =
                (cosine - f64::from(candidate.estimate), error_margin(cosine, DIMENSIONS));
            all += 1;
            beyond += usize::from(shortfall > error_margin);
            beyond_half += usize::from(shortfall > error_margin / 2.0);
        }
    }
    assert!(beyond * 200 < all, "{beyond} of {all}");
    assert!(beyond_half * 50 > all, "{beyond_half} of {all}: the margin is larger than necessary");
}

#[test]
fn estimates_are_close_to_cosines() {
    let fixture = fixture(300);
    let query = &fixture.vectors[10];
    for candidate in Scan.nearest(&fixture.codes, &fixture.codes.query(query), None, 300) {
        let cosine = dot(query, &fixture.vectors[candidate.row as usize]);
        assert!((candidate.estimate - cosine).abs() < 0.35, "{candidate:?}, true cosine {cosine}");
    }
    let empty = Codes::new(DIMENSIONS);
    assert!(Scan.nearest(&empty, &empty.query(query), None, 5).is_empty());
    assert!(Scan.nearest(&fixture.codes, &fixture.codes.query(query), None, 0).is_empty());
}

#[test]
fn exported_codes_can_be_imported() {
    let fixture = fixture(301);
    for cut in [0, 8, 13] {
        let mut imported = Codes::new(DIMENSIONS);
        fixture.vectors[..cut].iter().for_each(|vector| imported.push(vector));
        let mut bytes = Vec::new();
        fixture.codes.export(cut..301, &mut bytes);
        assert!(imported.import(&bytes, 301 - cut));
        let query = fixture.codes.query(&fixture.vectors[5]);
        assert_eq!(
            Scan.nearest(&imported, &query, None, 301),
            Scan.nearest(&fixture.codes, &query, None, 301),
            "{cut}"
        );
        assert!(!imported.import(&bytes[1..], 301 - cut), "truncated rows are rejected");
    }
}

#[test]
fn damaged_and_stale_graphs_are_rejected() {
    let fixture = fixture(500);
    let bytes = fixture.graph.to_bytes(7);
    let load = |bytes: &[u8]| Graph::from_bytes(bytes, &fixture.codes, |rows| (rows == 450).then_some(7));
    assert_eq!(load(&bytes).as_ref(), Ok(&fixture.graph));
    let other_rows = Graph::from_bytes(&bytes, &fixture.codes, |_| Some(8));
    assert_eq!(other_rows.unwrap_err(), GraphError::Stale);
    let fewer = Graph::from_bytes(&bytes, &Codes::new(DIMENSIONS), |_| Some(7));
    assert_eq!(fewer.unwrap_err(), GraphError::Stale);
    for place in [0, 20, bytes.len() / 2, bytes.len() - 1] {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1;
        assert_eq!(load(&damaged).unwrap_err(), GraphError::Damaged, "byte {place}");
    }
    assert_eq!(load(&bytes[..bytes.len() - 9]).unwrap_err(), GraphError::Damaged);
    assert_eq!(load(b"").unwrap_err(), GraphError::Damaged);
}

#[test]
fn building_stops_when_the_flag_is_set() {
    let fixture = fixture(60);
    let mut bytes = QuantizedVectors::new(DIMENSIONS);
    fixture.vectors.iter().for_each(|vector| bytes.push(vector));
    assert!(Graph::build(&fixture.codes, &bytes, &AtomicBool::new(true)).is_none());
}
