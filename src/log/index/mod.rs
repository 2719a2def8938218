//! An index over the events of a run, so that what names one thing need not read them all.
//!
//! It comes in pieces of [`PIECE`] events, each made once, when the last of its events is appended, and
//! never changed. So it costs an append next to nothing: a piece is some rows at the end of a table, where
//! an entry per event in an ordinary index would dirty a page each. Whoever looks something up goes
//! through all pieces, which are a fiftieth of the events; events that no piece covers (the newest ones, or
//! those of a log that an older release wrote) are read and indexed in memory.
//!
//! A piece has one part for each [`Section`]. What an index says is where to look, never what is there:
//! whoever uses it reads the events. It may name an event too many (by the chance of a hash), never one too
//! few; `verify` makes each piece again from its events and compares.
//!
//! - [`Builder`]: makes a piece from events.
//! - [`Index`]: looks things up; [`each_event_at`] reads what it names.

mod at;
mod builder;
mod codec;
mod lookup;
mod strings;

pub use at::each_event_at;
pub(super) use builder::{Builder, Entry, Piece};
pub use lookup::{Census, Index};
pub(crate) use strings::TextKeys;

use crate::id::Seq;

/// How many events a piece covers: few enough to be read at once, in some ten milliseconds.
pub(super) const PIECE: u64 = 8192;

/// A part of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// How many events of each kind there are, and how many questions of each kind: canonical JSON,
    /// `{"calls":{"initial_vote":40},"events":{"RequestSent":40}}`. The kind of a question is its call without
    /// the parts that have a digit.
    Census,
    /// The places of the facts: each as its distance from the one before, from the start of the piece.
    Facts,
    /// By the hash of each part of a call that has a digit, or of no text if it has none: the number of
    /// the kind in the census, and the place. Sorted; a hash as its distance from the one before.
    Calls,
    /// By the seqs of its causes: the first, as its distance from the one before; how many follow that; the place.
    /// Sorted.
    Causes,
    /// By the hash of the beginning of each text that can stand in a later prompt: the place. Sorted; a hash
    /// as its distance from the one before.
    Texts,
}

impl Section {
    /// All of them.
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

/// The number of the piece that an event belongs to, and its place there, from 1.
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
