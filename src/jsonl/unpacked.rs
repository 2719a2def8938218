//! Guards against decompression bombs: they end in an error instead of filling memory.

use std::fmt;
use std::io::{self, BufRead, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::error::JsonlProblem;

/// Output up to this many bytes is always allowed, for any packed size.
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

/// The largest window of zstd data that is unpacked, as a power of two: what zstd itself unpacks without `--long`.
const LARGEST_WINDOW: u8 = 27;

/// The decoder of zstd data.
///
/// # Errors
/// [`WideWindow`], or that of the system.
pub(super) fn zstd_decoder<R: BufRead>(
    mut packed: R,
) -> io::Result<zstd::Decoder<'static, impl BufRead + use<R>>> {
    let mut begin = Vec::new();
    packed.by_ref().take(6).read_to_end(&mut begin)?;
    // RFC 8878, section 3.1.1.1: magic number, descriptor, and the window unless there is a single segment.
    if let [0x28, 0xB5, 0x2F, 0xFD, descriptor, window] = begin[..]
        && descriptor & 0x20 == 0
        && 10 + (window >> 3) > LARGEST_WINDOW
    {
        return Err(io::Error::other(WideWindow { power: 10 + (window >> 3) }));
    }
    zstd::Decoder::with_buffer(Cursor::new(begin).chain(packed))
}

/// The error for zstd data whose window is too large.
#[derive(Debug, Clone, Copy)]
pub(super) struct WideWindow {
    power: u8,
}

impl WideWindow {
    /// This error as a problem of a file, if that is what an I/O error holds.
    pub(super) fn problem(error: &io::Error) -> Option<JsonlProblem> {
        let WideWindow { power } = error.get_ref()?.downcast_ref().copied()?;
        Some(JsonlProblem::WideWindow { mib: 1 << (power - 20), most: 1 << (LARGEST_WINDOW - 20) })
    }
}

impl fmt::Display for WideWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "its window has 2^{} bytes", self.power)
    }
}

impl std::error::Error for WideWindow {}

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
