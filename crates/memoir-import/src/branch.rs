//! Talk that forks: where someone asked again or took back what he said, only the branch that is current is read.

use std::{collections::HashSet, iter};

/// The way from the root to a leaf. It begins where a parent is missing, or was passed already.
pub(crate) fn to_leaf<'a>(leaf: &'a str, parent_of: impl Fn(&'a str) -> Option<&'a str>) -> Vec<&'a str> {
    let mut passed = HashSet::new();
    let mut way: Vec<&str> =
        iter::successors(Some(leaf), |id| parent_of(id)).take_while(|id| passed.insert(*id)).collect();
    way.reverse();
    way
}

#[cfg(test)]
mod tests {
    use super::to_leaf;

    #[test]
    fn the_way_ends_at_the_root_and_never_goes_in_circles() {
        let parents = |id: &str| match id {
            "c" => Some("b"),
            "b" => Some("a"),
            "x" => Some("y"),
            "y" => Some("x"),
            _ => None,
        };
        assert_eq!(to_leaf("c", parents), ["a", "b", "c"]);
        assert_eq!(to_leaf("x", parents), ["y", "x"]);
        assert_eq!(to_leaf("alone", parents), ["alone"]);
    }
}
