//! Packed files that unpack to nothing but their own repetition end in an error, not in all of memory.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much is unpacked whatever it was packed in, in bytes.
const FREE: u64 = 64 << 20;

/// How many times its packed size the rest may have. Answers that are all the same come to about a hundred.
const MOST: u64 = 500;

/// Packed bytes, counted as they are used.
pub(super) struct Counted<R> {
    packed: R,
    used: Arc<AtomicU64>,
}

impl<R: BufRead> Counted<R> {
    pub(super) fn new(packed: R) -> (Self, Arc<AtomicU64>) {
        let used = Arc::default();
        (Counted { packed, used: Arc::clone(&used) }, used)
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.packed.read(buffer)?;
        self.used.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.packed.fill_buf()
    }

    fn consume(&mut self, used: usize) {
        self.used.fetch_add(used as u64, Ordering::Relaxed);
        self.packed.consume(used);
    }
}

/// What a decoder gives, as long as it is in proportion to what it took.
pub(super) struct Unpacked<R> {
    decoder: R,
    taken: Arc<AtomicU64>,
    given: u64,
}

impl<R: Read> Unpacked<R> {
    pub(super) fn new(decoder: R, taken: Arc<AtomicU64>) -> Self {
        Unpacked { decoder, taken, given: 0 }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.given += read as u64;
        let most = FREE.max(self.taken.load(Ordering::Relaxed).saturating_mul(MOST));
        match self.given > most {
            true => Err(io::Error::other(Bomb { most: MOST })),
            false => Ok(read),
        }
    }
}

/// A packed file that unpacks to too many times its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bomb {
    pub(super) most: u64,
}

impl Bomb {
    /// Whether that is the error.
    pub(super) fn of(error: &io::Error) -> Option<Bomb> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl fmt::Display for Bomb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it unpacks to more than {} times its size", self.most)
    }
}

impl std::error::Error for Bomb {}
