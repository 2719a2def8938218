//! A copy of a file whose end is missing, made readable.
//!
//! SQLite refuses a whole table once a look-up meets a page that is not there. In the copy, the pages of each tree that lead
//! to missing ones are changed so that the tree has only the pages that are left: its rows can be read, and the missing ones
//! are missing rows, which a check of the chain names. A page that only a missing page led to is not found: in a table with
//! more than 26 MB in its rows, that may be all of them. The layout of the pages is that of
//! <https://www.sqlite.org/fileformat2.html#b_tree_pages>.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rusqlite::Connection;

use super::header::CutLength;
use super::loss::FilesBeside;
use super::{LogCopy, SqliteBackend, SqliteOptions};
use crate::log::error::LogError;
use crate::log::finding::FileFault;

/// No tree of a file that SQLite can write is deeper than this.
const DEEPEST: usize = 24;

impl SqliteBackend {
    /// Opens a copy of a log that was cut off, with zeros in place of the rest: it
    /// has the rows that are left. The copy is changed. Also says whether anything was lost: a process
    /// that was killed while it merged its WAL leaves a file that is too short, and all of the rest in
    /// its WAL.
    ///
    /// # Errors
    /// [`LogError`]: not even the beginning can be read, or the copy cannot be written.
    pub fn open_cut_off(
        copy: LogCopy,
        length: CutLength,
        options: SqliteOptions,
    ) -> Result<(Self, bool), LogError> {
        // Its WAL is merged, so it is looked at before.
        let beside = FilesBeside::read(&copy.path, false)?;
        let backend = SqliteBackend::at_copy(copy, options);
        let CutLength { has, of } = length;
        let is_lost = cut_trees(&backend.path, has).map_err(|e| backend.error(e))?;
        let damaged = is_lost.then_some(FileFault::CutOff { has, of });
        let backend = SqliteBackend { damaged, ..backend };
        let ready = |backend: &Self| backend.to_read(|db| backend.ready(db));
        Ok((backend.begin_with(beside, false, ready)?, is_lost))
    }
}

/// Changes a copy of a log of which only the first `has` bytes were there; the rest was filled with
/// zeros. Its WAL is merged first. Returns whether a page is missing that something leads to.
///
/// # Errors
/// [`rusqlite::Error`] if the beginning cannot be read either, or if it cannot be written.
fn cut_trees(copy: &Path, has: u64) -> rusqlite::Result<bool> {
    drop_part_of_a_page(copy, has).map_err(sql_error)?;
    let db = Connection::open(copy)?;
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    let size: u32 = db.pragma_query_value(None, "page_size", |r| r.get(0))?;
    let size = size as usize;
    let mut select = db.prepare("SELECT rootpage FROM sqlite_schema WHERE rootpage > 1")?;
    let roots: Vec<u32> = select.query_map([], |r| r.get(0))?.collect::<rusqlite::Result<_>>()?;
    drop(select);
    db.close().map_err(|(_, error)| error)?;
    let cut = || -> io::Result<bool> {
        let file = OpenOptions::new().read(true).write(true).open(copy)?;
        let (pages, there) = (file.metadata()?.len() / size as u64, has / size as u64);
        let (seen, is_lost) = (BTreeSet::new(), false);
        let mut trees = Trees { file, size, pages, there, seen, is_lost };
        roots.into_iter().try_for_each(|root| trees.cut(root))?;
        trees.file.sync_all()?;
        Ok(trees.is_lost)
    };
    cut().map_err(sql_error)
}

fn sql_error(error: io::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(Box::new(error))
}

/// Puts zeros in place of the last page if only a part of it was there.
fn drop_part_of_a_page(copy: &Path, has: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(copy)?;
    let mut header = [0; 18];
    file.read_exact(&mut header)?;
    let size = match u16::from_be_bytes([header[16], header[17]]) {
        1 => 65_536,
        bytes => u64::from(bytes.max(512)),
    };
    let length = file.metadata()?.len();
    file.set_len(has - has % size)?;
    file.set_len(length)
}

