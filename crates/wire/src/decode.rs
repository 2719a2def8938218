//! Content decoding with a limit: we ask upstreams for plain bytes, and some compress all the same.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use bytes::Bytes;

use crate::limits::LONGEST_ANSWER;

/// Why a body cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// An encoding that is not known here.
    #[error(
        "the upstream answered with the content encoding {0:?}, although it was asked for none"
    )]
    Unknown(String),
    /// More than is kept.
    #[error("the answer is longer than {} MiB", .0 >> 20)]
    TooLong(usize),
    /// Not what its encoding claims.
    #[error("the answer's content encoding is broken: {0}")]
    Broken(io::Error),
}

/// The size of a decoder's own buffer.
const BUFFER: usize = 8 << 10;

/// A whole body without its encodings, which a `Content-Encoding` lists in the order in which they
/// were applied.
///
/// # Errors
/// [`DecodeError`].
pub fn decoded(encodings: &str, body: Bytes) -> Result<Bytes, DecodeError> {
    decoded_within(encodings, body, LONGEST_ANSWER)
}

/// The same of a body of this length at most.
///
/// # Errors
/// [`DecodeError`].
pub(crate) fn decoded_within(
    encodings: &str,
    body: Bytes,
    limit: usize,
) -> Result<Bytes, DecodeError> {
    encodings.rsplit(',').try_fold(body, |body, encoding| {
        let mut decoder = Decoder::new(Some(encoding), limit)?;
        let mut out = decoder.chunk(body)?.to_vec();
        decoder.end()?;
        out.extend_from_slice(&decoder.rest());
        Ok(out.into())
    })
}

/// Decodes a body as it arrives.
pub(crate) struct Decoder {
    kind: EncodingKind,
    /// How many bytes may still come out.
    limit: usize,
}

