//! Attaches files that a prompt names.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use memoir_core::{Image, ImageError, InputPart, MAX_IMAGE_BYTES, TurnInput};

use crate::{
    files::expand_home,
    named_files::{FileName, find_names},
    server_offers::ServerOffers,
};

/// Maximum size of an attached text in bytes. The model can read a larger one in parts with tools.
pub const MAX_TEXT_BYTES: usize = 200_000;

/// Extensions by which the name of a file differs from that of a person, a package or an address.
const EXTENSIONS: [&str; 40] = [
    "c", "cfg", "cpp", "css", "csv", "gif", "go", "h", "html", "ini", "ipynb", "java", "jpeg", "jpg", "js",
    "json", "jsonl", "jsx", "kt", "lock", "log", "md", "pdf", "php", "png", "proto", "py", "rb", "rs", "sh",
    "sql", "swift", "toml", "ts", "tsx", "txt", "webp", "xml", "yaml", "yml",
];

/// A file named in a prompt.
#[derive(Debug)]
pub struct Attachment {
    /// The path as the user typed it.
    pub name: String,
    /// The path in the project, or as the user typed it.
    pub path: String,
    /// Contents of the file, or the reason why it cannot be attached.
    pub content: Result<AttachedContent, AttachmentError>,
    /// Whether the file is inside the project.
    pub is_inside: bool,
    /// Whether the name follows an `@`. Otherwise, it was dropped onto the terminal.
    pub has_mark: bool,
}

/// The contents of an attached file.
#[derive(Debug)]
pub enum AttachedContent {
    /// A text file.
    Text(String),
    /// An image.
    Image(Image),
}

/// Why a file cannot be attached.
#[derive(Debug, thiserror::Error)]
pub enum AttachmentError {
    /// The file is too large.
    #[error("it is larger than {limit} bytes")]
    TooLarge {
        /// Maximum size in bytes.
        limit: usize,
    },
    /// The file is neither UTF-8 text nor an image.
    #[error("it is neither text (UTF-8) nor a PNG, JPEG, GIF or WebP image")]
    UnknownFormat,
    /// The image is too large.
    #[error(transparent)]
    Image(ImageError),
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] io::Error),
}

/// How paths in a prompt are resolved.
#[derive(Debug, Clone, Copy)]
pub struct AttachmentContext<'a> {
    /// Base directory of relative paths.
    pub directory: &'a Path,
    /// Root of the project.
    pub project: &'a Path,
    /// The user's home directory, for `~`.
    pub user_home: Option<&'a Path>,
}

/// Characters after a name that belong to the sentence.
const PUNCTUATION: [char; 7] = [',', '.', ';', ':', '?', '!', ')'];

/// Returns the resources of servers that a prompt names, without duplicates.
pub async fn find_resources(prompt: &str, offers: &ServerOffers) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for name in prompt.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
        if offers.is_offer(name) {
            let is_whole = offers.is_listed_resource(name).await;
            names.insert(if is_whole { name } else { name.trim_end_matches(PUNCTUATION) }.to_owned());
        }
    }
    names
}

/// Returns the files that a prompt names, without duplicates. Words that do not name an existing file are ignored.
pub fn find_attachments(prompt: &str, context: AttachmentContext<'_>) -> Vec<Attachment> {
    let mut attachments: Vec<Attachment> = Vec::new();
    // Text of several lines was pasted or written, and the paths in it were not dropped onto the terminal.
    let is_one_line = !prompt.trim_end().contains('\n');
    let candidates = find_names(prompt).into_iter().filter(|candidate| {
        let may_be_dropped = candidate.is_quoted || has_image_extension(&candidate.name);
        candidate.has_mark || (is_one_line && may_be_dropped)
    });
    for FileName { name, has_mark, is_quoted } in candidates {
        // Punctuation after the path belongs to the sentence.
        let name = match locate(&name, context) {
            None if !is_quoted => name.trim_end_matches(PUNCTUATION),
            _ => &name,
        };
        let Some(path) = locate(name, context) else { continue };
        if attachments.iter().all(|other| other.name != name) {
            let content = read(&path);
            let real = path.canonicalize().unwrap_or_default();
            let inside = real.strip_prefix(context.project).ok();
            let is_inside = inside.is_some();
            let path = inside.map_or_else(|| name.to_owned(), |path| path.to_string_lossy().into_owned());
            attachments.push(Attachment { name: name.to_owned(), path, content, is_inside, has_mark });
        }
    }
    attachments
}

