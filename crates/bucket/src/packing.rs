//! How lines are packed, and how much they may unpack to. A few bytes of a stranger's object may stand for gigabytes, so the
//! unpacked size of all objects is bounded by their packed size; and ours have enough bytes for that with any lines.

use std::io::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering};

/// The first bytes of a frame that decompressors skip (RFC 8878, section 3.1.2).
pub(crate) const SKIPPED: [u8; 4] = [0x5E, 0x2A, 0x4D, 0x18];

/// How strongly lines are compressed: the library's own default, which packs faster than a network sends.
const LEVEL: i32 = 3;

/// How many times longer than its bytes an object's lines may be.
const MOST_RATIO: u64 = 100;

/// What all objects may unpack to in any case.
const FREE_BYTES: u64 = 64 << 20;

/// Lines, compressed. Where these are too much alike for the bound of a reader, zeros follow in a frame of their own.
pub(crate) fn pack(text: &str) -> Result<Vec<u8>> {
    let mut bytes = zstd::bulk::compress(text.as_bytes(), LEVEL)?;
    let least = text.len() / MOST_RATIO as usize;
    if bytes.len() < least {
        let zeros = least - bytes.len();
        bytes.extend_from_slice(&SKIPPED);
        bytes.extend_from_slice(&u32::try_from(zeros).map_err(Error::other)?.to_le_bytes());
        bytes.resize(bytes.len() + zeros, 0);
    }
    Ok(bytes)
}

/// The bytes that the objects of a log have, packed and unpacked, since it was opened.
#[derive(Debug, Default)]
pub(crate) struct UnpackBudget {
    packed: AtomicU64,
    unpacked: AtomicU64,
}

/// More than objects may unpack to.
#[derive(Debug, thiserror::Error)]
#[error(
    "with it, what was read of the log unpacks to more than {} MiB and more than {MOST_RATIO} times its size, which retold does \
     not write",
    FREE_BYTES >> 20
)]
pub(crate) struct OverUnpacked;

impl UnpackBudget {
    /// How many bytes an object of so many may unpack to, which it has not yet.
    pub(crate) fn room(&self, packed: usize) -> u64 {
        let packed = self.packed.fetch_add(packed as u64, Ordering::Relaxed) + packed as u64;
        let most = FREE_BYTES.saturating_add(packed.saturating_mul(MOST_RATIO));
        most.saturating_sub(self.unpacked.load(Ordering::Relaxed))
    }

    /// Notes that an object has unpacked to so many bytes, or will.
    ///
    /// # Errors
    /// [`OverUnpacked`] if that is more than there is room for.
    pub(crate) fn spend(&self, bytes: u64, room: u64) -> std::result::Result<(), OverUnpacked> {
        if bytes > room {
            return Err(OverUnpacked);
        }
        self.unpacked.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_packed_here_can_be_unpacked() {
        let budget = UnpackBudget::default();
        for n in 0..20 {
            let text = "the same line\n".repeat(1 << 20);
            let bytes = pack(&text).unwrap();
            assert_eq!(zstd::decode_all(&*bytes).unwrap(), text.as_bytes());
            let room = budget.room(bytes.len());
            assert!(budget.spend(text.len() as u64, room).is_ok(), "{n}");
        }
        assert_eq!(pack("x").unwrap(), zstd::bulk::compress(b"x", LEVEL).unwrap());
    }

    #[test]
    fn small_objects_unpack_to_a_bound_together() {
        let budget = UnpackBudget::default();
        let fits = |bytes: u64| budget.spend(bytes, budget.room(1000)).is_ok();
        assert!(fits(FREE_BYTES));
        assert!(fits(100 * 1000) && !fits(2 * 100 * 1000 + 1));
        assert!(fits(3 * 100 * 1000), "what was refused is not unpacked");
    }
}