enum EncodingKind {
    Identity,
    Brotli(Box<DecompressorWriter<BoundedReader>>),
    Gzip(flate2::write::MultiGzDecoder<BoundedReader>),
    Deflate(DeflateKind),
    Zstd(Box<zstd::stream::write::Decoder<'static, BoundedReader>>),
}

/// What is called `deflate` is in zlib's format (RFC 9110, section 8.4.1.2), but some servers send it without that; browsers read both.
enum DeflateKind {
    /// What came so far, before its first two bytes were there.
    Unknown(Vec<u8>, BoundedReader),
    Zlib(flate2::write::ZlibDecoder<BoundedReader>),
    Raw(flate2::write::DeflateDecoder<BoundedReader>),
}

impl DeflateKind {
    /// Takes more bytes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let DeflateKind::Unknown(begun, out) = self {
            begun.extend_from_slice(bytes);
            let [first, second, ..] = **begun else { return Ok(()) };
            // The two bytes with which zlib's format begins (RFC 1950, section 2.2).
            let is_zlib =
                first & 0x0f == 8 && u16::from_be_bytes([first, second]).is_multiple_of(31);
            let (begun, left) = (std::mem::take(begun), out.left);
            let out = BoundedReader { out: Vec::new(), left };
            *self = match is_zlib {
                true => DeflateKind::Zlib(flate2::write::ZlibDecoder::new(out)),
                false => DeflateKind::Raw(flate2::write::DeflateDecoder::new(out)),
            };
            return self.write(&begun);
        }
        match self {
            DeflateKind::Unknown(..) => Ok(()),
            DeflateKind::Zlib(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
            DeflateKind::Raw(decoder) => decoder.write_all(bytes).and_then(|()| decoder.flush()),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        match self {
            DeflateKind::Unknown(begun, _) if begun.is_empty() => Ok(()),
            DeflateKind::Unknown(..) => Err(io::ErrorKind::UnexpectedEof.into()),
            DeflateKind::Zlib(decoder) => decoder.try_finish(),
            DeflateKind::Raw(decoder) => decoder.try_finish(),
        }
    }

    fn out(&mut self) -> &mut BoundedReader {
        match self {
            DeflateKind::Unknown(_, out) => out,
            DeflateKind::Zlib(decoder) => decoder.get_mut(),
            DeflateKind::Raw(decoder) => decoder.get_mut(),
        }
    }
}

/// Takes so many bytes and no more: a kilobyte may decode to a megabyte.
struct BoundedReader {
    out: Vec<u8>,
    left: usize,
}

impl Write for BoundedReader {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.left {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.left -= bytes.len();
        self.out.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Decoder {
    /// A decoder for a `Content-Encoding`, for so many bytes of output.
    ///
    /// # Errors
    /// [`DecodeError::Unknown`].
    pub(crate) fn new(encoding: Option<&str>, limit: usize) -> Result<Self, DecodeError> {
        let out = BoundedReader { out: Vec::new(), left: limit };
        let kind = match encoding.map(|name| name.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => EncodingKind::Identity,
            Some("br") => EncodingKind::Brotli(Box::new(DecompressorWriter::new(out, BUFFER))),
            Some("gzip" | "x-gzip") => EncodingKind::Gzip(flate2::write::MultiGzDecoder::new(out)),
            Some("deflate") => EncodingKind::Deflate(DeflateKind::Unknown(Vec::new(), out)),
            Some("zstd") => {
                let decoder =
                    zstd::stream::write::Decoder::new(out).map_err(DecodeError::Broken)?;
                EncodingKind::Zstd(Box::new(decoder))
            }
            Some(other) => return Err(DecodeError::Unknown(other.chars().take(40).collect())),
        };
        Ok(Decoder { kind, limit })
    }

    /// Says that the body has ended.
    ///
    /// # Errors
    /// [`DecodeError::Broken`] if it has not ended as its encoding says.
    pub(crate) fn end(&mut self) -> Result<(), DecodeError> {
        match &mut self.kind {
            EncodingKind::Identity => Ok(()),
            EncodingKind::Brotli(decoder) => decoder.close().map_err(DecodeError::Broken),
            EncodingKind::Gzip(decoder) => decoder.try_finish().map_err(DecodeError::Broken),
            EncodingKind::Deflate(decoder) => decoder.end().map_err(DecodeError::Broken),
            EncodingKind::Zstd(decoder) => decoder.flush().map_err(DecodeError::Broken),
        }
    }

    /// What came out at the end.
    fn rest(&mut self) -> Vec<u8> {
        let out = match &mut self.kind {
            EncodingKind::Identity => return Vec::new(),
            EncodingKind::Brotli(decoder) => decoder.get_mut(),
            EncodingKind::Gzip(decoder) => decoder.get_mut(),
            EncodingKind::Deflate(decoder) => decoder.out(),
            EncodingKind::Zstd(decoder) => decoder.get_mut(),
        };
        std::mem::take(&mut out.out)
    }

    /// What a chunk decodes to so far.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub(crate) fn chunk(&mut self, chunk: Bytes) -> Result<Bytes, DecodeError> {
        let limit = self.limit;
        let failed = |e: io::Error| match e.kind() {
            io::ErrorKind::FileTooLarge => DecodeError::TooLong(limit),
            _ => DecodeError::Broken(e),
        };
        fn taken(out: &mut BoundedReader) -> Bytes {
            Bytes::from(std::mem::take(&mut out.out))
        }
        match &mut self.kind {
            EncodingKind::Identity => Ok(chunk),
            EncodingKind::Brotli(decoder) => {
                decoder.write_all(&chunk).and_then(|()| decoder.flush()).map_err(failed)?;
                Ok(taken(decoder.get_mut()))
            }
            EncodingKind::Gzip(decoder) => {
                decoder.write_all(&chunk).and_then(|()| decoder.flush()).map_err(failed)?;
                Ok(taken(decoder.get_mut()))
            }
            EncodingKind::Deflate(decoder) => {
                decoder.write(&chunk).map_err(failed)?;
                Ok(taken(decoder.out()))
            }
            EncodingKind::Zstd(decoder) => {
                decoder.write_all(&chunk).and_then(|()| decoder.flush()).map_err(failed)?;
                Ok(taken(decoder.get_mut()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `data: hello` fifty times, compressed by Google's library.
    const BROTLI: &[u8] = &[
        27, 137, 2, 248, 29, 9, 118, 108, 202, 186, 184, 232, 179, 4, 33, 67, 107, 5, 29, 54, 58,
        29, 86, 198, 246, 38, 10, 140, 6, 190, 17, 163, 173, 1,
    ];

    fn gzip(bytes: &[u8]) -> Bytes {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    fn decoded(encoding: &str, body: &Bytes, limit: usize) -> Result<Vec<u8>, DecodeError> {
        let mut decoder = Decoder::new(Some(encoding), limit)?;
        let mut out = Vec::new();
        for chunk in body.chunks(7) {
            out.extend(decoder.chunk(Bytes::copy_from_slice(chunk))?);
        }
        decoder.end()?;
        Ok(out)
    }

    #[test]
    fn bodies_are_decoded_as_they_arrive() {
        let text = b"data: hello\n\n".repeat(50);
        assert_eq!(decoded("gzip", &gzip(&text), 10_000).unwrap(), text);
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        zlib.write_all(&text).unwrap();
        assert_eq!(decoded("deflate", &zlib.finish().unwrap().into(), 10_000).unwrap(), text);
        let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        raw.write_all(&text).unwrap();
        assert_eq!(decoded("deflate", &raw.finish().unwrap().into(), 10_000).unwrap(), text);
        let zstd = zstd::stream::encode_all(&text[..], 3).unwrap();
        assert_eq!(decoded("zstd", &zstd.into(), 10_000).unwrap(), text);
        assert_eq!(decoded("identity", &text.clone().into(), 1).unwrap(), text);
        assert_eq!(decoded("br", &Bytes::from_static(BROTLI), 10_000).unwrap(), text);
        let twice = zstd::stream::encode_all(&gzip(&text)[..], 3).unwrap();
        assert_eq!(super::decoded("gzip, zstd", twice.into()).unwrap(), text);
    }

    #[test]
    fn a_bomb_and_nonsense_are_refused() {
        let bomb = gzip(&vec![0; 5 << 20]);
        assert!(bomb.len() < 10_000);
        assert!(matches!(decoded("gzip", &bomb, 1 << 20), Err(DecodeError::TooLong(_))));
        let nonsense = Bytes::from_static(b"this is not compressed at all");
        assert!(matches!(decoded("gzip", &nonsense, 100), Err(DecodeError::Broken(_))));
        let short = Bytes::from_static(b"short");
        assert!(matches!(decoded("gzip", &short, 100), Err(DecodeError::Broken(_))));
        assert!(matches!(decoded("deflate", &nonsense, 100), Err(DecodeError::Broken(_))));
        assert!(matches!(decoded("br", &nonsense, 100), Err(DecodeError::Broken(_))));
        assert!(matches!(decoded("lzma", &nonsense, 100), Err(DecodeError::Unknown(_))));
    }
}
