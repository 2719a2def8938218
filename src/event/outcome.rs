//! The outcome digest: what was decided and what happened, whatever the clock and the order in
//! which answers came in.

use std::fmt::Write;

use crate::id::{CallPath, OutcomeDigest, Sample, Seq};

/// What separates this use of BLAKE3 from any other.
const DOMAIN: &[u8] = b"retold outcome v1\n";

/// BLAKE3 over the canonical decisions and occurrences, in order, a line each.
///
/// Seqs depend on the order in which answers arrived, so they are not part of it: a decision is
/// named by its address, the cause of an occurrence by its place among the outcomes, from 1.
#[derive(Debug, Clone)]
pub struct OutcomeHasher {
    hasher: blake3::Hasher,
    seqs: Vec<Seq>,
}

impl Default for OutcomeHasher {
    fn default() -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(DOMAIN);
        OutcomeHasher { hasher, seqs: Vec::new() }
    }
}

impl OutcomeHasher {
    /// Adds a decision; its canonical line comes back, for comparing and showing.
    pub fn decision(
        &mut self,
        seq: Seq,
        call: &CallPath,
        sample: Sample,
        by: &str,
        body: &str,
    ) -> String {
        let mut line = String::with_capacity(body.len() + by.len() + 64);
        let call = serde_json::Value::from(call.as_str());
        // Writing to a string cannot fail.
        let _ =
            write!(line, "{{\"by\":{by},\"call\":{call},\"decision\":{body},\"sample\":{sample}}}");
        self.add(seq, &line);
        line
    }

    /// Adds an occurrence, with the causes it has; its canonical line comes back.
    pub fn occurrence(&mut self, seq: Seq, causes: &[Seq], fact: &str) -> String {
        let causes: Vec<u64> = causes.iter().map(|c| self.place_of(*c)).collect();
        let mut line = String::with_capacity(fact.len() + 32);
        let causes = ranges(&causes);
        let _ = write!(line, "{{\"causes\":{causes},\"occurred\":{fact}}}");
        self.add(seq, &line);
        line
    }

    fn add(&mut self, seq: Seq, line: &str) {
        self.hasher.update(line.as_bytes()).update(b"\n");
        self.seqs.push(seq);
    }

    /// The place of an outcome among all, from 1; 0 for an event that is no outcome.
    fn place_of(&self, seq: Seq) -> u64 {
        self.seqs.binary_search(&seq).map_or(0, |i| i as u64 + 1)
    }

    /// How many outcomes were added.
    pub fn len(&self) -> usize {
        self.seqs.len()
    }

    /// Whether none was.
    pub fn is_empty(&self) -> bool {
        self.seqs.is_empty()
    }

    /// The digest so far.
    pub fn digest(&self) -> OutcomeDigest {
        OutcomeDigest(*self.hasher.finalize().as_bytes())
    }
}

/// Ascending numbers as JSON, runs of them as `[from,to]`: `[3,[5,9]]`.
pub(super) fn ranges(numbers: &[u64]) -> String {
    let mut out = String::from("[");
    let mut i = 0;
    while i < numbers.len() {
        let mut j = i;
        while j + 1 < numbers.len() && numbers[j + 1] == numbers[j] + 1 {
            j += 1;
        }
        if i > 0 {
            out.push(',');
        }
        let _ = match j - i {
            0 => write!(out, "{}", numbers[i]),
            _ => write!(out, "[{},{}]", numbers[i], numbers[j]),
        };
        i = j + 1;
    }
    out.push(']');
    out
}

/// Reads what [`ranges`] wrote.
pub(super) fn from_ranges(value: &serde_json::Value) -> Option<Vec<u64>> {
    // More causes than any log has events; a foreign recording must not fill the memory.
    const MOST: u64 = 10_000_000;
    let mut out = Vec::new();
    for item in value.as_array()? {
        match (item.as_u64(), item.as_array().map(Vec::as_slice)) {
            (Some(n), _) => out.push(n),
            (None, Some([from, to])) => {
                let (from, to) = (from.as_u64()?, to.as_u64()?);
                if to < from || (to - from).saturating_add(out.len() as u64) > MOST {
                    return None;
                }
                out.extend(from..=to);
            }
            _ => return None,
        }
    }
    Some(out)
}
