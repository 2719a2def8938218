//! The last object of a compaction.
//!
//! ```text
//! blocks           prompts: in which segments a request is; then the index of the run, a block per section
//! the footer       JSON: the segments that the compaction stands for, its parts, and the blocks with their hashes
//! 32 bytes         BLAKE3 of the footer
//!  4 bytes         the length of the footer, little-endian
//!  8 bytes         "retold-d"
//! ```
//!
//! It is read from its end: the directory of a run of some ten thousand exchanges with one request.

use retold::id::{RunId, Seq};
use retold::log::{Head, IndexPiece, Section, SegmentFault};
use serde::{Deserialize, Serialize};

use crate::names::is_part;

/// The format of directories that this release writes and reads.
const FORMAT: u32 = 1;

const END: [u8; 8] = *b"retold-d";

/// How many bytes follow the footer.
const TRAILER: usize = 32 + 4 + END.len();

/// The most bytes that a footer may have: that of a run with a terabyte of text has a third of that.
const MOST_BYTES: u32 = 64 << 20;

/// The name of the block that says where requests are.
pub(super) const PROMPTS: &str = "prompts";

/// The footer of a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Directory {
    format: u32,
    pub(super) run: RunId,
    /// How many segments of the run the compaction stands for.
    pub(super) segments: u64,
    /// The last event.
    pub(super) reaches: Head,
    pub(super) parts: Vec<Part>,
    pub(super) blocks: Vec<Block>,
}

/// An object with segments, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// The last part of its name.
    pub(crate) object: String,
    /// The last event of each segment, and how many bytes it has.
    pub(crate) segments: Vec<(Seq, u64)>,
}

/// Some bytes of the directory that are read as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Block {
    pub(super) name: String,
    /// BLAKE3 of its bytes.
    hash: String,
    /// How many bytes each of its pieces has; of an index, each covers 8,192 events.
    pub(super) pieces: Vec<u64>,
}

impl Block {
    fn new(name: &str, bytes: &[u8], pieces: Vec<u64>) -> Self {
        Block { name: name.to_owned(), hash: blake3::hash(bytes).to_hex().to_string(), pieces }
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> u64 {
        self.pieces.iter().sum()
    }

    /// Whether these are its bytes.
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

/// The bytes of a directory.
///
/// # Errors
/// An error of the encoder.
pub(super) fn encode(
    (run, segments, reaches): (RunId, u64, Head),
    parts: Vec<Part>,
    prompts: &[u8],
    index: &[IndexPiece],
) -> serde_json::Result<Vec<u8>> {
    let mut bytes = prompts.to_vec();
    let mut blocks = vec![Block::new(PROMPTS, prompts, vec![prompts.len() as u64])];
    for section in Section::ALL {
        let start = bytes.len();
        index.iter().for_each(|piece| bytes.extend_from_slice(piece.section(section)));
        let pieces = index.iter().map(|piece| piece.section(section).len() as u64).collect();
        blocks.push(Block::new(block_of(section), &bytes[start..], pieces));
    }
    let directory = Directory { format: FORMAT, run, segments, reaches, parts, blocks };
    let footer = serde_json::to_vec(&directory)?;
    bytes.extend_from_slice(&footer);
    bytes.extend_from_slice(blake3::hash(&footer).as_bytes());
    bytes.extend_from_slice(&(footer.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&END);
    Ok(bytes)
}

/// A directory as far as its last bytes show it.
pub(super) enum Tail {
    /// All that it says, and how many bytes that has.
    Whole(Box<Directory>, u64),
    /// So many bytes are needed.
    Needs(u64),
}

/// Reads the footer of the directory of a run up to an event from the last bytes of the object.
///
/// # Errors
/// [`SegmentFault`] if it is not as it was written, or another one.
pub(super) fn decode(
    object: &str,
    (run, end): (RunId, Seq),
    tail: &[u8],
) -> Result<Tail, SegmentFault> {
    let changed =
        |why: &str| SegmentFault::Changed { object: object.to_owned(), why: why.to_owned() };
    let (rest, trailer) = tail
        .split_last_chunk::<TRAILER>()
        .filter(|(_, trailer)| trailer.ends_with(&END))
        .ok_or_else(|| changed("it is cut off"))?;
    let (hash, lengths) = trailer.split_at(32);
    let length = lengths.first_chunk::<4>().map_or(0, |length| u32::from_le_bytes(*length));
    if length > MOST_BYTES {
        return Err(changed(&format!("its footer has {length} bytes, more than one may have")));
    }
    let whole = u64::from(length) + TRAILER as u64;
    let Some(start) = rest.len().checked_sub(length as usize) else {
        return Ok(Tail::Needs(whole));
    };
    let footer = &rest[start..];
    if blake3::hash(footer).as_bytes() != hash {
        return Err(changed("its footer does not have the hash at its end"));
    }
    let directory: Directory =
        serde_json::from_slice(footer).map_err(|error| changed(&error.to_string()))?;
    if directory.format != FORMAT {
        let object = object.to_owned();
        return Err(SegmentFault::NewerFormat { object, found: directory.format });
    }
    match directory.is_of(run, end) {
        true => Ok(Tail::Whole(Box::new(directory), whole)),
        false => Err(changed("it does not fit its name")),
    }
}

impl Directory {
    /// True if it can be the directory of a run up to an event: its parts are in its folder, its segments are in order, and
    /// no size is larger than possible.
    fn is_of(&self, run: RunId, end: Seq) -> bool {
        let segments = || self.parts.iter().flat_map(|part| &part.segments);
        let lasts: Vec<Seq> = segments().map(|(last, _)| *last).collect();
        let is_rising = lasts.is_sorted_by(|one, next| one < next);
        let most = u64::from(u32::MAX);
        let are_possible = segments().all(|(_, bytes)| *bytes < most)
            && self.blocks.iter().flat_map(|block| &block.pieces).all(|bytes| *bytes < most);
        self.run == run
            && self.segments > 0
            && self.reaches.seq == end
            && lasts.last() == Some(&end)
            && is_rising
            && are_possible
            && self.parts.iter().all(|part| is_part(&part.object))
    }
}