/// The pages of a file.
struct Trees {
    file: File,
    size: usize,
    /// How many pages the file has.
    pages: u64,
    /// How many it had when it was copied; later ones are there if the WAL had them.
    there: u64,
    /// The pages of the trees so far: each belongs to one place of one tree.
    seen: BTreeSet<u32>,
    /// Whether a page was looked for that is missing.
    is_lost: bool,
}

/// The kind of a page of a tree, by its first byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PageKind {
    InnerIndex = 2,
    InnerTable = 5,
    LeafIndex = 10,
    LeafTable = 13,
}

impl PageKind {
    fn new(byte: u8) -> Option<Self> {
        let all =
            [PageKind::InnerIndex, PageKind::InnerTable, PageKind::LeafIndex, PageKind::LeafTable];
        all.into_iter().find(|kind| *kind as u8 == byte)
    }

    /// Where the places of its cells begin.
    fn header(self) -> usize {
        match self {
            PageKind::InnerIndex | PageKind::InnerTable => 12,
            PageKind::LeafIndex | PageKind::LeafTable => 8,
        }
    }

    fn is_table(self) -> bool {
        matches!(self, PageKind::InnerTable | PageKind::LeafTable)
    }
}

/// A page of a tree with its cells.
struct TreePage {
    bytes: Vec<u8>,
    kind: PageKind,
    /// Where each cell begins.
    cells: Vec<usize>,
}

impl TreePage {
    /// Reads a page; `None` if it is not one of a tree.
    fn new(bytes: Vec<u8>) -> Option<Self> {
        let kind = PageKind::new(*bytes.first()?)?;
        let count = usize::from(u16::from_be_bytes(part(&bytes, 3)?));
        let place = |n: usize| {
            let place = usize::from(u16::from_be_bytes(part(&bytes, kind.header() + 2 * n)?));
            (place >= kind.header()).then_some(place)
        };
        let cells = (0..count).map(place).collect::<Option<Vec<_>>>()?;
        Some(TreePage { bytes, kind, cells })
    }

    /// Keeps only some cells. The others stay in the page, where nothing leads to them.
    fn keep(&mut self, cells: &[usize]) {
        let count = u16::try_from(cells.len()).unwrap_or(u16::MAX);
        self.bytes[3..5].copy_from_slice(&count.to_be_bytes());
        for (n, cell) in cells.iter().enumerate() {
            let at = self.kind.header() + 2 * n;
            let place = u16::try_from(*cell).unwrap_or(u16::MAX);
            self.bytes[at..at + 2].copy_from_slice(&place.to_be_bytes());
        }
    }

    /// The page that a cell of an inner page, or the end of its header, leads to.
    fn child(&self, at: usize) -> Option<u32> {
        part(&self.bytes, at).map(u32::from_be_bytes)
    }

    fn set_child(&mut self, at: usize, page: u32) {
        self.bytes[at..at + 4].copy_from_slice(&page.to_be_bytes());
    }
}

/// Where the header of an inner page has its last child.
const LAST_CHILD: usize = 8;

impl Trees {
    /// Cuts a tree to the pages that are left of it.
    fn cut(&mut self, root: u32) -> io::Result<()> {
        let first =
            self.bytes(root)?.and_then(|bytes| Some(PageKind::new(*bytes.first()?)?.is_table()));
        match self.replacement(root, 0)? {
            Some(page) if page == root => Ok(()),
            // The schema names the root, so the page that is left moves there.
            Some(page) => {
                let bytes = self.bytes(page)?.unwrap_or_default();
                self.write(root, &bytes)
            }
            None => {
                let kind =
                    if first == Some(false) { PageKind::LeafIndex } else { PageKind::LeafTable };
                let mut empty = vec![0; self.size];
                empty[0] = kind as u8;
                // Where its cells begin: at its end. 65,536 is written as 0.
                let end = u16::try_from(self.size).unwrap_or(0);
                empty[5..7].copy_from_slice(&end.to_be_bytes());
                self.write(root, &empty)
            }
        }
    }

