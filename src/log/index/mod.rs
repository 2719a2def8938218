//! An index over the events of a run, so that a look-up need not read all of them.
//!
//! It consists of pieces of [`PIECE`] events, each made once, when the last of its events is
//! appended (a store that keeps the index of a finished run also has a last, shorter one), and never changed. So it adds next to nothing to the cost of an append: a piece is a
//! few rows at the end of a table, whereas one entry per event in an ordinary index would dirty a
//! page each. A look-up goes through all pieces, which are a fiftieth of the size of the events.
//! Events that no piece covers (the newest ones) are read and indexed in memory.
//!
//! A piece has one part per [`Section`]. The index names places, never contents: its users read the
//! events. It may name an event too many (because of a hash collision), but never one too few;
//! `verify` makes each piece again from its events and compares.
//!
//! - [`Builder`]: makes a piece from events; [`IndexPieces`]: those of a run, one after the other.
//! - [`Index`]: looks things up; [`each_event_at`] reads the events that it names. [`CallTable`]: its calls and causes, in
//!   memory.
//! - [`IndexComparison`]: compares the stored pieces with those that the events give.

mod at;
mod builder;
mod codec;
mod compare;
mod kept;
mod lookup;
mod strings;
mod table;

pub use at::each_event_at;
pub use builder::IndexPiece;
#[cfg(feature = "sqlite")]
pub(super) use builder::{Builder, IndexEntry};
pub(super) use compare::IndexComparison;
pub use kept::{IndexPieces, KeptPiece};
pub use lookup::{Census, Index};
pub(crate) use strings::TextKeys;
pub use table::CallTable;

use crate::id::Seq;

/// How many events a piece covers: few enough to be read at once, in a few tens of milliseconds.
pub(super) const PIECE: u64 = 8192;

/// A part of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// How many events of each kind there are, and how many questions of each kind: canonical JSON,
    /// `{"calls":{"initial_vote":40},"events":{"RequestSent":40}}`. The kind of a question is its
    /// call without the parts that have a digit.
    Census,
    /// The positions of the facts: each as its difference from the one before, from the start of
    /// the piece.
    Facts,
    /// By the hash of each part of a call that has a digit, or of the empty text if it has none:
    /// the number of the kind in the census, and the position. Sorted; a hash as its difference
    /// from the one before.
    Calls,
    /// By the seqs of the causes: the first, as its difference from the one before; how far the
    /// last is after it; the position. Sorted.
    Causes,
    /// By the hash of the beginning of each text that can occur in a later prompt: the position.
    /// Sorted; a hash as its difference from the one before.
    Texts,
}

impl Section {
    /// All sections.
    pub const ALL: [Section; 5] =
        [Section::Census, Section::Facts, Section::Calls, Section::Causes, Section::Texts];

    /// Its number in a log file.
    pub(super) fn number(self) -> i64 {
        match self {
            Section::Census => 1,
            Section::Facts => 2,
            Section::Calls => 3,
            Section::Causes => 4,
            Section::Texts => 5,
        }
    }
}

/// The number of the piece that an event belongs to, and its position there, from 1.
pub(super) fn place(seq: Seq) -> (u64, u64) {
    let before = seq.0.saturating_sub(1);
    (before / PIECE, before % PIECE + 1)
}

/// The first event of a piece.
pub(super) fn first(piece: u64) -> Seq {
    Seq(piece * PIECE + 1)
}

/// The last event of a piece.
pub(super) fn last(piece: u64) -> Seq {
    Seq((piece + 1) * PIECE)
}
