//! The `terminal.*` settings of front ends in a terminal.

use memoir_core::setting::{HasSettings, SWITCH, Setting, assign, choice_name, parse_choice};

/// Keys of the line editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyStyle {
    /// The keys of Emacs, which most shells have too.
    Emacs,
    /// The keys of vi, with an insert and a normal mode.
    Vi,
}

const KEY_STYLES: [(&str, KeyStyle); 2] = [("emacs", KeyStyle::Emacs), ("vi", KeyStyle::Vi)];

/// Settings of the terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TerminalSettings {
    /// Keys of the line editor.
    pub keys: KeyStyle,
    /// Whether a line above the prompt shows the model, the project and the costs.
    pub status_line: bool,
}

impl Default for TerminalSettings {
    fn default() -> Self {
        Self { keys: KeyStyle::Emacs, status_line: true }
    }
}

impl HasSettings for TerminalSettings {
    const ALL: &'static [Setting<Self>] = &[
        Setting {
            key: "terminal.keys",
            aliases: &[],
            valid_values: "emacs or vi",
            summary: "keys of the line editor",
            show: |settings| choice_name(&settings.keys, &KEY_STYLES),
            change: |settings, value| assign(&mut settings.keys, parse_choice(value, &KEY_STYLES)),
        },
        Setting {
            key: "terminal.status_line",
            aliases: &[],
            valid_values: "on or off",
            summary: "whether a line above the prompt shows the model, the project, costs and background work",
            show: |settings| choice_name(&settings.status_line, &SWITCH),
            change: |settings, value| assign(&mut settings.status_line, parse_choice(value, &SWITCH)),
        },
    ];
}
