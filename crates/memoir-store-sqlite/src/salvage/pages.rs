//! Reads the pages of a database file without SQLite, which refuses damaged files.
//!
//! The formats are those of <https://sqlite.org/fileformat2.html>.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
};

/// The first bytes of every SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Page size of the databases that Memoir creates.
const DEFAULT_PAGE_SIZE: usize = 4096;

/// Size of the file header, which precedes the b-tree header on the first page.
pub(super) const FILE_HEADER_BYTES: usize = 100;

/// Number of pages by which the page size is judged.
const SAMPLED_PAGES: u32 = 256;

/// The pages of a database, as of the last commit in its write-ahead log.
pub(super) struct PageFile {
    file: File,
    log: Option<Log>,
    page_size: usize,
    /// Bytes of a page that hold content.
    usable: usize,
    count: u32,
}

impl PageFile {
    /// Opens a database file and its log, if there is one.
    pub(super) fn open(path: &Path, log_path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let log = Log::open(log_path);
        let mut header = [0; FILE_HEADER_BYTES];
        // A file without a whole header has no pages either.
        let has_header = read_at(&mut file, 0, &mut header).is_ok() && header.starts_with(MAGIC);
        let stated = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        let mut this = Self { file, log, page_size: DEFAULT_PAGE_SIZE, usable: DEFAULT_PAGE_SIZE, count: 0 };
        this.set_page_size(DEFAULT_PAGE_SIZE, bytes);
        if has_header && stated != DEFAULT_PAGE_SIZE && stated.is_power_of_two() && stated >= 512 {
            let score = this.score_page_size();
            this.set_page_size(stated, bytes);
            if this.score_page_size() <= score {
                this.set_page_size(DEFAULT_PAGE_SIZE, bytes);
            }
        }
        // A page may end with bytes that belong to an extension. Memoir uses none.
        let reserved = usize::from(header[20]);
        if has_header && reserved <= 32 {
            this.usable -= reserved;
        }
        Ok(this)
    }

    fn set_page_size(&mut self, size: usize, file_bytes: u64) {
        self.page_size = size;
        self.usable = size;
        let in_file = u32::try_from(file_bytes.div_ceil(size as u64)).unwrap_or(u32::MAX);
        let in_log = self.log.as_ref().filter(|log| log.page_size == size);
        // Pages beyond the size of the last commit are deleted.
        self.count = in_log.filter(|log| !log.frames.is_empty()).map_or(in_file, |log| log.committed_pages);
    }

    /// Returns the share of pages that begin like nodes of a tree, which is low with the wrong page size.
    fn score_page_size(&mut self) -> u32 {
        let sample = self.count.min(SAMPLED_PAGES);
        let is_node = |page: Vec<u8>| matches!(page.first(), Some(2 | 5 | 10 | 13));
        let nodes = (2..=sample).filter(|&number| is_node(self.page(number))).count();
        u32::try_from(nodes).unwrap_or(0) * 1000 / sample.max(1)
    }

    /// Returns the number of pages. Pages are numbered from 1.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns the number of bytes of a page that hold content.
    pub(super) fn usable(&self) -> usize {
        self.usable
    }

    /// Returns the schema version in the file's header, if the header is readable.
    pub(super) fn schema_version(&mut self) -> Option<i64> {
        let page = self.page(1);
        let bytes: [u8; 4] = page.get(60..64)?.try_into().ok()?;
        page.starts_with(MAGIC).then(|| i64::from(u32::from_be_bytes(bytes)))
    }

    /// Returns the content of a page. What cannot be read is zero.
    pub(super) fn page(&mut self, number: u32) -> Vec<u8> {
        let mut page = vec![0; self.page_size];
        let in_log = self.log.as_mut().filter(|log| log.page_size == self.page_size);
        let result = match in_log.and_then(|log| Some((*log.frames.get(&number)?, &mut log.file))) {
            Some((offset, file)) => read_at(file, offset, &mut page),
            None if number == 0 => Ok(()),
            None => read_at(&mut self.file, u64::from(number - 1) * self.page_size as u64, &mut page),
        };
        if let Err(error) = result {
            tracing::debug!(number, %error, "a page cannot be read as a whole");
        }
        page.truncate(self.usable);
        page
    }
}

/// Fills `buffer` from a file. If the file ends earlier, the rest of the buffer keeps its content.
fn read_at(file: &mut File, offset: u64, mut buffer: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(offset))?;
    while !buffer.is_empty() {
        match file.read(buffer) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => buffer = &mut std::mem::take(&mut buffer)[count..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// A write-ahead log: the newest committed content of some pages.
struct Log {
    file: File,
    page_size: usize,
    /// Offsets of the newest content by page number.
    frames: HashMap<u32, u64>,
    /// Number of pages of the database as of the last commit.
    committed_pages: u32,
}

const LOG_HEADER_BYTES: usize = 32;
const FRAME_HEADER_BYTES: usize = 24;

impl Log {
    /// Reads a log up to its last commit. Returns `None` if it has no valid header.
    fn open(path: &Path) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        let mut header = [0; LOG_HEADER_BYTES];
        read_at(&mut file, 0, &mut header).ok()?;
        let order = match word(&header, 0) {
            0x377f_0682 => u32::from_le_bytes,
            0x377f_0683 => u32::from_be_bytes,
            _ => return None,
        };
        let page_size = word(&header, 8) as usize;
        let mut sums = checksum((0, 0), &header[..24], order);
        if !page_size.is_power_of_two()
            || page_size > 65_536
            || sums != (word(&header, 24), word(&header, 28))
        {
            return None;
        }
        let (mut frames, mut uncommitted, mut committed_pages) = (HashMap::new(), Vec::new(), 0);
        let mut frame = vec![0; FRAME_HEADER_BYTES + page_size];
        let mut offset = LOG_HEADER_BYTES as u64;
        while read_at(&mut file, offset, &mut frame).is_ok() {
            let (head, content) = frame.split_at(FRAME_HEADER_BYTES);
            sums = checksum(checksum(sums, &head[..8], order), content, order);
            // Frames of an earlier use of the log have other salts.
            if head[8..16] != header[16..24] || sums != (word(head, 16), word(head, 20)) {
                break;
            }
            uncommitted.push((word(head, 0), offset + FRAME_HEADER_BYTES as u64));
            if word(head, 4) != 0 {
                frames.extend(uncommitted.drain(..));
                committed_pages = word(head, 4);
            }
            offset += frame.len() as u64;
        }
        Some(Self { file, page_size, frames, committed_pages })
    }
}

fn word(bytes: &[u8], offset: usize) -> u32 {
    bytes.get(offset..offset + 4).and_then(|word| word.try_into().ok()).map_or(0, u32::from_be_bytes)
}

/// The checksum of a log, which continues from frame to frame.
fn checksum(sums: (u32, u32), bytes: &[u8], order: fn([u8; 4]) -> u32) -> (u32, u32) {
    let words = bytes.as_chunks::<4>().0.iter().map(|word| order(*word));
    let (mut first, mut second) = sums;
    for (index, word) in words.enumerate() {
        match index % 2 {
            0 => first = first.wrapping_add(word).wrapping_add(second),
            _ => second = second.wrapping_add(word).wrapping_add(first),
        }
    }
    (first, second)
}
