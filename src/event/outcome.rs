//! The outcome digest: a hash of the decisions and facts, independent of the clock and of the order
//! in which answers arrived.

use std::fmt::Write as _;
use std::io::Write;

use crate::id::{CallPath, OutcomeDigest, Sample, Seq};

/// Separates this use of BLAKE3 from every other.
const DOMAIN: &[u8] = b"retold outcome v1\n";

/// How many bytes are hashed together: BLAKE3 processes many blocks at once, several times as fast
/// as one by one. A power of two, so that each piece is a complete subtree of its tree.
const PIECE: usize = 1 << 16;

/// BLAKE3 over the canonical decisions and occurrences, in order, one line each.
///
/// Seqs depend on the order in which answers arrived, so they are not part of it: a decision is
/// identified by its address, and the cause of an occurrence by its position among the outcomes,
/// from 1.
#[derive(Debug, Clone)]
pub struct OutcomeHasher {
    hasher: blake3::Hasher,
    /// The bytes to hash next: less than a piece.
    pending: Vec<u8>,
    seqs: Vec<Seq>,
}

impl Default for OutcomeHasher {
    fn default() -> Self {
        let (hasher, pending) = (blake3::Hasher::new(), DOMAIN.to_vec());
        OutcomeHasher { hasher, pending, seqs: Vec::new() }
    }
}

impl OutcomeHasher {
    /// Adds a decision.
    pub fn decision(&mut self, seq: Seq, call: &CallPath, sample: Sample, by: &str, body: &str) {
        // Writing to memory cannot fail, here and below.
        let out = &mut self.pending;
        let _ = write!(out, "{{\"by\":{by},\"call\":");
        let _ = serde_json::to_writer(&mut *out, call.as_str());
        let _ = write!(out, ",\"decision\":{body},\"sample\":{sample}}}");
        self.end(seq);
    }

    /// Adds an occurrence with its causes.
    pub fn occurrence(&mut self, seq: Seq, causes: &[Seq], fact: &str) {
        let causes: Vec<u64> = causes.iter().map(|c| self.place_of(*c)).collect();
        let causes = ranges(&spans(&causes));
        let _ = write!(self.pending, "{{\"causes\":{causes},\"occurred\":{fact}}}");
        self.end(seq);
    }

    /// Ends the line of an outcome.
    fn end(&mut self, seq: Seq) {
        self.pending.push(b'\n');
        while let Some((piece, _)) = self.pending.split_at_checked(PIECE) {
            self.hasher.update(piece);
            self.pending.drain(..PIECE);
        }
        self.seqs.push(seq);
    }

    /// The position of an outcome among all of them, from 1; 0 for an event that is not an outcome.
    fn place_of(&self, seq: Seq) -> u64 {
        self.seqs.binary_search(&seq).map_or(0, |i| i as u64 + 1)
    }

    /// How many outcomes were added.
    pub fn len(&self) -> usize {
        self.seqs.len()
    }

    /// Whether none was added.
    pub fn is_empty(&self) -> bool {
        self.seqs.is_empty()
    }

    /// The digest so far.
    pub fn digest(&self) -> OutcomeDigest {
        let mut whole = self.hasher.clone();
        OutcomeDigest(*whole.update(&self.pending).finalize().as_bytes())
    }
}

/// The runs of consecutive numbers: the first and the last of each.
pub(super) fn spans(numbers: &[u64]) -> Vec<(u64, u64)> {
    let mut all: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match all.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*number) => *last = *number,
            _ => all.push((*number, *number)),
        }
    }
    all
}

/// Ranges as JSON; a range of one number is written as that number: `[3,[5,9]]`.
pub(crate) fn ranges(ranges: &[(u64, u64)]) -> String {
    let mut out = String::from("[");
    for (i, (first, last)) in ranges.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        // Writing to a string cannot fail.
        let _ =
            if first == last { write!(out, "{first}") } else { write!(out, "[{first},{last}]") };
    }
    out.push(']');
    out
}

/// Reads what [`ranges`] wrote: the first and the last of each range.
pub(crate) fn pairs(value: &serde_json::Value) -> Option<Vec<(u64, u64)>> {
    let pair = |item: &serde_json::Value| match item.as_array()?.as_slice() {
        [from, to] => Some((from.as_u64()?, to.as_u64()?)).filter(|(from, to)| from <= to),
        _ => None,
    };
    let item = |item: &serde_json::Value| item.as_u64().map(|n| (n, n)).or_else(|| pair(item));
    value.as_array()?.iter().map(item).collect()
}

/// All the numbers in some ranges, for an event that has `before` others before it.
pub(super) fn from_ranges(pairs: &[(u64, u64)], before: u64) -> Option<Vec<u64>> {
    // Causes are earlier events: a foreign recording must not claim more than there are. A few are
    // read in any case, so that the error message can say what is wrong with them.
    let most = before.max(1000);
    let mut out = Vec::new();
    for (from, to) in pairs {
        if (to - from).saturating_add(out.len() as u64) > most {
            return None;
        }
        out.extend(*from..=*to);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashing_in_pieces_gives_the_same_digest() {
        let call = CallPath::new("solve/\"7\"").unwrap();
        let mut hasher = OutcomeHasher::default();
        let mut whole = DOMAIN.to_vec();
        let mut lengths = Vec::new();
        for seq in 1..=1500 {
            let body = format!("{{\"value\":\"{}\"}}", "x".repeat(seq as usize % 200));
            hasher.decision(Seq(seq), &call, 3, r#"{"method":"m"}"#, &body);
            let call = r#""solve/\"7\"""#;
            let by = r#"{"method":"m"}"#;
            let line =
                format!("{{\"by\":{by},\"call\":{call},\"decision\":{body},\"sample\":3}}\n");
            whole.extend_from_slice(line.as_bytes());
            assert_eq!(hasher.digest().0, *blake3::hash(&whole).as_bytes(), "after {seq}");
            lengths.push(whole.len());
        }
        assert!(lengths.iter().any(|n| *n > 2 * PIECE), "more than one piece was hashed");
    }
}
