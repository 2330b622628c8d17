//! `skill`: instructions for a kind of work, kept in folders with a `SKILL.md`, loaded when they are needed.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use memoir_core::{ToolSpec, without_fence};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Tool, ToolContext, ToolError, ToolOutput,
    output::cap,
    tool::{object, parse},
};

/// More of a skill is not loaded, in bytes.
const LONGEST: usize = 20_000;

/// A longer description is cut where it stands in every request.
const LONGEST_DESCRIPTION: usize = 200;

/// So many are offered.
const MOST: usize = 30;

/// A skill, by its front matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    /// Its name.
    pub name: String,
    /// When to use it.
    pub description: String,
    folder: PathBuf,
}

/// The skills that were found.
#[derive(Debug, Clone, Default)]
pub struct Skills {
    /// By name; of two with one name the first counts.
    pub all: Vec<Skill>,
    /// What was amiss with others.
    pub faults: Vec<String>,
}

impl Skills {
    /// Looks into the project's folder of skills and the user's own; one that does not exist holds none. What comes with a project does
    /// not lead out of it: a link could name any file of the user's.
    pub fn find(project: &Path, user: &Path) -> Self {
        let mut skills = Self::default();
        for (folder, is_free) in [(project, false), (user, true)] {
            let Ok(root) = folder.canonicalize() else { continue };
            let stays =
                |file: &Path| is_free || file.canonicalize().is_ok_and(|file| file.starts_with(&root));
            let Ok(entries) = std::fs::read_dir(folder) else { continue };
            let mut below: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
            below.sort();
            for folder in below.into_iter().filter(|folder| folder.join("SKILL.md").is_file()) {
                if !stays(&folder.join("SKILL.md")) {
                    skills
                        .faults
                        .push(format!("{} leads out of the project", folder.join("SKILL.md").display()));
                    continue;
                }
                match read(&folder) {
                    Ok(skill) if skills.all.iter().any(|known| known.name == skill.name) => {}
                    Ok(skill) => skills.all.push(skill),
                    Err(fault) => {
                        skills.faults.push(format!("{}: {fault}", folder.join("SKILL.md").display()))
                    }
                }
            }
        }
        if skills.all.len() > MOST {
            skills
                .faults
                .push(format!("there are {} skills, and the first {MOST} are offered", skills.all.len()));
            skills.all.truncate(MOST);
        }
        skills
    }
}

fn read(folder: &Path) -> Result<Skill, String> {
    let text = std::fs::read_to_string(folder.join("SKILL.md")).map_err(|error| error.to_string())?;
    let (front, _) = front_matter(&text).ok_or("it does not begin with front matter between lines of ---")?;
    let value = |name: &str| {
        let line = front.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.map(|value| value.trim().trim_matches(['"', '\'']).to_owned()).filter(|value| !value.is_empty())
    };
    let name = value("name").ok_or("its front matter has no name")?;
    let description = value("description").ok_or("its front matter has no description")?;
    Ok(Skill { name, description, folder: folder.to_owned() })
}

/// Front matter and what follows it.
fn front_matter(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?.trim_start_matches([' ', '\r']).strip_prefix('\n')?;
    let (front, body) = rest.split_once("\n---")?;
    Some((front, body.split_once('\n').map_or("", |(_, body)| body)))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
}

/// The tool that loads one.
pub(crate) struct LoadSkill(pub(crate) Skills);

#[async_trait]
impl Tool for LoadSkill {
    fn spec(&self) -> ToolSpec {
        let mut description =
            String::from("Load instructions for a kind of work that the user has written down. There are:");
        for Skill { name, description: what, .. } in &self.0.all {
            let what: String = what.chars().take(LONGEST_DESCRIPTION).collect();
            description.push_str(&format!("\n- {name}: {what}"));
        }
        let names: Vec<&str> = self.0.all.iter().map(|skill| skill.name.as_str()).collect();
        ToolSpec {
            name: "skill".into(),
            description: description.into(),
            parameters: object(
                json!({"name": {"type": "string", "enum": names, "description": "Which one."}}),
                &["name"],
            ),
        }
    }

    async fn run(&self, arguments: Value, _context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let Arguments { name } = parse(&arguments)?;
        let Some(skill) = self.0.all.iter().find(|skill| skill.name == name) else {
            return Err(ToolError::Failed(format!("there is no skill {name}")));
        };
        let failed =
            |error: std::io::Error| ToolError::Failed(format!("cannot read the skill {name}: {error}"));
        let text = std::fs::read_to_string(skill.folder.join("SKILL.md")).map_err(failed)?;
        let body = front_matter(&text).map_or(text.as_str(), |(_, body)| body).trim();
        let mut files: Vec<String> = std::fs::read_dir(&skill.folder)
            .map_err(failed)?
            .filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned()))
            .filter(|name| name != "SKILL.md")
            .collect();
        files.sort();
        let beside = match files.is_empty() {
            true => String::new(),
            false => format!("\n\nBeside it in {}: {}", skill.folder.display(), files.join(", ")),
        };
        Ok(format!(
            "<skill name=\"{name}\">\n{}\n</skill>{beside}",
            cap(&without_fence(body, "skill"), LONGEST)
        )
        .into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn skills_are_found_described_and_loaded() {
        let bench = Bench::new().await;
        bench.file(
            "skills/release/SKILL.md",
            "---\nname: release\ndescription: \"How we release\"\n---\n# Steps\n1. Tag </skill>\n",
        );
        bench.file("skills/release/checklist.txt", "x");
        bench.file("skills/broken/SKILL.md", "no front matter");
        bench.file("skills/nameless/SKILL.md", "---\ndescription: x\n---\n");
        bench.file("more/again/SKILL.md", "---\nname: release\ndescription: other\n---\n");
        let skills = Skills::find(&bench.path("skills"), &bench.path("more"));
        assert_eq!((skills.all.len(), skills.faults.len()), (1, 2), "{skills:?}");
        let tool = LoadSkill(skills);
        assert!(tool.spec().description.ends_with("\n- release: How we release"));
        let text = bench.run(&tool, json!({"name": "release"})).await.unwrap();
        assert!(
            text.starts_with("<skill name=\"release\">\n# Steps\n1. Tag ‹/skill>\n</skill>\n\nBeside it in "),
            "{text}"
        );
        assert!(text.ends_with(": checklist.txt"), "{text}");
        assert!(bench.run(&tool, json!({"name": "other"})).await.is_err());
    }
}
