//! Extracts the text of files that are not plain text: PDF and HTML.

use std::{path::Path, sync::mpsc, thread, time::Duration};

use htmd::HtmlToMarkdown;

use crate::error::FileFault;

/// Name of the thread that reads a PDF file. A damaged file can make it panic, which is reported like any other error.
pub const PDF_THREAD: &str = "pdf";

/// Time limit for reading a PDF file.
const MAX_PDF_TIME: Duration = Duration::from_secs(120);

/// The text of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Extracted {
    pub(crate) text: String,
    /// What the text does not contain, for the user.
    pub(crate) lost: Option<String>,
}

/// Returns the text of a file.
pub(crate) fn extract(path: &Path, bytes: &[u8]) -> Result<Extracted, FileFault> {
    if bytes.starts_with(b"%PDF-") {
        return extract_pdf(bytes.to_vec());
    }
    if has_extension(path, &["html", "htm", "xhtml"]) {
        return extract_html(&decode_html(bytes));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| FileFault::NotUtf8)?;
    Ok(Extracted { text: text.to_owned(), lost: None })
}

pub(crate) fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().is_some_and(|own| extensions.iter().any(|other| own.eq_ignore_ascii_case(other)))
}

fn extract_pdf(bytes: Vec<u8>) -> Result<Extracted, FileFault> {
    let (sender, receiver) = mpsc::channel();
    let read = move || {
        // If nobody waits any longer, the result is not needed.
        let _ = sender.send(pdf_extract::extract_text_from_mem_by_pages(&bytes));
    };
    thread::Builder::new().name(PDF_THREAD.to_owned()).spawn(read)?;
    let pages = match receiver.recv_timeout(MAX_PDF_TIME) {
        Ok(Ok(pages)) => pages,
        Ok(Err(error)) => return Err(FileFault::Pdf(error.to_string())),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            return Err(FileFault::Pdf("reading it takes too long".into()));
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => return Err(FileFault::Pdf("it is damaged".to_owned())),
    };
    let empty = pages.iter().filter(|page| page.trim().is_empty()).count();
    if empty == pages.len() {
        return Err(FileFault::NoTextInPdf);
    }
    let lost = match empty {
        0 => "images and layout".to_owned(),
        _ => format!("images, layout and {empty} of {} pages, which have no text", pages.len()),
    };
    let pages: Vec<&str> = pages.iter().map(|page| page.trim()).filter(|page| !page.is_empty()).collect();
    Ok(Extracted { text: pages.join("\n\n"), lost: Some(lost) })
}

fn extract_html(html: &str) -> Result<Extracted, FileFault> {
    if estimate_depth(html) > MAX_DEPTH {
        return Err(FileFault::TooDeep);
    }
    let converter = HtmlToMarkdown::builder()
        .skip_tags(vec![
            "head", "script", "style", "noscript", "template", "svg", "iframe", "img", "nav", "form",
        ])
        .build();
    let text = converter.convert(html)?;
    let title = find_title(html).filter(|_| !text.trim_start().starts_with("# "));
    let text = match title {
        Some(title) => format!("# {title}\n\n{text}"),
        None => text,
    };
    Ok(Extracted { text, lost: Some("images, forms, navigation and scripts".to_owned()) })
}

/// Maximum number of elements around another. The converter needs stack for each.
const MAX_DEPTH: usize = 500;

/// Elements that have no end tag, or need none.
const WITHOUT_END: [&str; 20] = [
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta", "option",
    "p", "source", "td", "th", "tr", "wbr",
];

/// Returns an upper limit of how deep elements are nested.
fn estimate_depth(html: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let name: String = tag.chars().take_while(char::is_ascii_alphanumeric).collect();
        if tag.starts_with('/') {
            depth = depth.saturating_sub(1);
        } else if !name.is_empty() && !WITHOUT_END.contains(&name.to_ascii_lowercase().as_str()) {
            depth += 1;
            deepest = deepest.max(depth);
        }
    }
    deepest
}

/// Returns the contents of the `title` element.
fn find_title(html: &str) -> Option<String> {
    let lower = html.to_ascii_lowercase();
    let start = lower.find("<title")?;
    let start = start + lower[start..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let title = HtmlToMarkdown::new().convert(&html[start..end]).ok()?;
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    (!title.is_empty()).then_some(title)
}

/// Decodes a page, with the encoding that it names if it is not UTF-8.
fn decode_html(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(2048)]).to_ascii_lowercase();
    let label: String = head
        .split_once("charset=")
        .map(|(_, rest)| rest.trim_start_matches(['"', '\'']))
        .unwrap_or_default()
        .chars()
        .take_while(|character| character.is_ascii_alphanumeric() || matches!(character, '-' | '_'))
        .collect();
    let encoding = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap_or(encoding_rs::WINDOWS_1252);
    encoding.decode(bytes).0.into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_becomes_markdown() -> Result<(), FileFault> {
        let html = "<html><head><title>Garden\n notes</title><style>p{}</style></head><body>\
                    <h2>Pears</h2><p>Plant <b>two</b> &amp; water.</p><script>alert(1)</script></body></html>";
        let extracted = extract(Path::new("a.HTML"), html.as_bytes())?;
        assert_eq!(extracted.text, "# Garden notes\n\n## Pears\n\nPlant **two** & water.");
        let latin = b"<meta charset=\"iso-8859-1\"><p>Caf\xe9</p>";
        assert_eq!(extract(Path::new("a.html"), latin)?.text, "Café");
        Ok(())
    }

    #[test]
    fn deep_pages_are_refused() {
        let page = "<div>".repeat(100_000);
        assert!(matches!(extract(Path::new("a.html"), page.as_bytes()), Err(FileFault::TooDeep)));
        assert!(estimate_depth(&"<ul><li>a<br><p>b</ul>".repeat(1000)) < 10);
    }

    #[test]
    fn damaged_pdf_files_are_errors() {
        let damaged = b"%PDF-1.7\n1 0 obj << /Length 99999999 >> stream\nendobj trailer << /Root 1 0 R >>";
        assert!(matches!(extract(Path::new("a.pdf"), damaged), Err(FileFault::Pdf(_))));
    }
}
