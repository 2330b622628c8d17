//! Checks that every link between the pages leads to a file, and to a heading where it names one.

use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The headings and links of a page.
#[derive(Debug, Default)]
struct Page {
    anchors: Vec<String>,
    links: Vec<Link>,
}

#[derive(Debug)]
struct Link {
    line: usize,
    target: String,
}

/// Returns a fault for each link of `pages` that leads nowhere. A page is its path below `root` and its text.
pub(super) fn find_broken_links(root: &Path, pages: &[(PathBuf, String)]) -> Vec<String> {
    let pages: BTreeMap<&Path, Page> =
        pages.iter().map(|(path, text)| (path.as_path(), read_page(text))).collect();
    let mut faults = Vec::new();
    for (path, page) in &pages {
        // Links to other sites cannot be followed without a network.
        for link in page.links.iter().filter(|link| !link.target.contains("://")) {
            let (file, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
            let target = resolve(path, file);
            let fault = match pages.get(target.as_path()) {
                Some(page) if anchor.is_empty() || page.anchors.iter().any(|other| other == anchor) => {
                    continue;
                }
                Some(_) => "which has no such heading",
                None if root.join(&target).exists() => continue,
                None => "which does not exist",
            };
            faults.push(format!("{}:{}: links to {}, {fault}.", path.display(), link.line, link.target));
        }
    }
    faults
}

/// Returns the pages of `pages` that no other page links to.
pub(super) fn find_orphans(pages: &[(PathBuf, String)]) -> Vec<PathBuf> {
    let targets: Vec<PathBuf> = pages
        .iter()
        .flat_map(|(path, text)| read_page(text).links.into_iter().map(move |link| (path, link)))
        .map(|(path, link)| (path, resolve(path, link.target.split('#').next().unwrap_or_default())))
        .filter(|(path, target)| *path != target)
        .map(|(_, target)| target)
        .collect();
    pages.iter().map(|(path, _)| path).filter(|path| !targets.contains(path)).cloned().collect()
}

/// Returns the file that `link` names on the page at `page`; a link without a file names the page itself.
fn resolve(page: &Path, link: &str) -> PathBuf {
    if link.is_empty() {
        return page.to_owned();
    }
    let mut target = page.parent().unwrap_or(page).to_owned();
    for component in Path::new(link).components() {
        match component {
            Component::ParentDir => {
                target.pop();
            }
            Component::CurDir => {}
            component => target.push(component),
        }
    }
    target
}

fn read_page(text: &str) -> Page {
    let mut page = Page::default();
    let mut heading: Option<String> = None;
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                let line = text[..range.start].matches('\n').count() + 1;
                page.links.push(Link { line, target: dest_url.into_string() });
            }
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&text);
                }
            }
            Event::End(TagEnd::Heading(_)) => {
                page.anchors.extend(heading.take().map(|heading| anchor(&heading)));
            }
            _ => {}
        }
    }
    page
}

/// Returns the anchor that code hosts give a heading.
fn anchor(heading: &str) -> String {
    let letters =
        heading.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    letters.flat_map(char::to_lowercase).map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(texts: &[(&str, &str)]) -> Vec<(PathBuf, String)> {
        texts.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect()
    }

    #[test]
    fn links_to_files_and_headings_are_followed() {
        let texts = pages(&[
            ("README.md", "[a](docs/guide.md#first-steps) [b](#here)\n\n## Here"),
            ("docs/guide.md", "## `First` steps!\n\n[up](../README.md#gone)\n[no](absent.md)"),
        ]);
        assert_eq!(
            find_broken_links(Path::new("/nonexistent"), &texts),
            [
                "docs/guide.md:3: links to ../README.md#gone, which has no such heading.",
                "docs/guide.md:4: links to absent.md, which does not exist."
            ]
        );
    }

    #[test]
    fn pages_that_nothing_links_to_are_orphans() {
        let texts = pages(&[("docs/a.md", "[b](b.md) [a](#x)"), ("docs/b.md", "[b](b.md)")]);
        assert_eq!(find_orphans(&texts), [PathBuf::from("docs/a.md")]);
    }
}
