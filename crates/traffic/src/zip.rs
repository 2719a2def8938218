//! Reads zip archives as far as Inspect AI writes them: stored, deflated or zstd, and within limits. Values of an entry that
//! are in two places are taken from the directory at the end; where that was cut off, from the header before the entry.

use std::io::Read;

/// The most entries.
const MOST_ENTRIES: usize = 200_000;

/// The most bytes of all entries that are read: as many for each byte of the archive, beyond the first, and altogether.
const MOST_RATIO: u64 = 500;
const FREE_BYTES: u64 = 64 << 20;
const MOST_BYTES: u64 = 512 << 20;

/// What an archive of so many bytes may unpack to.
fn most(bytes: usize) -> u64 {
    FREE_BYTES.saturating_add(MOST_RATIO.saturating_mul(bytes as u64)).min(MOST_BYTES)
}

/// The longest that the directory's end may be away from the end of the file: a comment.
const COMMENT: usize = 1 << 16;

/// Why an archive is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ZipError {
    #[error("it is not a zip archive, or it is cut off")]
    NotOne,
    #[error("it has more than {MOST_ENTRIES} entries")]
    TooMany,
    #[error("the entry {0:?} is outside the file, or its place is damaged")]
    Place(String),
    #[error("the entry {name:?} is packed with method {method}, which is not known here")]
    Method { name: String, method: u16 },
    #[error("the entry {0:?} is damaged: its checksum does not match")]
    Sum(String),
    #[error(
        "its samples unpack to {} MiB, and the most that is read of an archive of this size is {} MiB",
        .samples >> 20,
        .most >> 20
    )]
    TooLong { samples: u64, most: u64 },
    #[error("the entry {name:?} cannot be unpacked: {source}")]
    Broken { name: String, source: std::io::Error },
}

/// An entry of an archive.
#[derive(Debug, Clone)]
pub(crate) struct ZipEntry {
    pub(crate) name: String,
    method: u16,
    packed: usize,
    unpacked: u64,
    sum: u64,
    header: usize,
}

/// An archive in memory.
pub(crate) struct ZipArchive<'a> {
    bytes: &'a [u8],
    pub(crate) entries: Vec<ZipEntry>,
    /// Whether its end is missing.
    pub(crate) is_cut: bool,
    /// How many bytes may still be unpacked.
    left: u64,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(N)?)?;
    Some(bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}

fn place<const N: usize>(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(number::<N>(bytes, at)?).ok()
}

impl<'a> ZipArchive<'a> {
    /// Reads the directory of an archive.
    ///
    /// # Errors
    /// [`ZipError`].
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, ZipError> {
        let (count, mut at) = directory(bytes).ok_or(ZipError::NotOne)?;
        if count > MOST_ENTRIES {
            return Err(ZipError::TooMany);
        }
        let mut entries = Vec::new();
        for _ in 0..count {
            let (entry, next) = entry(bytes, at).ok_or(ZipError::NotOne)?;
            entries.push(entry);
            at = next;
        }
        Ok(ZipArchive { bytes, entries, is_cut: false, left: most(bytes.len()) })
    }

    /// The entries at the beginning of an archive without its end, as far as they are whole.
    ///
    /// # Errors
    /// [`ZipError::NotOne`] if there are none.
    pub(crate) fn cut_off(bytes: &'a [u8]) -> Result<Self, ZipError> {
        let (mut entries, mut at) = (Vec::new(), 0);
        while let Some((entry, next)) = local(bytes, at) {
            if entries.len() == MOST_ENTRIES {
                return Err(ZipError::TooMany);
            }
            entries.push(entry);
            at = next;
        }
        match entries.is_empty() {
            true => Err(ZipError::NotOne),
            false => Ok(ZipArchive { bytes, entries, is_cut: true, left: most(bytes.len()) }),
        }
    }