    /// The page to use in place of this one: itself, or its only child if it has no other; `None` if
    /// nothing is left of it.
    fn replacement(&mut self, page: u32, depth: usize) -> io::Result<Option<u32>> {
        if depth > DEEPEST || !self.seen.insert(page) {
            return Ok(None);
        }
        let Some(mut node) = self.bytes(page)?.and_then(TreePage::new) else { return Ok(None) };
        let mut kept = Vec::with_capacity(node.cells.len());
        match node.kind {
            PageKind::LeafIndex => return Ok(Some(page)),
            PageKind::LeafTable => {
                for cell in &node.cells {
                    if self.is_whole(&node.bytes, *cell)? {
                        kept.push(*cell);
                    }
                }
                if kept.len() == node.cells.len() {
                    return Ok(Some(page));
                }
                if kept.is_empty() {
                    return Ok(None);
                }
            }
            PageKind::InnerIndex | PageKind::InnerTable => {
                let mut last = None;
                let places: Vec<usize> = node.cells.iter().copied().chain([LAST_CHILD]).collect();
                for place in places {
                    let Some(child) = node.child(place) else { continue };
                    let Some(child) = self.replacement(child, depth + 1)? else { continue };
                    if let Some((before, child)) = last.replace((place, child)) {
                        node.set_child(before, child);
                        kept.push(before);
                    }
                }
                // The last child that is left has no cell of its own.
                match last {
                    None => return Ok(None),
                    Some((_, child)) if kept.is_empty() => return Ok(Some(child)),
                    Some((_, child)) => node.set_child(LAST_CHILD, child),
                }
            }
        }
        node.keep(&kept);
        self.write(page, &node.bytes)?;
        Ok(Some(page))
    }

    /// Whether a row has all its overflow pages
    /// (<https://www.sqlite.org/fileformat2.html#cell_payload_overflow_pages>).
    fn is_whole(&mut self, page: &[u8], cell: usize) -> io::Result<bool> {
        let Some((length, after)) = varint(page, cell) else { return Ok(false) };
        let Some((_row, after)) = varint(page, after) else { return Ok(false) };
        let most = self.size - 35;
        let Ok(length) = usize::try_from(length) else { return Ok(false) };
        if length <= most {
            return Ok(after + length <= page.len());
        }
        let least = (self.size - 12) * 32 / 255 - 23;
        let fits = least + (length - least) % (self.size - 4);
        let here = if fits <= most { fits } else { least };
        let mut missing = (length - here).div_ceil(self.size - 4);
        let mut next = part(page, after + here).map_or(0, u32::from_be_bytes);
        if missing as u64 > self.pages {
            return Ok(false);
        }
        while missing > 0 {
            let Some(bytes) = self.bytes(next)? else { return Ok(false) };
            next = part(&bytes, 0).map_or(0, u32::from_be_bytes);
            missing -= 1;
        }
        Ok(true)
    }

    /// A page, if it is there.
    fn bytes(&mut self, page: u32) -> io::Result<Option<Vec<u8>>> {
        let Some(before) = page.checked_sub(1).map(u64::from) else { return Ok(None) };
        let mut bytes = vec![0; self.size];
        self.file.seek(SeekFrom::Start(before * self.size as u64))?;
        match self.file.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.is_lost = true;
                return Ok(None);
            }
            read => read?,
        }
        let is_there = before < self.there || bytes.iter().any(|byte| *byte != 0);
        self.is_lost |= !is_there;
        Ok(is_there.then_some(bytes))
    }

    fn write(&mut self, page: u32, bytes: &[u8]) -> io::Result<()> {
        let at = u64::from(page.saturating_sub(1)) * self.size as u64;
        self.file.seek(SeekFrom::Start(at))?;
        self.file.write_all(bytes)
    }
}

/// A few bytes of a page.
fn part<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}

