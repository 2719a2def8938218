//! A compaction, as its directory describes it.

use retold::id::Seq;
use retold::log::{KeptPiece, Section, SegmentFault};

use super::directory::{Block, Directory, block_of};
use crate::run_end::RunEnd;
use crate::segment::Footer;

/// The compaction of a run up to one of its events.
#[derive(Debug)]
pub(crate) struct Compaction {
    pub(super) directory: Directory,
    /// The name of the directory, for messages.
    object: String,
    pub(super) segments: Vec<CompactedSegment>,
}

/// Where a segment is.
#[derive(Debug, Clone, Copy)]
pub(super) struct CompactedSegment {
    /// The number of its part, from 0.
    pub(super) part: usize,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    last: Seq,
    /// Whether its part ends with it.
    pub(super) is_last: bool,
}

impl Compaction {
    pub(super) fn new(directory: Directory, object: String) -> Self {
        let mut segments = Vec::new();
        for (part, of_part) in directory.parts.iter().enumerate() {
            let mut offset = 0;
            for (last, bytes) in &of_part.segments {
                let segment =
                    CompactedSegment { part, offset, bytes: *bytes, last: *last, is_last: false };
                segments.push(segment);
                offset += bytes;
            }
            if let Some(last) = segments.last_mut() {
                last.is_last = true;
            }
        }
        Compaction { directory, object, segments }
    }

    /// The end of the run, if nothing was added to it since.
    pub(crate) fn end(&self) -> RunEnd {
        let Directory { segments, reaches, .. } = self.directory;
        RunEnd { segments, all: segments, head: reaches }
    }

    /// How many segments it has.
    pub(crate) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// The segment, counted from 0, that has an event.
    pub(crate) fn holding(&self, seq: Seq) -> usize {
        self.segments.partition_point(|segment| segment.last < seq)
    }

    /// Whether a segment has the events that it should have.
    pub(crate) fn is_where_it_says(&self, segment: usize, footer: &Footer) -> bool {
        let before = segment.checked_sub(1).map_or(Seq(0), |before| self.segments[before].last);
        footer.follows.seq == before && footer.last() == self.segments[segment].last
    }

    /// The pieces of the index.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = KeptPiece> {
        let census = self.directory.blocks.iter().find(|it| it.name == block_of(Section::Census));
        let pieces = census.map_or(0, |block| block.pieces.len() as u64);
        let end = self.directory.reaches.seq;
        let up_to_end = move |kept: KeptPiece| KeptPiece { last: kept.last.min(end), ..kept };
        (0..pieces).map(KeptPiece::whole).map(up_to_end)
    }

    pub(super) fn change_fault(&self, why: &str) -> SegmentFault {
        SegmentFault::Changed { object: self.object.clone(), why: why.to_owned() }
    }

    /// The blocks, and where each begins.
    pub(super) fn blocks(&self) -> impl Iterator<Item = (&Block, u64)> {
        let mut next = 0;
        self.directory.blocks.iter().map(move |block| {
            let start = next;
            next += block.len();
            (block, start)
        })
    }
}
