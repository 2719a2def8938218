//! A segment: some events of one run, one after the other, as one object.
//!
//! ```text
//! a zstd frame      the lines of a recording: contents, requests and events, each before its first use
//! perhaps a frame   of zeros, so that the lines are at most a hundred times as long as all of this
//! a skippable frame magic 0x184D2A5E and the length, then
//!                     the footer as JSON: run, place, the heads before and after it, who wrote it
//!                     32 bytes   BLAKE3 of everything before them
//!                      4 bytes   the length of the footer, little-endian
//!                      8 bytes   "retold-1"
//! ```
//!
//! (RFC 8878 for all frames.) So `zstd -dc` of a segment prints its lines, and everything that its events need is
//! in the same object.

mod decode;
mod encode;
mod footer;

pub(crate) use decode::{MOST_BYTES, Segment, Unpacking, decode};
pub(crate) use encode::{NewSegment, SegmentLines, encode};
pub(crate) use footer::{AnnouncedEntry, FORMAT, Footer};

/// The last bytes of a segment.
const END: [u8; 8] = *b"retold-1";

/// How many bytes follow the footer.
const TRAILER: usize = 32 + 4 + END.len();
