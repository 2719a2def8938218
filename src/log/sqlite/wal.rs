//! Reads a WAL file without SQLite, which silently drops everything from the first bad frame on.
//!
//! The format is documented (<https://www.sqlite.org/fileformat2.html#walformat>): a header of 32
//! bytes, then frames: 24 bytes (page number, size of the database after a commit or 0, two salts,
//! a checksum of two words) and a page. The checksum continues from frame to frame, starting with
//! the header's, so each frame can be checked against the checksum that the frame before it stores,
//! whatever came earlier.
//!
//! SQLite reads up to the first bad frame. Usually that is as it should be: after it are frames
//! from an earlier use of the file, which have other salts, or a transaction that was not finished.
//! With `synchronous=FULL` a transaction begins only after the previous one was synced. So if a
//! later transaction, with the salts of the header, follows a commit at or after the bad frame,
//! that frame was on disk once and is damaged. A header is synced before the first frame is
//! written: frames after a bad header mean that it is damaged, too.
//!
//! Damage in the last transaction looks like a transaction that was never finished; there the
//! high-water mark decides (`mark`).

use crate::log::finding::WalFault;
use std::io::{self, Read};

const HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// The unit that disks write as a whole.
const SECTOR: u64 = 512;

/// The salts, frame counts and damage of a WAL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wal {
    /// The salts of its header.
    salts: [u8; 8],
    /// How many whole frames the file has, stale ones included.
    pub(super) frames: u64,
    /// How many of them SQLite reads: up to the last commit before a bad frame.
    pub(super) committed: u64,
    /// Whether the file continues after them.
    pub(super) continues: bool,
    /// The fault that is certain, if there is one.
    pub(super) fault: Option<WalFault>,
}

impl Wal {
    /// Whether both are damaged in the same place of the same use of the file.
    pub(super) fn is_damaged_like(&self, other: &Wal) -> bool {
        self.salts == other.salts
            && match (self.fault, other.fault) {
                (Some(WalFault::Header), Some(WalFault::Header)) => true,
                (
                    Some(WalFault::Frame { number: a, .. }),
                    Some(WalFault::Frame { number: b, .. }),
                ) => a == b,
                _ => false,
            }
    }
}

/// A running checksum.
type Sum = [u32; 2];

/// The words of a file have the byte order of the machine that wrote it.
#[derive(Clone, Copy)]
enum Words {
    Little,
    Big,
}

