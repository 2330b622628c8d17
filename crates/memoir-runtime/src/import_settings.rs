//! The `import.*` settings.

use memoir_core::setting::{HasSettings, SWITCH, Setting, assign, choice_name, parse_choice};

/// Settings of imports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportSettings {
    /// Whether the REPL and the daemon follow the sessions of other programs.
    pub watch: bool,
}

impl HasSettings for ImportSettings {
    const ALL: &'static [Setting<Self>] = &[Setting {
        key: "import.watch",
        aliases: &[],
        valid_values: "on or off",
        summary: "whether the REPL and the daemon store new exchanges of Claude Code, Codex, Gemini CLI and opencode",
        show: |settings| choice_name(&settings.watch, &SWITCH),
        change: |settings, value| assign(&mut settings.watch, parse_choice(value, &SWITCH)),
    }];
}