    /// Checks, before any of them is unpacked, that entries are not too much.
    ///
    /// # Errors
    /// [`ZipError::TooLong`].
    pub(crate) fn fits<'e>(
        &self,
        entries: impl Iterator<Item = &'e ZipEntry>,
    ) -> Result<(), ZipError> {
        let sum = entries.fold(0_u64, |sum, entry| sum.saturating_add(entry.unpacked));
        let most = most(self.bytes.len());
        if sum > self.left { Err(ZipError::TooLong { samples: sum, most }) } else { Ok(()) }
    }

    /// The bytes of an entry.
    ///
    /// # Errors
    /// [`ZipError`].
    pub(crate) fn read(&mut self, entry: &ZipEntry) -> Result<Vec<u8>, ZipError> {
        let ZipEntry { name, method, packed, unpacked, sum, header } = entry;
        let bytes = self.bytes;
        let data = || {
            if number::<4>(bytes, *header)? != 0x0403_4B50 {
                return None;
            }
            let (name, extra) = (place::<2>(bytes, header + 26)?, place::<2>(bytes, header + 28)?);
            let begin = header.checked_add(30)?.checked_add(name)?.checked_add(extra)?;
            bytes.get(begin..begin.checked_add(*packed)?)
        };
        let data = data().ok_or_else(|| ZipError::Place(name.clone()))?;
        let most = most(bytes.len());
        let too_long = |more: u64| ZipError::TooLong { samples: most.saturating_add(more), most };
        if *unpacked > self.left {
            return Err(too_long(*unpacked - self.left));
        }
        let broken = |source| ZipError::Broken { name: name.clone(), source };
        let reader: Box<dyn Read> = match method {
            0 => Box::new(data),
            8 => Box::new(flate2::read::DeflateDecoder::new(data)),
            93 => Box::new(zstd::Decoder::new(data).map_err(broken)?),
            other => return Err(ZipError::Method { name: name.clone(), method: *other }),
        };
        // The length in the directory is not trusted.
        let mut out = Vec::new();
        reader.take(self.left + 1).read_to_end(&mut out).map_err(broken)?;
        self.left = self.left.checked_sub(out.len() as u64).ok_or_else(|| too_long(1))?;
        let mut found = flate2::Crc::new();
        found.update(&out);
        if u64::from(found.sum()) != *sum {
            return Err(ZipError::Sum(name.clone()));
        }
        Ok(out)
    }
}

/// How many entries there are, and where the directory begins.
fn directory(bytes: &[u8]) -> Option<(usize, usize)> {
    let from = bytes.len().saturating_sub(22 + COMMENT);
    let end = from + memchr::memmem::rfind(&bytes[from..], b"PK\x05\x06")?;
    let (count, begin) = (place::<2>(bytes, end + 10)?, place::<4>(bytes, end + 16)?);
    if count < 0xFFFF && begin < 0xFFFF_FFFF {
        return Some((count, begin));
    }
    // The form for large archives.
    let locator = end.checked_sub(20)?;
    if number::<4>(bytes, locator)? != 0x0706_4B50 {
        return None;
    }
    let end = place::<8>(bytes, locator + 8)?;
    if number::<4>(bytes, end)? != 0x0606_4B50 {
        return None;
    }
    Some((place::<8>(bytes, end.checked_add(32)?)?, place::<8>(bytes, end.checked_add(48)?)?))
}

/// The entry whose header is here, and where it ends; `None` if it is not whole. A header that was written
/// before the length was known has none, and zip archives that are written to a file, as these are, have
/// no such headers.
fn local(bytes: &[u8], at: usize) -> Option<(ZipEntry, usize)> {
    if number::<4>(bytes, at)? != 0x0403_4B50 {
        return None;
    }
    let (name, extra) = (place::<2>(bytes, at + 26)?, place::<2>(bytes, at + 28)?);
    let begin = at + 30;
    let text = String::from_utf8_lossy(bytes.get(begin..begin + name)?).into_owned();
    let (mut unpacked, mut packed) = (number::<4>(bytes, at + 22)?, number::<4>(bytes, at + 18)?);
    large(bytes, begin + name, extra, &mut [&mut unpacked, &mut packed])?;
    let packed = usize::try_from(packed).ok()?;
    let end = (begin + name + extra).checked_add(packed).filter(|end| *end <= bytes.len())?;
    let method = u16::try_from(number::<2>(bytes, at + 8)?).ok()?;
    let sum = number::<4>(bytes, at + 14)?;
    Some((ZipEntry { name: text, method, packed, unpacked, sum, header: at }, end))
}

/// Numbers that do not fit in 32 bits, which are among the extra fields.
fn large(bytes: &[u8], at: usize, length: usize, numbers: &mut [&mut u64]) -> Option<()> {
    let (mut field, end) = (at, at.checked_add(length)?);
    while field + 4 <= end {
        let (kind, length) = (number::<2>(bytes, field)?, place::<2>(bytes, field + 2)?);
        if kind == 1 {
            let mut value = field + 4;
            for place in &mut *numbers {
                if **place == 0xFFFF_FFFF {
                    **place = number::<8>(bytes, value)?;
                    value += 8;
                }
            }
        }
        field += 4 + length;
    }
    Some(())
}

