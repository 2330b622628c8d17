//! Units with which systemd runs Memoir.

use std::path::Path;

use crate::{environment::Environment, failure::Failure};

/// What the server does without, so that nobody who takes it over has it.
const SERVER_LIMITS: &str = "NoNewPrivileges=yes\nLockPersonality=yes\nRestrictRealtime=yes\nSystemCallArchitectures=native\nUMask=0077\n";

/// What a unit runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Service {
    /// `memoir daemon`.
    Daemon,
    /// `memoir serve` with further arguments.
    Server(Vec<String>),
}

/// Returns a systemd user unit. systemd does not pass on the environment of this process, so the unit contains the path of
/// the program and the variables that determine where the database is.
///
/// # Errors
///
/// Fails if the path of the program is unknown, or if a relative path in a variable cannot be resolved.
pub fn unit(service: &Service, environment: &Environment) -> Result<String, Failure> {
    let program = environment.program().ok_or_else(|| {
        Failure::failed("could not determine the path of this program")
            .hint("Start `memoir` by its full path.")
    })?;
    let mut variables = String::new();
    for name in ["MEMOIR_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"] {
        let value = environment.variables().find(|(other, value)| other == name && !value.is_empty());
        if let Some((_, value)) = value {
            let value = std::path::absolute(value)?;
            variables.push_str(&format!("Environment=\"{name}={}\"\n", escape_path(&value)));
        }
    }
    let (name, description, arguments, limits) = match service {
        // Its tasks may run any command that the user allows.
        Service::Daemon => ("memoir", "Memoir scheduled tasks", " daemon".to_owned(), ""),
        Service::Server(arguments) => {
            let arguments =
                arguments.iter().map(|argument| format!(" \"{}\"", escape(argument).replace('$', "$$")));
            let arguments = format!(" serve{}", arguments.collect::<String>());
            ("memoir-serve", "Memoir server", arguments, SERVER_LIMITS)
        }
    };
    Ok(format!(
        "# Save as ~/.config/systemd/user/{name}.service, then: systemctl --user enable --now {name}\n\
         [Unit]\nDescription={description}\n\n\
         [Service]\nExecStart=\"{}\"{arguments}\n{variables}\
         # API keys, one per line: ANTHROPIC_API_KEY=...\nEnvironmentFile=-%h/.config/memoir/environment\n\
         Restart=on-failure\n{limits}\n\
         [Install]\nWantedBy=default.target",
        escape_path(program)
    ))
}

fn escape_path(path: &Path) -> String {
    escape(&path.display().to_string())
}

/// Escapes a text for use in double quotes in a systemd unit.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%")
}
