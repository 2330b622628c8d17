//! Selects the lines on the current branch of a session: those that lead to the last message.

use std::collections::{HashMap, HashSet};

use super::line::SessionLine;

/// Returns the indexes of the lines on the path to the last message.
///
/// If a line's parent is missing, as after a compaction, the preceding message counts as its parent, so that
/// no message is lost.
pub(super) fn current_lines(lines: &[SessionLine]) -> HashSet<usize> {
    let is_main = |line: &SessionLine| !line.is_sidechain.is_true();
    let can_be_parent =
        |line: &SessionLine| is_main(line) && line.speaker().is_some() && line.uuid.text().is_some();
    let mut indexes: HashMap<&str, usize> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        if let Some(id) = line.uuid.text().filter(|_| is_main(line)) {
            indexes.entry(id).or_insert(index);
        }
    }
    let preceding = |end: usize, visited: &HashSet<usize>| {
        (0..end).rev().find(|index| can_be_parent(&lines[*index]) && !visited.contains(index))
    };
    let mut visited = HashSet::new();
    let mut next = preceding(lines.len(), &visited);
    while let Some(index) = next {
        visited.insert(index);
        let line = &lines[index];
        let parent_id = line.parent_uuid.text().or(line.logical_parent_uuid.text());
        let parent =
            parent_id.and_then(|id| indexes.get(id).copied()).filter(|index| !visited.contains(index));
        next = parent.or_else(|| preceding(index, &visited));
    }
    add_rest_of_answers(lines, visited)
}

/// Adds the other lines of each answer, because an answer spans several lines and any of them may be the
/// parent of the next message. Also adds lines without an id, which belong to no branch.
fn add_rest_of_answers(lines: &[SessionLine], mut current: HashSet<usize>) -> HashSet<usize> {
    let answers: HashSet<&str> = current.iter().filter_map(|index| lines[*index].answer_id()).collect();
    let added = lines.iter().enumerate().filter(|(_, line)| {
        line.uuid.text().is_none() || line.answer_id().is_some_and(|id| answers.contains(id))
    });
    current.extend(added.map(|(index, _)| index));
    current
}