/// An entry of the directory, and where the next one begins.
fn entry(bytes: &[u8], at: usize) -> Option<(ZipEntry, usize)> {
    if number::<4>(bytes, at)? != 0x0201_4B50 {
        return None;
    }
    let method = u16::try_from(number::<2>(bytes, at + 10)?).ok()?;
    let (name, extra, comment) =
        (place::<2>(bytes, at + 28)?, place::<2>(bytes, at + 30)?, place::<2>(bytes, at + 32)?);
    let begin = at + 46;
    let text = String::from_utf8_lossy(bytes.get(begin..begin + name)?).into_owned();
    let (mut unpacked, mut packed, mut header) =
        (number::<4>(bytes, at + 24)?, number::<4>(bytes, at + 20)?, number::<4>(bytes, at + 42)?);
    large(bytes, begin + name, extra, &mut [&mut unpacked, &mut packed, &mut header])?;
    let end = begin + name + extra;
    let entry = ZipEntry {
        name: text,
        method,
        packed: usize::try_from(packed).ok()?,
        unpacked,
        sum: number::<4>(bytes, at + 16)?,
        header: usize::try_from(header).ok()?,
    };
    Some((entry, end.checked_add(comment)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An archive with one entry.
    fn archive(method: u16, packed: &[u8], plain: &[u8]) -> Vec<u8> {
        let mut sum = flate2::Crc::new();
        sum.update(plain);
        let (sum, unpacked) = (sum.sum().to_le_bytes(), u32::try_from(plain.len()).unwrap());
        let length = u32::try_from(packed.len()).unwrap().to_le_bytes();
        let fields = |begin: &[u8]| {
            let unpacked = unpacked.to_le_bytes();
            [begin, &method.to_le_bytes(), &[0; 4], &sum, &length, &unpacked, &[1, 0, 0, 0]]
                .concat()
        };
        let local = [fields(b"PK\x03\x04\x14\0\0\0"), b"a".to_vec(), packed.to_vec()].concat();
        let central =
            [fields(b"PK\x01\x02\x14\0\x14\0\0\0"), vec![0; 2 + 2 + 2 + 4 + 4], b"a".to_vec()]
                .concat();
        let (size, at) = (central.len() as u32, local.len() as u32);
        let end = [
            &b"PK\x05\x06\0\0\0\0\x01\0\x01\0"[..],
            &size.to_le_bytes(),
            &at.to_le_bytes(),
            &[0, 0],
        ]
        .concat();
        [local, central, end].concat()
    }

    fn read(bytes: &[u8]) -> Result<Vec<u8>, ZipError> {
        let mut archive = ZipArchive::new(bytes)?;
        let entry = archive.entries.first().cloned().ok_or(ZipError::NotOne)?;
        archive.read(&entry)
    }

    #[test]
    fn entries_are_unpacked_and_lies_are_noticed() {
        assert_eq!(read(&archive(0, b"hello", b"hello")).unwrap(), b"hello");
        let zstd = zstd::encode_all(&b"hello"[..], 3).unwrap();
        assert_eq!(read(&archive(93, &zstd, b"hello")).unwrap(), b"hello");
        assert!(matches!(read(&archive(12, b"x", b"x")), Err(ZipError::Method { method: 12, .. })));
        assert!(matches!(read(&archive(93, b"xx", b"x")), Err(ZipError::Broken { .. })));
        assert!(matches!(read(&archive(0, b"hellO", b"hello")), Err(ZipError::Sum(_))));
        assert!(matches!(read(b"PK\x03\x04 and no more"), Err(ZipError::NotOne)));
    }

    #[test]
    fn what_is_whole_of_a_cut_archive_is_read() {
        let whole = archive(0, b"hello", b"hello");
        let first = 30 + "a".len() + "hello".len();
        let twice = [&whole[..first], &whole[..first - 2]].concat();
        let mut cut = ZipArchive::cut_off(&twice).unwrap();
        assert!(cut.is_cut && cut.entries.len() == 1);
        let entry = cut.entries[0].clone();
        assert_eq!(cut.read(&entry).unwrap(), b"hello");
        assert!(matches!(ZipArchive::cut_off(&whole[..first - 1]), Err(ZipError::NotOne)));
    }

    #[test]
    fn too_much_is_refused_before_it_is_unpacked() {
        let whole = archive(0, b"hello", b"hello");
        let archive = ZipArchive::new(&whole).unwrap();
        let mut entry = archive.entries[0].clone();
        assert!(archive.fits(std::iter::once(&entry)).is_ok());
        entry.unpacked = MOST_BYTES;
        let error = archive.fits([&entry, &entry].into_iter()).unwrap_err().to_string();
        assert_eq!(
            error,
            "its samples unpack to 1024 MiB, and the most that is read of an archive of this size is 64 MiB"
        );
        assert_eq!(most(1 << 30), MOST_BYTES);
    }

    proptest! {
        #[test]
        fn no_bytes_are_read_beyond_their_end(cut in 0usize..200, flip in 0usize..200, to in any::<u8>()) {
            let zstd = zstd::encode_all(&b"hello hello hello"[..], 3).unwrap();
            let mut bytes = archive(93, &zstd, b"hello hello hello");
            let at = flip % bytes.len();
            bytes[at] = to;
            bytes.truncate(bytes.len().saturating_sub(cut % 40));
            let _ = read(&bytes);
            let _ = ZipArchive::cut_off(&bytes);
        }
    }
}
