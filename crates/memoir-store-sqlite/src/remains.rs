//! What is left in the file of text that was deleted.
//!
//! SQLite overwrites a row when it is deleted. But rows move when pages are split and merged, and a copy stays in the part of the old
//! page that is not in use. Nobody overwrites that until the room is needed, or the file is written anew.

use std::{
    fs::File,
    io::{self, BufReader, Read as _, Seek as _},
    path::Path,
};

use aho_corasick::AhoCorasick;

/// So many bytes of a text are looked for, from every so many bytes of it on.
const LENGTH: usize = 32;
const STEP: usize = 16;

/// Less than that tells nothing.
const SHORTEST: usize = 8;

/// Of more text than this, something is left in all likelihood.
const MOST: usize = 1 << 20;

/// Where the file says how large its pages are, and where the first page begins.
const PAGE_SIZE: usize = 16;
const FILE_HEADER: usize = 100;

/// Whether something of the texts stands where the file is not in use.
pub(super) fn are_left(path: &Path, texts: &[String]) -> io::Result<bool> {
    let pieces: Vec<&[u8]> = texts.iter().flat_map(|text| pieces(text.as_bytes())).collect();
    if pieces.is_empty() || texts.iter().map(String::len).sum::<usize>() > MOST {
        return Ok(!pieces.is_empty());
    }
    let finder = AhoCorasick::new(&pieces).map_err(io::Error::other)?;
    let mut file = BufReader::with_capacity(1 << 20, File::open(path)?);
    let mut header = [0; FILE_HEADER];
    file.read_exact(&mut header)?;
    file.rewind()?;
    let mut page = vec![0; in_two_bytes(&header, PAGE_SIZE).max(512)];
    let mut begins = FILE_HEADER;
    loop {
        match file.read_exact(&mut page) {
            Ok(()) if finder.is_match(unused(&page, begins)) => return Ok(true),
            Ok(()) => begins = 0,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(error),
        }
    }
}

/// What of a text is looked for.
fn pieces(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let whole = (SHORTEST..LENGTH).contains(&text.len()).then_some(text);
    text.windows(LENGTH).step_by(STEP).chain(whole)
}

/// The part of a page between the places of its rows and its rows. Pages of other kinds have none.
fn unused(page: &[u8], begins: usize) -> &[u8] {
    let header = match page[begins] {
        2 | 5 => 12,
        10 | 13 => 8,
        _ => return &[],
    };
    let places = begins + header + 2 * usize::from(u16::from_be_bytes([page[begins + 3], page[begins + 4]]));
    page.get(places..in_two_bytes(page, begins + 5)).unwrap_or_default()
}

/// A number in two bytes, in which the largest page does not fit and is told by a small one.
fn in_two_bytes(bytes: &[u8], at: usize) -> usize {
    match u16::from_be_bytes([bytes[at], bytes[at + 1]]) {
        0 | 1 => 1 << 16,
        number => number.into(),
    }
}
