//! What every index does, and what becomes of a graph that was kept.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::sync::atomic::AtomicBool;

use memoir_index::{Bytes, Codes, Graph, GraphError, Keep, Scan, VectorIndex, doubt};

const DIMENSIONS: usize = 200;

/// Random vectors of length one, in loose groups of ten, the same every time.
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
        let near = if row % 10 == 0 { None } else { vectors.get(row / 10 * 10).cloned() };
        let mut vector: Vec<f32> = (0..DIMENSIONS).map(|_| random()).collect();
        if let Some(near) = near {
            vector.iter_mut().zip(&near).for_each(|(value, near)| *value = *value * 0.25 + near);
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

/// Codes of all vectors; the graph knows all but the last fifty.
fn fixture(count: usize) -> Fixture {
    let vectors = vectors(count);
    let mut codes = Codes::new(DIMENSIONS);
    let mut bytes = Bytes::new(DIMENSIONS);
    for vector in &vectors[..count - 50] {
        codes.push(vector);
        bytes.push(vector);
    }
    let graph = Graph::build(&codes, &bytes, &AtomicBool::new(false)).unwrap();
    vectors[count - 50..].iter().for_each(|vector| codes.push(vector));
    Fixture { vectors, codes, graph }
}

/// How many of the true ten nearest are found among sixty by estimate.
fn recall(fixture: &Fixture, index: &dyn VectorIndex, keep: Option<&dyn Keep>) -> f64 {
    let (mut hits, mut all) = (0, 0);
    for query in fixture.vectors.iter().step_by(37) {
        let mut exact: Vec<(f32, u32)> = (0..)
            .zip(&fixture.vectors)
            .filter(|(row, _)| keep.is_none_or(|keep| keep.keeps(*row)))
            .map(|(row, vector)| (dot(query, vector), row))
            .collect();
        // What is not near at all is in no particular order.
        exact.retain(|(cosine, _)| *cosine > 0.3);
        exact.sort_by(|a, b| b.0.total_cmp(&a.0));
        let found = index.nearest(&fixture.codes, &fixture.codes.query(query), keep, 60);
        assert!(found.is_sorted_by(|a, b| a.estimate >= b.estimate));
        assert!(found.len() <= 60 && found.iter().all(|found| keep.is_none_or(|keep| keep.keeps(found.row))));
        all += exact.len().min(10);
        hits += exact.iter().take(10).filter(|(_, row)| found.iter().any(|found| found.row == *row)).count();
    }
    f64::from(hits as u32) / f64::from(all as u32)
}

#[test]
fn the_nearest_are_among_the_first_by_estimate() {
    let fixture = fixture(3000);
    assert!(recall(&fixture, &Scan, None) >= 0.99);
    // Groups that lie apart like these are the hardest case for a graph; text is kinder to it.
    assert!(recall(&fixture, &fixture.graph, None) >= 0.9);
}

#[test]
fn a_filter_is_part_of_the_search() {
    let fixture = fixture(3000);
    // One row in a hundred is kept: after the search, nothing would be left of sixty.
    let (few, half, most): (&dyn Keep, &dyn Keep, &dyn Keep) =
        (&|row: u32| row % 100 == 7, &|row: u32| row < 1500, &|row: u32| row % 10 != 3);
    for keep in [few, half, most] {
        assert!(recall(&fixture, &Scan, Some(keep)) >= 0.99);
        let query = fixture.codes.query(&fixture.vectors[11]);
        let mut all = Scan.nearest(&fixture.codes, &query, None, 3000);
        all.retain(|found| keep.keeps(found.row));
        assert_eq!(Scan.nearest(&fixture.codes, &query, Some(keep), 3000), all);
        assert!(recall(&fixture, &fixture.graph, Some(keep)) >= 0.9);
    }
    let nothing =
        Scan.nearest(&fixture.codes, &fixture.codes.query(&fixture.vectors[0]), Some(&|_: u32| false), 5);
    assert!(nothing.is_empty());
}

#[test]
fn estimates_fall_short_by_more_than_their_doubt_hardly_ever() {
    let fixture = fixture(500);
    let (mut short, mut half, mut all) = (0, 0, 0);
    for query in fixture.vectors.iter().step_by(7) {
        for found in Scan.nearest(&fixture.codes, &fixture.codes.query(query), None, 500) {
            let cosine = f64::from(dot(query, &fixture.vectors[found.row as usize]));
            let (missing, doubt) = (cosine - f64::from(found.estimate), doubt(cosine, DIMENSIONS));
            all += 1;
            short += usize::from(missing > doubt);
            half += usize::from(missing > doubt / 2.0);
        }
    }
    assert!(short * 200 < all, "{short} of {all}");
    assert!(half * 50 > all, "{half} of {all}: a smaller doubt would do");
}

#[test]
fn estimates_are_close_to_cosines() {
    let fixture = fixture(300);
    let query = &fixture.vectors[10];
    for found in Scan.nearest(&fixture.codes, &fixture.codes.query(query), None, 300) {
        let cosine = dot(query, &fixture.vectors[found.row as usize]);
        assert!((found.estimate - cosine).abs() < 0.35, "{found:?} is {cosine}");
    }
    let empty = Codes::new(DIMENSIONS);
    assert!(Scan.nearest(&empty, &empty.query(query), None, 5).is_empty());
    assert!(Scan.nearest(&fixture.codes, &fixture.codes.query(query), None, 0).is_empty());
}

#[test]
fn codes_survive_being_kept() {
    let fixture = fixture(301);
    for cut in [0, 8, 13] {
        let mut kept = Codes::new(DIMENSIONS);
        fixture.vectors[..cut].iter().for_each(|vector| kept.push(vector));
        let mut bytes = Vec::new();
        fixture.codes.export(cut..301, &mut bytes);
        assert!(kept.import(&bytes, 301 - cut));
        let query = fixture.codes.query(&fixture.vectors[5]);
        assert_eq!(
            Scan.nearest(&kept, &query, None, 301),
            Scan.nearest(&fixture.codes, &query, None, 301),
            "{cut}"
        );
        assert!(!kept.import(&bytes[1..], 301 - cut), "not whole rows");
    }
}

#[test]
fn a_graph_is_taken_back_only_whole_and_for_the_same_rows() {
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
        assert_eq!(load(&damaged).unwrap_err(), GraphError::Damaged, "at {place}");
    }
    assert_eq!(load(&bytes[..bytes.len() - 9]).unwrap_err(), GraphError::Damaged);
    assert_eq!(load(b"").unwrap_err(), GraphError::Damaged);
}

#[test]
fn building_stops_when_it_is_told_to() {
    let fixture = fixture(60);
    let mut bytes = Bytes::new(DIMENSIONS);
    fixture.vectors.iter().for_each(|vector| bytes.push(vector));
    assert!(Graph::build(&fixture.codes, &bytes, &AtomicBool::new(true)).is_none());
}
