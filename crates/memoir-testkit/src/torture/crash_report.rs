//! What a crash test did, and how often.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
};

use super::coverage;

/// An action during which the program is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CrashAction {
    Turn,
    ToolTurn,
    Work,
    Import,
    Forget,
    Document,
    BackUp,
    Repair,
}

/// Actions to draw from. Turns are the most frequent, as in normal use.
pub(super) const ACTIONS: [CrashAction; 10] = [
    CrashAction::Turn,
    CrashAction::Turn,
    CrashAction::ToolTurn,
    CrashAction::Work,
    CrashAction::Import,
    CrashAction::Forget,
    CrashAction::Turn,
    CrashAction::Document,
    CrashAction::BackUp,
    CrashAction::Repair,
];

/// The results of a crash test.
#[derive(Debug, Default)]
pub struct CrashReport {
    /// Number of kills by action.
    pub kills: BTreeMap<String, usize>,
    /// Number of runs that ended before they could be killed.
    pub survived: usize,
    /// Number of acknowledged exchanges.
    pub acknowledged: usize,
    /// Number of confirmed imports.
    pub imported: usize,
    /// Number of confirmed documents.
    pub documents: usize,
    /// Number of confirmed deletions of exchanges.
    pub forgotten: usize,
    /// Number of backups that were checked.
    pub backups: usize,
    /// Number of confirmed repairs.
    pub repairs: usize,
}

impl CrashReport {
    /// Returns the total number of kills.
    pub(super) fn total(&self) -> usize {
        self.kills.values().sum()
    }

    /// Describes an event that occurred too rarely for a meaningful result. In 300 kills, each action is
    /// killed about 30 times and turns 90 times; about 70 exchanges are acknowledged and 13 deleted.
    pub fn shortfall(&self) -> Option<String> {
        let total = self.total();
        let actions: HashSet<String> = ACTIONS.iter().map(|action| format!("{action:?}")).collect();
        let kills = actions.into_iter().map(|action| {
            let count = self.kills.get(&action).copied().unwrap_or(0);
            (format!("kills during {action}"), count, total / 60)
        });
        coverage::find_shortfall(kills.chain([
            ("acknowledged exchanges".into(), self.acknowledged, total / 15),
            ("imported histories".into(), self.imported, total / 100),
            ("added documents".into(), self.documents, total / 100),
            ("deleted exchanges".into(), self.forgotten, total / 100),
            ("backups".into(), self.backups, total / 100),
            ("repairs".into(), self.repairs, total / 100),
        ]))
    }
}

impl fmt::Display for CrashReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, survived, acknowledged, imported, documents, forgotten, backups, repairs } = self;
        write!(
            f,
            "{} kills ({kills:?}), {survived} completed runs, {acknowledged} acknowledged exchanges, \
             {imported} imported histories, {documents} added documents, {forgotten} deleted exchanges, \
             {backups} backups, {repairs} repairs",
            self.total()
        )
    }
}
