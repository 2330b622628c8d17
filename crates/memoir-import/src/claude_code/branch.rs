//! Which lines of a session are current: those that lead to the last one.

use std::collections::{HashMap, HashSet};

use super::line::SessionLine;

/// The places of the lines that lead to the last thing that was said.
///
/// Where a line's parent is missing, as after the program summed up what came before, the line before it is taken for it:
/// nothing is lost that way.
pub(super) fn current(lines: &[SessionLine]) -> HashSet<usize> {
    let main = |line: &SessionLine| !line.is_sidechain.is_true();
    let leads = |line: &SessionLine| main(line) && line.speaker().is_some() && line.uuid.text().is_some();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (place, line) in lines.iter().enumerate() {
        if let Some(id) = line.uuid.text().filter(|_| main(line)) {
            places.entry(id).or_insert(place);
        }
    }
    let before = |end: usize, passed: &HashSet<usize>| {
        (0..end).rev().find(|place| leads(&lines[*place]) && !passed.contains(place))
    };
    let mut passed = HashSet::new();
    let mut next = before(lines.len(), &passed);
    while let Some(place) = next {
        passed.insert(place);
        let line = &lines[place];
        let parent = line.parent_uuid.text().or(line.logical_parent_uuid.text());
        let parent = parent.and_then(|id| places.get(id).copied()).filter(|place| !passed.contains(place));
        next = parent.or_else(|| before(place, &passed));
    }
    with_whole_answers(lines, passed)
}

/// An answer stands in several lines, and what follows may hang on any of them. Lines without an id hang on nothing.
fn with_whole_answers(lines: &[SessionLine], mut current: HashSet<usize>) -> HashSet<usize> {
    let answers: HashSet<&str> = current.iter().filter_map(|place| lines[*place].answer_id()).collect();
    let more = lines.iter().enumerate().filter(|(_, line)| {
        line.uuid.text().is_none() || line.answer_id().is_some_and(|id| answers.contains(id))
    });
    current.extend(more.map(|(place, _)| place));
    current
}