impl Words {
    fn sum(self, from: Sum, bytes: &[u8]) -> Sum {
        let word = |bytes: &[u8]| {
            let bytes = [bytes[0], bytes[1], bytes[2], bytes[3]];
            match self {
                Words::Little => u32::from_le_bytes(bytes),
                Words::Big => u32::from_be_bytes(bytes),
            }
        };
        bytes.chunks_exact(8).fold(from, |[a, b], pair| {
            let a = a.wrapping_add(word(pair)).wrapping_add(b);
            [a, b.wrapping_add(word(&pair[4..])).wrapping_add(a)]
        })
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

fn stored_sum(bytes: &[u8]) -> Sum {
    [number(bytes), number(&bytes[4..])]
}

/// The header of a file, if it is valid.
struct Header {
    words: Words,
    page: usize,
    salts: [u8; 8],
    sum: Sum,
}

impl Header {
    fn new(bytes: &[u8; HEADER]) -> Option<Self> {
        let words = match number(bytes) {
            0x377f_0682 => Words::Little,
            0x377f_0683 => Words::Big,
            _ => return None,
        };
        let page = number(&bytes[8..]);
        let sum = stored_sum(&bytes[24..]);
        let fits = page.is_power_of_two() && (512..=65_536).contains(&page);
        if !fits || words.sum([0, 0], &bytes[..24]) != sum {
            return None;
        }
        let mut salts = [0; 8];
        salts.copy_from_slice(&bytes[16..24]);
        Some(Header { words, page: page as usize, salts, sum })
    }
}

/// Reads a WAL from beginning to end, one frame at a time.
pub(super) fn examine(mut file: impl Read) -> io::Result<Wal> {
    let mut bytes = [0; HEADER];
    if fill(&mut file, &mut bytes)? < HEADER {
        // The header was never finished, so no frame can have followed it.
        return Ok(Wal::default());
    }
    match Header::new(&bytes) {
        Some(header) => frames(&header, file),
        None => without_header(file),
    }
}

/// Examines what follows an invalid header. Even the smallest frame shows that the header was valid
/// once; zeros only show that the system allocated space.
fn without_header(mut file: impl Read) -> io::Result<Wal> {
    let mut bytes = vec![0; 65_536];
    let (mut length, mut written) = (0, false);
    loop {
        let read = fill(&mut file, &mut bytes)?;
        length += read;
        written |= bytes[..read].iter().any(|byte| *byte != 0);
        if read < bytes.len() || (written && length >= FRAME_HEADER + 512) {
            break;
        }
    }
    let fault = (written && length >= FRAME_HEADER + 512).then_some(WalFault::Header);
    Ok(Wal { continues: length > 0, fault, ..Wal::default() })
}

fn frames(header: &Header, mut file: impl Read) -> io::Result<Wal> {
    let mut wal = Wal { salts: header.salts, ..Wal::default() };
    let mut bytes = vec![0; FRAME_HEADER + header.page];
    let mut sum = header.sum;
    // The first frame that SQLite does not accept, how many after it have our salts, and whether
    // one of them proves damage.
    let (mut bad, mut later, mut damaged) = (None, 0, false);
    // Whether the previous frame is a commit from this use of the file.
    let mut after_commit = false;
    loop {
        let read = fill(&mut file, &mut bytes)?;
        if read < bytes.len() {
            wal.continues = read > 0 || wal.frames > wal.committed;
            break;
        }
        let (head, page) = bytes.split_at(FRAME_HEADER);
        let computed = header.words.sum(header.words.sum(sum, &head[..8]), page);
        sum = stored_sum(&head[16..]);
        let linked = computed == sum;
        let ours = head[8..16] == header.salts && number(head) != 0;
        let offset = HEADER as u64 + wal.frames * bytes.len() as u64;
        wal.frames += 1;
        match bad {
            None if ours && linked => {}
            None => bad = Some(wal.frames),
            Some(_) => {
                later += u64::from(ours);
                // A frame left over from an earlier power loss does not follow the commit.
                damaged |= after_commit && ours && linked;
            }
        }
        let commits = ours && number(&head[4..]) != 0;
        if bad.is_none() && commits {
            wal.committed = wal.frames;
        }
        // In a torn frame the commit field may be older than the salts, unless both were written
        // together.
        after_commit = commits && (linked || offset % SECTOR <= SECTOR - 16);
    }
    wal.fault = bad.filter(|_| damaged).map(|number| WalFault::Frame { number, later });
    Ok(wal)
}

/// Reads until the buffer is full or the file ends; returns how much was read.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    use super::*;

    const PAGE: usize = 512;
    const FRAME: usize = FRAME_HEADER + PAGE;

    /// A simulated writer of a WAL and its disk: what was synced, and what was written.
    struct Disk {
        rng: ChaCha8Rng,
        written: Vec<u8>,
        synced: Vec<u8>,
        salts: [u8; 8],
        /// How many frames SQLite knows, and the checksum of the last one.
        frames: usize,
        sum: Sum,
    }

    impl Disk {
        fn new(seed: u64) -> Self {
            let rng = ChaCha8Rng::seed_from_u64(seed);
            let (written, synced) = (Vec::new(), Vec::new());
            let mut disk = Disk { rng, written, synced, salts: [0; 8], frames: 0, sum: [0, 0] };
            disk.restart();
            disk
        }

        fn below(&mut self, n: u64) -> u64 {
            self.rng.next_u64() % n
        }

        fn write(&mut self, at: usize, bytes: &[u8]) {
            self.written.resize(self.written.len().max(at + bytes.len()), 0);
            self.written[at..at + bytes.len()].copy_from_slice(bytes);
        }

        fn sync(&mut self) {
            self.synced = self.written.clone();
        }

        /// Starts to overwrite the file.
        fn restart(&mut self) {
            self.salts = self.rng.next_u64().to_be_bytes();
            let mut header = Vec::new();
            for word in [0x377f_0682, 3_007_000, PAGE as u32, 0] {
                header.extend(u32::to_be_bytes(word));
            }
            header.extend(self.salts);
            self.sum = Words::Little.sum([0, 0], &header);
            header.extend(self.sum.iter().flat_map(|word| word.to_be_bytes()));
            self.write(0, &header);
            self.sync();
            self.frames = 0;
        }

        /// Writes a transaction of some pages, finished or not, without waiting for the disk.
        fn transaction(&mut self, pages: usize, finished: bool) {
            for n in 1..=pages {
                let commit = if n == pages && finished { 40 } else { 0 };
                let mut frame = Vec::new();
                frame.extend(u32::to_be_bytes(1 + self.rng.next_u32() % 40));
                frame.extend(u32::to_be_bytes(commit));
                let page: Vec<u8> = (0..PAGE).map(|_| self.rng.next_u32() as u8).collect();
                let sum = Words::Little.sum(Words::Little.sum(self.sum, &frame), &page);
                frame.extend(self.salts);
                frame.extend(sum.iter().flat_map(|word| word.to_be_bytes()));
                frame.extend(page);
                self.write(HEADER + (self.frames + n - 1) * FRAME, &frame);
                self.sum = sum;
            }
        }

        fn commit(&mut self, pages: usize) {
            self.transaction(pages, true);
            self.sync();
            self.frames += pages;
        }

        /// The power fails: each sector that was not synced keeps its old contents or gets the new
        /// ones.
        fn lose_power(&mut self) {
            let mut left = self.synced.clone();
            if self.below(2) == 0 {
                left.resize(self.written.len(), 0);
            }
            let sector = SECTOR as usize;
            for at in (0..left.len()).step_by(sector) {
                let end = (at + sector).min(left.len());
                if self.below(2) == 0 {
                    left[at..end].copy_from_slice(&self.written[at..end]);
                }
            }
            self.written = left;
            self.sync();
        }

        /// SQLite opens the file again.
        fn recover(&mut self) {
            let found = examine(&*self.written).unwrap();
            assert_eq!(found.fault, None, "{found:?}");
            assert!(found.committed >= self.frames as u64, "{found:?}");
            self.frames = found.committed as usize;
            let last = HEADER + self.frames * FRAME;
            self.sum = match self.frames {
                0 => stored_sum(&self.written[24..]),
                _ => stored_sum(&self.written[last - FRAME + 16..]),
            };
        }
    }

    /// Transactions of all sizes, killed or cut off by a power loss at any moment, on a file that
    /// is overwritten again and again: the remains are never taken for damage.
    #[test]
    fn the_remains_of_a_crash_are_not_damage() {
        for seed in 0..400 {
            let mut disk = Disk::new(seed);
            for _ in 0..30 {
                let pages = 1 + disk.below(6) as usize;
                match disk.below(10) {
                    0 => disk.restart(),
                    1 => disk.transaction(pages, false),
                    2 | 3 => {
                        let finished = disk.below(2) == 0;
                        disk.transaction(pages, finished);
                        disk.lose_power();
                    }
                    _ => disk.commit(pages),
                }
                disk.recover();
            }
        }
    }

    /// A flipped bit anywhere in a transaction with at least two more after it: wherever the flip
    /// is, one commit after it is still valid.
    #[test]
    fn any_flipped_bit_before_the_last_two_transactions_is_damage() {
        for seed in 0..100 {
            let mut disk = Disk::new(seed);
            // The remains of an earlier use of the file.
            (0..3).for_each(|_| disk.commit(12));
            disk.restart();
            let mut ends = Vec::new();
            for _ in 0..5 {
                let pages = 1 + disk.below(5) as usize;
                disk.commit(pages);
                ends.push(disk.frames);
            }
            let sound = examine(&*disk.written).unwrap();
            assert_eq!((sound.fault, sound.committed), (None, disk.frames as u64));
            let upto = HEADER + ends[2] * FRAME;
            for _ in 0..50 {
                let bit = disk.below(upto as u64 * 8) as usize;
                let mut flipped = disk.written.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                let found = examine(&*flipped).unwrap();
                match found.fault {
                    Some(WalFault::Header) => assert!(bit / 8 < HEADER),
                    Some(WalFault::Frame { number, .. }) => {
                        assert_eq!(number as usize, (bit / 8 - HEADER) / FRAME + 1);
                        assert!(found.committed < number);
                    }
                    None => panic!("seed {seed}, bit {bit}: {found:?}"),
                }
            }
        }
    }

    #[test]
    fn a_truncated_file_is_read_up_to_its_last_commit() {
        let mut disk = Disk::new(1);
        [3, 1, 4].iter().for_each(|pages| disk.commit(*pages));
        for length in 0..disk.written.len() {
            let found = examine(&disk.written[..length]).unwrap();
            let frames = length.saturating_sub(HEADER) / FRAME;
            let committed = [0, 0, 0, 3, 4, 4, 4, 4, 8][frames];
            assert_eq!((found.frames, found.committed), (frames as u64, committed), "{length}");
            assert_eq!(found.fault, None, "{length}");
        }
    }

    #[test]
    fn allocated_but_unwritten_space_is_not_a_damaged_header() {
        assert_eq!(examine(&[0; 100_000][..]).unwrap().fault, None);
        assert_eq!(examine(&[7; 100_000][..]).unwrap().fault, Some(WalFault::Header));
        assert_eq!(examine(&[7; 300][..]).unwrap().fault, None, "too short for a frame");
    }
}