/// Returns the names after `@` that look like files but name none. Text of several lines may be code, in which `@` has
/// other meanings.
pub fn find_missing(prompt: &str, context: AttachmentContext<'_>) -> BTreeSet<String> {
    let names =
        find_names(prompt).into_iter().filter(|name| name.has_mark && !prompt.trim_end().contains('\n'));
    let names = names.map(|FileName { name, is_quoted, .. }| match is_quoted {
        true => name,
        false => name.trim_end_matches(PUNCTUATION).to_owned(),
    });
    let is_missing = |name: &String| {
        let extension = Path::new(name).extension().unwrap_or_default();
        EXTENSIONS.iter().any(|known| extension.eq_ignore_ascii_case(known))
            && !context.directory.join(expand_home(name, context.user_home)).exists()
    };
    names.filter(is_missing).collect()
}

fn has_image_extension(name: &str) -> bool {
    let extension = Path::new(name).extension().unwrap_or_default();
    ["png", "jpg", "jpeg", "gif", "webp"].iter().any(|image| extension.eq_ignore_ascii_case(image))
}

/// Returns whether a line begins with the path of an existing file, and not with a command.
pub fn begins_with_file(line: &str, user_home: Option<&Path>) -> bool {
    let is_file = |first: &FileName| expand_home(&first.name, user_home).is_file();
    line.starts_with('/') && find_names(line).first().is_some_and(is_file)
}

/// Adds a file to the input of a turn, if it could be read.
pub fn attach(input: &mut TurnInput, file: Attachment) {
    match file.content {
        Ok(AttachedContent::Text(text)) => input.parts.push(InputPart::file(file.name, text)),
        Ok(AttachedContent::Image(image)) => input.attach_image(file.path, image),
        Err(_) => {}
    }
}

fn locate(name: &str, context: AttachmentContext<'_>) -> Option<PathBuf> {
    let path = context.directory.join(expand_home(name, context.user_home));
    path.is_file().then_some(path)
}

fn read(path: &Path) -> Result<AttachedContent, AttachmentError> {
    let size = fs::metadata(path)?.len();
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_IMAGE_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    let is_complete = bytes.len() as u64 == size;
    match String::from_utf8(bytes) {
        Ok(text) if is_complete && text.len() <= MAX_TEXT_BYTES => Ok(AttachedContent::Text(text)),
        Ok(_) => Err(AttachmentError::TooLarge { limit: MAX_TEXT_BYTES }),
        Err(error) => match Image::new(error.into_bytes()) {
            Ok(image) => Ok(AttachedContent::Image(image)),
            Err(ImageError::UnknownFormat) => Err(AttachmentError::UnknownFormat),
            Err(error @ ImageError::TooLarge) => Err(AttachmentError::Image(error)),
        },
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn existing_files_are_attached_once() {
        let directory = tempfile::TempDir::new().unwrap();
        let project = directory.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&project).unwrap();
        std::fs::write(project.join("a.txt"), "first </file> line\n").unwrap();
        std::fs::write(project.join("b.bin"), [0xff, 0xfe]).unwrap();
        std::fs::write(project.join("c.txt"), "x".repeat(300_000)).unwrap();
        std::fs::write(directory.path().join("secret.txt"), "s").unwrap();
        let context = AttachmentContext { directory: &project, project: &project, user_home: None };
        let find = |prompt: &str| find_attachments(prompt, context);
        assert!(find("mail me@home or @missing").is_empty());
        let missing = |prompt: &str| find_missing(prompt, context).into_iter().collect::<Vec<_>>();
        assert_eq!(
            missing("@a.txt, @b.md? @b.md @pytest.mark.slow @anna me@x.py @'c d.rs'"),
            ["b.md", "c d.rs"]
        );
        assert!(missing("@b.md\nsecond line").is_empty());
        let prompt = "What is in @a.txt, and @a.txt?";
        let mut input = TurnInput::from(prompt);
        find(prompt).into_iter().for_each(|file| attach(&mut input, file));
        assert_eq!(
            input.to_text(),
            "What is in @a.txt, and @a.txt?\n\n<file path=\"a.txt\">\nfirst ‹/file> line\n</file>"
        );
        std::fs::write(project.join("d.txt"), "GIF89a is how a GIF begins").unwrap();
        assert!(matches!(&find("see @d.txt")[0].content, Ok(AttachedContent::Text(_))));
        let others = find("see @b.bin and @c.txt and @../secret.txt");
        assert!(matches!(others[0].content, Err(AttachmentError::UnknownFormat)));
        assert!(matches!(others[1].content, Err(AttachmentError::TooLarge { .. })));
        assert!(!others[2].is_inside && others[0].is_inside);
    }
}
