//! What is recorded: five tasks, each in a home of its own.

use std::{fs, path::Path};

use memoir_testkit::{Reply, ScriptedProvider, TestHome};
use serde_json::{Value, json};

use super::{RecordedFrame, Recorder};
use crate::ChoreError;

/// A recorded task.
pub(super) struct RecordedTask {
    /// Name of the file.
    pub(super) name: &'static str,
    /// Description for people who cannot see the picture.
    pub(super) title: &'static str,
    /// Runs the program at this path through the task.
    pub(super) record: fn(&Path) -> Result<Vec<RecordedFrame>, ChoreError>,
}

/// All sessions, in the order of the documentation.
pub(super) const SESSIONS: [RecordedTask; 5] = [
    RecordedTask {
        name: "ask",
        title: "The demo answers a question, names the source and explains why it was recalled",
        record: ask,
    },
    RecordedTask {
        name: "import",
        title: "An export of ChatGPT is imported, and a question about it is answered",
        record: import,
    },
    RecordedTask {
        name: "documents",
        title: "A directory of notes is added, and a question about it is answered",
        record: documents,
    },
    RecordedTask {
        name: "forget",
        title: "An exchange is deleted and can no longer be recalled",
        record: forget,
    },
    RecordedTask {
        name: "tools",
        title: "A model, here a script, fixes a file and runs a test after approval",
        record: tools,
    },
];

fn ask(binary: &Path) -> Result<Vec<RecordedFrame>, ChoreError> {
    let home = TestHome::new(binary);
    let mut recorder = Recorder::start(&home, None, &["demo"]);
    recorder.ask("Which two colours suit somebody who mixes up red and green?", "recalled", 5);
    recorder.ask("/why", "score", 4);
    Ok(recorder.frames)
}

fn import(binary: &Path) -> Result<Vec<RecordedFrame>, ChoreError> {
    let home = TestHome::new(binary);
    let conversations = [
        chatgpt_conversation(
            "Boiler maintenance",
            1_772_000_000,
            &[
                ("user", "The boiler shows F28 again. The plumber changed the gas valve in January."),
                (
                    "assistant",
                    "F28 means that the burner did not ignite. After a new valve, check the gas pressure first.",
                ),
                ("user", "It was the pressure: 14 mbar instead of 20. The gas company fixed it on Tuesday."),
                ("assistant", "Good. Keep 20 mbar in mind as the value to compare with next time."),
            ],
        ),
        chatgpt_conversation(
            "Ten days in Slovenia",
            1_773_000_000,
            &[
                ("user", "We want to hike from hut to hut in the Julian Alps, at most five hours a day."),
                ("assistant", "Start at Pokljuka and walk over Vodnikov dom and Planika to the Seven Lakes."),
            ],
        ),
    ];
    write(&home, "chatgpt-export", "conversations.json", &json!(conversations).to_string())?;
    let mut recorder = Recorder::start(&home, None, &[]);
    recorder.ask("/import chatgpt chatgpt-export", "Imported", 3);
    recorder.ask("What was wrong when the boiler showed F28?", "recalled", 5);
    Ok(recorder.frames)
}

/// Returns a conversation as ChatGPT exports it.
fn chatgpt_conversation(title: &str, start: u64, messages: &[(&str, &str)]) -> Value {
    let nodes = messages.iter().enumerate().map(|(number, (role, text))| {
        let node = json!({
            "id": number.to_string(),
            "parent": number.checked_sub(1).map(|parent| parent.to_string()),
            "children": if number + 1 < messages.len() { vec![(number + 1).to_string()] } else { Vec::new() },
            "message": {
                "id": format!("{title} {number}"),
                "author": {"role": role},
                "create_time": start + 60 * number as u64,
                "content": {"content_type": "text", "parts": [text]},
                "recipient": "all",
            },
        });
        (number.to_string(), node)
    });
    json!({
        "id": title,
        "title": title,
        "create_time": start,
        "update_time": start,
        "current_node": (messages.len() - 1).to_string(),
        "mapping": nodes.collect::<serde_json::Map<_, _>>(),
    })
}

fn documents(binary: &Path) -> Result<Vec<RecordedFrame>, ChoreError> {
    let home = TestHome::new(binary);
    write(
        &home,
        "handbook",
        "workshop.md",
        "# Workshop\n\n## Saw\n\nThe blade of the table saw is changed after 40 hours. New blades are in drawer 7.\n\n\
         ## Dust\n\nThe dust collector must run before the planer is switched on.\n",
    )?;
    write(
        &home,
        "handbook",
        "orders.md",
        "# Orders\n\nOak comes from Huber in Passau and takes three weeks. Ash comes from the sawmill in the village.\n",
    )?;
    let mut recorder = Recorder::start(&home, None, &[]);
    recorder.ask("/docs add handbook", "Added", 3);
    recorder.ask("Where are the new blades of the table saw?", "recalled", 5);
    Ok(recorder.frames)
}

fn forget(binary: &Path) -> Result<Vec<RecordedFrame>, ChoreError> {
    let home = TestHome::new(binary);
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    for prompt in ["The spare key hangs behind the boiler.", "The bins are collected on Thursdays."] {
        home.memoir(["-p", prompt]).provider(&provider).succeed();
    }
    let mut recorder = Recorder::start(&home, None, &[]);
    recorder.ask("Where does the spare key hang?", "recalled", 4);
    recorder.enter("/memory forget --exchange 1", "[y/N]");
    recorder.pause(3);
    recorder.ask("y", "Deleted", 3);
    recorder.ask("Where does the spare key hang?", "Nothing in memory", 4);
    Ok(recorder.frames)
}

fn tools(binary: &Path) -> Result<Vec<RecordedFrame>, ChoreError> {
    let home = TestHome::new(binary);
    write(
        &home,
        "",
        "convert.py",
        "def to_fahrenheit(celsius):\n    \"\"\"Convert a temperature.\"\"\"\n    return celsius * 9 / 5 + 23\n",
    )?;
    write(
        &home,
        "",
        "test_convert.py",
        "from convert import to_fahrenheit\n\nassert to_fahrenheit(100) == 212\nprint('1 test passed')\n",
    )?;
    let edit = json!({"path": "convert.py", "operation": "replace", "anchor": "+ 23", "text": "+ 32"});
    let provider = ScriptedProvider::start([
        Reply::tool_call("1", "file_read", &json!({"path": "convert.py"})),
        Reply::text("The offset is wrong: it should be 32.").and_tool_call("2", "file_edit", &edit),
        Reply::tool_call("3", "execute_bash", &json!({"command": "python3 test_convert.py"})),
        Reply::text("Fixed: the digits of the offset were swapped. The test passes."),
    ]);
    let mut recorder = Recorder::start(&home, Some(&provider), &[]);
    recorder.enter("100 °C becomes 203 °F. Fix it and run the test.", "Allow?");
    recorder.pause(3);
    recorder.enter("y", "| python3");
    recorder.pause(2);
    recorder.ask("y", "The test passes.", 5);
    Ok(recorder.frames)
}

/// Writes a file in a directory of the workspace.
fn write(home: &TestHome, directory: &str, name: &str, text: &str) -> Result<(), ChoreError> {
    let directory = home.workspace().join(directory);
    let path = directory.join(name);
    let outcome = fs::create_dir_all(directory).and_then(|()| fs::write(&path, text));
    outcome.map_err(|error| ChoreError::file(&path, error))
}
