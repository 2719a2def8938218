//! Guards against decompression bombs: they end in an error instead of filling memory.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Output up to this many bytes is always allowed, whatever the packed size.
const FREE: u64 = 64 << 20;

/// The largest ratio of unpacked to packed size beyond that. Identical answers reach about a
/// hundred.
const MOST: u64 = 500;

/// Counts packed bytes as they are consumed.
pub(super) struct ByteCounter<R> {
    packed: R,
    used: Arc<AtomicU64>,
}

impl<R: BufRead> ByteCounter<R> {
    pub(super) fn new(packed: R) -> (Self, Arc<AtomicU64>) {
        let used = Arc::default();
        (ByteCounter { packed, used: Arc::clone(&used) }, used)
    }
}

impl<R: BufRead> Read for ByteCounter<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.packed.read(buffer)?;
        self.used.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for ByteCounter<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.packed.fill_buf()
    }

    fn consume(&mut self, used: usize) {
        self.used.fetch_add(used as u64, Ordering::Relaxed);
        self.packed.consume(used);
    }
}

/// Passes on a decoder's output as long as it is in proportion to the input.
pub(super) struct BoundedDecoder<R> {
    decoder: R,
    taken: Arc<AtomicU64>,
    given: u64,
}

impl<R: Read> BoundedDecoder<R> {
    pub(super) fn new(decoder: R, taken: Arc<AtomicU64>) -> Self {
        BoundedDecoder { decoder, taken, given: 0 }
    }
}

impl<R: Read> Read for BoundedDecoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.decoder.read(buffer)?;
        self.given += read as u64;
        let most = FREE.max(self.taken.load(Ordering::Relaxed).saturating_mul(MOST));
        if self.given > most { Err(io::Error::other(Bomb { most: MOST })) } else { Ok(read) }
    }
}

/// The error for a packed file that unpacks to too many times its size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bomb {
    pub(super) most: u64,
}

impl Bomb {
    /// This error, if that is what an I/O error holds.
    pub(super) fn new(error: &io::Error) -> Option<Bomb> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl fmt::Display for Bomb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it unpacks to more than {} times its size", self.most)
    }
}

impl std::error::Error for Bomb {}