/// A number of one to nine bytes, and where it ends.
fn varint(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut number = 0_u64;
    for (n, byte) in bytes.get(at..)?.iter().take(9).enumerate() {
        if n == 8 {
            return Some(((number << 8) | u64::from(*byte), at + 9));
        }
        number = (number << 7) | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, at + n + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever is cut off: each table has a part of its rows, in order, and every one of them is
    /// as it was.
    #[test]
    fn each_table_keeps_rows_that_are_as_they_were() {
        // With small pages, trees are deep, and a missing page may be the way to others.
        let share = |page_size| rows_left(page_size).iter().sum::<usize>();
        let (deep, flat) = (share(1024), share(4096));
        // About as much is left of the rows as of the files: 19 of them, cut in twentieths.
        assert!(flat > 1200 * 19 / 2 * 8 / 10, "{flat} rows");
        assert!(flat < 1200 * 19, "nothing was cut");
        assert!(deep > 1200 && deep < flat, "{deep} rows of {flat}");
    }

    /// The number of rows that are left of 1,200 at each length of the file.
    fn rows_left(page_size: u32) -> Vec<usize> {
        let folder = tempfile::tempdir().unwrap();
        let whole = folder.path().join("whole.db");
        let db = Connection::open(&whole).unwrap();
        db.pragma_update(None, "page_size", page_size).unwrap();
        db.execute_batch(
            "CREATE TABLE short (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
            CREATE TABLE long (id INTEGER PRIMARY KEY, text TEXT NOT NULL);
            CREATE TABLE keys (key INTEGER NOT NULL, id INTEGER NOT NULL, PRIMARY KEY (key, id)) WITHOUT ROWID;",
        )
        .unwrap();
        let row = |table: &str, id: u32| match table {
            "short" => format!("row {id}"),
            _ => format!("{id} ").repeat((1 + id * 7919 % 2000) as usize),
        };
        db.execute_batch("BEGIN").unwrap();
        for id in 1..=600_u32 {
            for table in ["short", "long"] {
                let add = format!("INSERT INTO {table} VALUES (?1, ?2)");
                db.execute(&add, (id, row(table, id))).unwrap();
            }
            db.execute("INSERT INTO keys VALUES (?1, ?2)", (id * 7919 % 601, id)).unwrap();
        }
        db.execute_batch("COMMIT").unwrap();
        db.close().unwrap();
        let bytes = std::fs::read(&whole).unwrap();
        let mut left = Vec::new();
        for twentieth in 1..=19 {
            let has = bytes.len() * twentieth / 20;
            let cut = folder.path().join(format!("{twentieth}.db"));
            std::fs::write(&cut, &bytes[..has]).unwrap();
            File::options().write(true).open(&cut).unwrap().set_len(bytes.len() as u64).unwrap();
            cut_trees(&cut, has as u64).unwrap();
            let db = Connection::open(&cut).unwrap();
            let mut all = 0;
            for table in ["short", "long"] {
                let select = format!("SELECT id, text FROM {table} ORDER BY id");
                let mut select = db.prepare(&select).unwrap();
                let rows = select.query_map([], |r| Ok((r.get(0)?, r.get(1)?))).unwrap();
                let rows: Vec<(u32, String)> = rows.collect::<Result<_, _>>().unwrap();
                assert!(rows.is_sorted(), "{table} at {twentieth}");
                assert!(
                    rows.iter().all(|(id, text)| *text == row(table, *id)),
                    "{table} at {twentieth}"
                );
                all += rows.len();
                // The end is what is asked for first.
                let last = format!("SELECT max(id) FROM {table}");
                let last: Option<u32> = db.query_row(&last, [], |r| r.get(0)).unwrap();
                assert_eq!(last, rows.last().map(|(id, _)| *id));
            }
            let keys: Vec<u32> = db
                .prepare("SELECT key FROM keys ORDER BY key, id")
                .unwrap()
                .query_map([], |r| r.get(0))
                .unwrap()
                .collect::<Result<_, _>>()
                .unwrap();
            assert!(keys.is_sorted());
            left.push(all);
        }
        left
    }
}
