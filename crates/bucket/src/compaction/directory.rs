//! The directory of a compaction: the object that is put last and read first.
//!
//! ```text
//! a line     JSON: the run, its end, the first event of each segment of the compaction, the blocks
//! a line     BLAKE3 of the first line
//! blocks     the index of the run, one for each section
//! ```
//!
//! The directory of a run of some ten thousand exchanges is read with one request.

use std::ops::Range;

use object_store::path::Path;
use retold::id::{RunId, Seq};
use retold::log::{Head, IndexPiece, KeptPiece, Section, SegmentFault};
use serde::{Deserialize, Serialize};

use crate::run_end::RunEnd;

/// The format of directories that this release writes and reads.
const FORMAT: u32 = 1;

/// How many bytes the second line has, with its line feed.
const HASH_LINE: usize = 64 + 1;

/// The first line of a directory.
#[derive(Debug, Serialize, Deserialize)]
struct Directory {
    format: u32,
    run: RunId,
    /// The last event.
    reaches: Head,
    /// The first event of each segment of the compaction.
    firsts: Vec<Seq>,
    blocks: Vec<Block>,
}

/// A section of the index of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Block {
    pub(super) name: String,
    /// BLAKE3 of its bytes.
    hash: String,
    /// How many bytes each of its pieces has, which cover 8,192 events each.
    pub(super) pieces: Vec<u64>,
}

impl Block {
    /// True if these are its bytes.
    pub(super) fn is(&self, bytes: &[u8]) -> bool {
        blake3::hash(bytes).to_hex().as_str() == self.hash
    }
}

/// The name of the block with a section of the index.
pub(super) fn block_of(section: Section) -> &'static str {
    match section {
        Section::Census => "census",
        Section::Facts => "facts",
        Section::Calls => "calls",
        Section::Causes => "causes",
        Section::Texts => "texts",
    }
}

/// The compaction of a run up to one of its events.
#[derive(Debug)]
pub(crate) struct Compaction {
    directory: Directory,
    pub(super) path: Path,
    /// The hash of the first line: another compaction up to the same event has another one.
    pub(crate) version: String,
    /// How many bytes come before the blocks.
    start: u64,
}

impl Compaction {
    /// The end of the run, if nothing was added to it since.
    pub(crate) fn end(&self) -> RunEnd {
        RunEnd::at(self.directory.reaches)
    }

    /// The first event of the segment that has an event; `None` for one that came later.
    pub(crate) fn holding(&self, seq: Seq) -> Option<Seq> {
        let Directory { firsts, reaches, .. } = &self.directory;
        let after = firsts.partition_point(|first| *first <= seq);
        firsts.get(after.checked_sub(1)?).filter(|_| seq <= reaches.seq).copied()
    }

    /// The first event of the segment after another one.
    pub(crate) fn after(&self, first: Seq) -> Option<Seq> {
        let firsts = &self.directory.firsts;
        firsts.get(firsts.partition_point(|known| *known <= first)).copied()
    }

    /// The pieces of the index.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = KeptPiece> {
        let census = self.blocks().find(|(block, _)| block.name == block_of(Section::Census));
        let pieces = census.map_or(0, |(block, _)| block.pieces.len() as u64);
        let end = self.directory.reaches.seq;
        let up_to_end = move |kept: KeptPiece| KeptPiece { last: kept.last.min(end), ..kept };
        (0..pieces).map(KeptPiece::whole).map(up_to_end)
    }

    /// The blocks, and the bytes of the object that each is.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (&Block, Range<u64>)> {
        let mut next = self.start;
        self.directory.blocks.iter().map(move |block| {
            let start = next;
            next += block.pieces.iter().sum::<u64>();
            (block, start..next)
        })
    }

    pub(super) fn run(&self) -> RunId {
        self.directory.run
    }

    pub(super) fn change_fault(&self, why: &str) -> SegmentFault {
        SegmentFault::Changed { object: self.path.to_string(), why: why.to_owned() }
    }
}

/// The bytes of a directory; `firsts` has the first event of each segment of the compaction.
pub(super) fn encode(
    run: RunId,
    reaches: Head,
    firsts: Vec<Seq>,
    index: &[IndexPiece],
) -> serde_json::Result<Vec<u8>> {
    let (mut blocks, mut sections) = (Vec::new(), Vec::new());
    for section in Section::ALL {
        let start = sections.len();
        index.iter().for_each(|piece| sections.extend_from_slice(piece.section(section)));
        let pieces = index.iter().map(|piece| piece.section(section).len() as u64).collect();
        let hash = blake3::hash(&sections[start..]).to_hex().to_string();
        blocks.push(Block { name: block_of(section).to_owned(), hash, pieces });
    }
    let directory = Directory { format: FORMAT, run, reaches, firsts, blocks };
    let line = serde_json::to_string(&directory)?;
    let hash = blake3::hash(line.as_bytes()).to_hex();
    let mut bytes = format!("{line}\n{hash}\n").into_bytes();
    bytes.append(&mut sections);
    Ok(bytes)
}

/// Reads the lines of the directory of a run up to an event from the first bytes of the object; `None` if they have more.
///
/// # Errors
/// [`SegmentFault`] if it is not as it was written, or another one.
pub(super) fn decode(
    path: &Path,
    (run, end): (RunId, Seq),
    bytes: &[u8],
) -> Result<Option<Compaction>, SegmentFault> {
    let changed =
        |why: &str| SegmentFault::Changed { object: path.to_string(), why: why.to_owned() };
    let Some(length) = bytes.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
    let (line, rest) = bytes.split_at(length);
    let Some(hash) = rest.get(1..=HASH_LINE) else { return Ok(None) };
    let version = blake3::hash(line).to_hex().to_string();
    if hash != format!("{version}\n").as_bytes() {
        return Err(changed("its first line does not have the hash in its second"));
    }
    let directory: Directory =
        serde_json::from_slice(line).map_err(|error| changed(&error.to_string()))?;
    if directory.format != FORMAT {
        let object = path.to_string();
        return Err(SegmentFault::NewerFormat { object, found: directory.format });
    }
    let start = (length + 1 + HASH_LINE) as u64;
    match directory.is_of(run, end) {
        true => Ok(Some(Compaction { directory, path: path.clone(), version, start })),
        false => Err(changed("it does not fit its name")),
    }
}

impl Directory {
    /// True if it can be the directory of a run up to an event: its segments are in order, and no size is larger than
    /// possible.
    fn is_of(&self, run: RunId, end: Seq) -> bool {
        let most = u64::from(u32::MAX);
        self.run == run
            && self.reaches.seq == end
            && self.firsts.first() == Some(&Seq(1))
            && self.firsts.last() <= Some(&end)
            && self.firsts.is_sorted_by(|one, next| one < next)
            && self.blocks.iter().flat_map(|block| &block.pieces).all(|bytes| *bytes < most)
    }
}
