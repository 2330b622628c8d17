//! Finds remains of deleted text in the database file.
//!
//! SQLite overwrites a row when it is deleted. But when pages are split or merged, rows move and leave a copy in the
//! unused part of the old page. SQLite does not overwrite that copy until it needs the space or rewrites the file.

use std::{
    fs::File,
    io::{self, BufReader, Read as _, Seek as _},
    path::Path,
};

use aho_corasick::AhoCorasick;

/// Length in bytes of the pieces of a text to search for.
const PIECE_LENGTH: usize = 32;

/// Distance in bytes between the starts of consecutive pieces.
const PIECE_STEP: usize = 16;

/// Minimum length in bytes of a text. Shorter texts would match by chance.
const MIN_LENGTH: usize = 8;

/// Maximum total length in bytes of texts to search for. Remains of more text are almost certain, so a search is not
/// worth it.
const MAX_TOTAL_LENGTH: usize = 1 << 20;

/// Offset of the page size in the file header.
const PAGE_SIZE_OFFSET: usize = 16;

/// Length of the file header, which is part of the first page.
const FILE_HEADER: usize = 100;

/// Returns whether the unused parts of the file's pages contain pieces of these texts. May return `true` without a
/// search if there is very much text.
pub(super) fn contains_remains(path: &Path, texts: &[String]) -> io::Result<bool> {
    let pieces: Vec<&[u8]> = texts.iter().flat_map(|text| pieces(text.as_bytes())).collect();
    if pieces.is_empty() || texts.iter().map(String::len).sum::<usize>() > MAX_TOTAL_LENGTH {
        return Ok(!pieces.is_empty());
    }
    let finder = AhoCorasick::new(&pieces).map_err(io::Error::other)?;
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut header = [0; FILE_HEADER];
    file.read_exact(&mut header)?;
    file.rewind()?;
    let mut page = vec![0; read_size(&header, PAGE_SIZE_OFFSET).max(512)];
    let mut page_start = FILE_HEADER;
    loop {
        match file.read_exact(&mut page) {
            Ok(()) if finder.is_match(unused_part(&page, page_start)) => return Ok(true),
            Ok(()) => page_start = 0,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// Returns the pieces of a text to search for.
fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let short_text = (MIN_LENGTH..PIECE_LENGTH).contains(&text.len()).then_some(text);
    text.windows(PIECE_LENGTH).step_by(PIECE_STEP).chain(short_text)
}

/// Returns the unallocated part of a B-tree page, which is between the cell pointer array and the cells. Other pages
/// have none.
fn unused_part(page: &[u8], start: usize) -> &[u8] {
    let header = match page[start] {
        // Interior pages.
        2 | 5 => 12,
        // Leaf pages.
        10 | 13 => 8,
        _ => return &[],
    };
    let cell_count = usize::from(u16::from_be_bytes([page[start + 3], page[start + 4]]));
    let pointers_end = start + header + 2 * cell_count;
    page.get(pointers_end..read_size(page, start + 5)).unwrap_or_default()
}

/// Reads a size of two bytes. The value 65536 does not fit and is stored as 0 or 1.
fn read_size(bytes: &[u8], offset: usize) -> usize {
    match u16::from_be_bytes([bytes[offset], bytes[offset + 1]]) {
        0 | 1 => 1 << 16,
        number => number.into(),
    }
}
