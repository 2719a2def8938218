//! Texts of a recording that it may refer to again, found by their hash.

use std::fs::File;
use std::io::{Error, Read, Result, Seek, SeekFrom, Write};

use crate::lookup::LookupMap;

/// How many bytes are kept in memory; more go to an unnamed temporary file.
const MEMORY: usize = 32 << 20;

/// The whole hash: a file may give one that differs from a known one in its last digit.
type Key = [u8; 32];

/// Bytes by hash, in their order of arrival.
#[derive(Default)]
pub(super) struct Stash {
    places: LookupMap<Key, u64>,
    file: Option<File>,
    /// How many bytes are in the file.
    written: u64,
    /// The bytes after those.
    recent: Vec<u8>,
}

impl Stash {
    /// Keeps some bytes, with a kind that the caller defines.
    pub(super) fn put(&mut self, hash: &Key, kind: u8, bytes: &[u8]) -> Result<()> {
        if self.recent.len() >= MEMORY {
            self.spill()?;
        }
        self.places.insert(*hash, self.written + self.recent.len() as u64);
        self.recent.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.recent.push(kind);
        self.recent.extend_from_slice(bytes);
        Ok(())
    }

    fn spill(&mut self) -> Result<()> {
        let file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile()?,
        };
        let file = self.file.insert(file);
        file.seek(SeekFrom::Start(self.written))?;
        file.write_all(&self.recent)?;
        self.written += self.recent.len() as u64;
        self.recent.clear();
        Ok(())
    }

    /// The bytes for a hash, and their kind.
    pub(super) fn get(&mut self, hash: &Key) -> Result<Option<(u8, Vec<u8>)>> {
        let Some(place) = self.places.get(hash).copied() else { return Ok(None) };
        let mut head = [0; 9];
        match (place.checked_sub(self.written), &mut self.file) {
            (None, Some(file)) => {
                file.seek(SeekFrom::Start(place))?;
                read(file, &mut head).map(Some)
            }
            (at, _) => {
                let at = usize::try_from(at.unwrap_or(0)).unwrap_or(usize::MAX);
                read(&mut self.recent.get(at..).unwrap_or(&[]), &mut head).map(Some)
            }
        }
    }
}

/// Reads a length, a kind, and that many bytes.
fn read(from: &mut impl Read, head: &mut [u8; 9]) -> Result<(u8, Vec<u8>)> {
    from.read_exact(head)?;
    let [length @ .., kind] = *head;
    let length = usize::try_from(u64::from_le_bytes(length)).map_err(Error::other)?;
    let mut bytes = vec![0; length];
    from.read_exact(&mut bytes)?;
    Ok((kind, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stashed_comes_back_from_memory_and_from_the_file() {
        let mut stash = Stash::default();
        let hash = |n: u32| *blake3::hash(&n.to_le_bytes()).as_bytes();
        let text = |n: u32| vec![n as u8; (n as usize * 7919) % 300_000];
        for n in 0..600 {
            stash.put(&hash(n), n as u8, &text(n)).unwrap();
        }
        assert!(stash.written > MEMORY as u64 && !stash.recent.is_empty());
        for n in [0, 599, 3, 300, 301, 17, 598, 1] {
            assert_eq!(stash.get(&hash(n)).unwrap(), Some((n as u8, text(n))), "{n}");
        }
        assert_eq!(stash.get(&hash(600)).unwrap(), None);
    }
}
