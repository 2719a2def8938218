//! In which segments of a compaction a request is: by the beginning of its hash.

use bytes::Bytes;
use retold::id::PromptHash;

/// Four bytes of a hash and the number of a segment.
const ROW: usize = 8;

/// The requests of a compaction, while it is made.
#[derive(Debug, Default)]
pub(super) struct NewPromptTable {
    rows: Vec<(u32, u32)>,
}

impl NewPromptTable {
    /// Notes that a segment, counted from 0, has a request.
    pub(super) fn add(&mut self, prompt: PromptHash, segment: u32) {
        self.rows.push((beginning(prompt), segment));
    }

    /// The rows in their order, each number with its most significant byte first.
    pub(super) fn bytes(mut self) -> Vec<u8> {
        self.rows.sort_unstable();
        self.rows.dedup();
        self.rows
            .iter()
            .flat_map(|(hash, segment)| [hash.to_be_bytes(), segment.to_be_bytes()].concat())
            .collect()
    }
}

/// The requests of a compaction: rows of four bytes of a hash and the number of a segment, sorted.
#[derive(Debug, Clone)]
pub(crate) struct PromptTable {
    rows: Bytes,
}

impl PromptTable {
    pub(super) fn new(rows: Bytes) -> Self {
        PromptTable { rows }
    }

    /// The segments that may have a request whose hash begins with a number from `low` to `high`, in order.
    pub(super) fn between(&self, low: u32, high: u32) -> Vec<usize> {
        let (rows, _) = self.rows.as_chunks::<ROW>();
        let row = |row: &[u8; ROW]| {
            let [a, b, c, d, rest @ ..] = *row;
            (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes(rest))
        };
        let first = rows.partition_point(|at| row(at).0 < low);
        let within = rows[first..].iter().map(row).take_while(|(hash, _)| *hash <= high);
        let mut found: Vec<usize> = within.map(|(_, segment)| segment as usize).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Whether a segment is found by a request.
    pub(crate) fn names(&self, prompt: PromptHash, segment: usize) -> bool {
        let hash = beginning(prompt);
        self.between(hash, hash).contains(&segment)
    }
}

/// The first four bytes of a hash.
fn beginning(prompt: PromptHash) -> u32 {
    prompt.as_bytes().first_chunk().map_or(0, |first| u32::from_be_bytes(*first))
}

/// The first and the last number with which the hash of a request that begins with these hex digits may begin; `None` if
/// they are not hex digits.
pub(crate) fn beginnings(prefix: &str) -> Option<(u32, u32)> {
    let digits = prefix.get(..prefix.len().min(8))?;
    if digits.is_empty() {
        return Some((0, u32::MAX));
    }
    let low = u32::from_str_radix(digits, 16).ok()?;
    let unknown = 4 * (8 - digits.len() as u32);
    let low = low.checked_shl(unknown)?;
    Some((low, low | 1_u32.checked_shl(unknown)?.wrapping_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_found_in_all_its_segments_and_no_others() {
        let hash = |first: u8, last: u8| {
            let mut bytes = [first; 32];
            bytes[3] = last;
            PromptHash(bytes)
        };
        let mut table = NewPromptTable::default();
        for (prompt, segment) in
            [(hash(9, 0), 2), (hash(9, 0), 0), (hash(9, 1), 1), (hash(0, 0), 7)]
        {
            table.add(prompt, segment);
            table.add(prompt, segment);
        }
        let bytes = table.bytes();
        assert_eq!(bytes.len(), 4 * ROW);
        let table = PromptTable::new(bytes.into());
        let of = |prompt| table.between(beginning(prompt), beginning(prompt));
        assert_eq!(of(hash(9, 0)), [0, 2]);
        assert_eq!(of(hash(9, 1)), [1]);
        assert_eq!(of(hash(8, 0)), [] as [usize; 0]);
        assert!(table.names(hash(9, 1), 1) && !table.names(hash(9, 1), 2));
        assert_eq!(table.between(0x0909_0000, 0x0909_ffff), [0, 1, 2]);
        assert_eq!(table.between(0, u32::MAX), [0, 1, 2, 7]);
    }
}
