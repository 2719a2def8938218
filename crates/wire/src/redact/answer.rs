//! Personal data in a whole answer, and the lengths of its chunks.

use super::stream::{self, move_chunks};
use super::{Chunks, Redaction};
use crate::framing::Framing;

impl Redaction {
    /// An answer as it is stored, with the chunks that it then has, and whether anything was taken out. One that was broken
    /// off may end with the beginning of a value that is redacted.
    pub(crate) fn answer(
        &self,
        framing: Framing,
        body: Vec<u8>,
        broken: bool,
        chunks: Chunks,
    ) -> (Vec<u8>, Chunks, bool) {
        if self.is_empty() {
            return (body, chunks, false);
        }
        let pieces = match stream::framing(framing, &body) {
            Framing::Whole => match self.whole(&body, broken) {
                (_, false) => return (body, chunks, false),
                (other, true) => vec![(body.len(), other.into_owned())],
            },
            framing @ (Framing::Events | Framing::Lines | Framing::Messages) => {
                self.stream(framing, &body, broken)
            }
        };
        let stored: Vec<u8> = pieces.iter().flat_map(|(_, piece)| piece.iter().copied()).collect();
        if stored == body {
            return (body, chunks, false);
        }
        let chunks = move_chunks(&chunks, &pieces);
        (stored, chunks, true)
    }
}
