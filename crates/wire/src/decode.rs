//! Content decoding with a limit: we ask upstreams for plain bytes, and some compress all the same.

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use bytes::Bytes;
use hyper::http::{HeaderMap, header};

use crate::limits::LONGEST_READ;

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

/// The most encodings of one body that are undone: each decoder takes memory.
const MOST_ENCODINGS: usize = 8;

/// How much of a body is kept until something has been decoded.
const LONGEST_BEGINNING: usize = 64 << 10;

/// The encodings in a message's `Content-Encoding`, in the order in which they were applied; there may be several such
/// headers.
pub fn encodings(headers: &HeaderMap) -> String {
    let all = headers.get_all(header::CONTENT_ENCODING).iter();
    all.filter_map(|value| value.to_str().ok()).collect::<Vec<_>>().join(",")
}

/// A whole body without its encodings, which a `Content-Encoding` lists in the order in which they
/// were applied.
///
/// # Errors
/// [`DecodeError`].
pub fn decode(encodings: &str, body: Bytes) -> Result<Bytes, DecodeError> {
    decoded_within(encodings, body, LONGEST_READ)
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
    if encodings.is_empty() {
        return Ok(body);
    }
    let mut decoder = Decoder::new(encodings, limit)?;
    if let Some(unknown) = decoder.left.rsplit(',').next().filter(|it| !it.is_empty()) {
        return Err(DecodeError::Unknown(unknown.trim().chars().take(40).collect()));
    }
    let mut out = decoder.chunk(body)?.to_vec();
    out.extend_from_slice(&decoder.end()?);
    Ok(out.into())
}

/// Decodes a body as it arrives.
pub(crate) struct Decoder {
    /// In the order in which they are undone, which is not that in which they were applied.
    stages: Vec<DecoderStage>,
    /// The encodings that are not undone, because one is not known.
    left: String,
    /// How many bytes may come out.
    limit: usize,
}

/// One encoding that is undone.
struct DecoderStage {
    kind: EncodingKind,
    /// What came before anything was decoded, if it counts as the body should it not be what its label says.
    begun: Option<Vec<u8>>,
}

enum EncodingKind {
    Identity,
    Brotli(Box<DecompressorWriter<BoundedReader>>),
    Gzip(flate2::write::MultiGzDecoder<BoundedReader>),
    Deflate(DeflateKind),
    Zstd(Box<zstd::stream::write::Decoder<'static, BoundedReader>>),
}

/// The `deflate` encoding is in zlib's format (RFC 9110, section 8.4.1.2), but some servers send it without that; browsers
/// read both.
enum DeflateKind {
    /// The bytes so far, before the first two were there.
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
    /// A decoder for the encodings in a `Content-Encoding`, for so many bytes of output.
    ///
    /// # Errors
    /// [`DecodeError::Broken`].
    pub(crate) fn new(encodings: &str, limit: usize) -> Result<Self, DecodeError> {
        let mut names: Vec<&str> = encodings.split(',').map(str::trim).collect();
        let mut stages = Vec::new();
        while let Some(name) = names.last()
            && stages.len() < MOST_ENCODINGS
            && let Some(kind) = EncodingKind::new(name, limit)?
        {
            stages.push(DecoderStage { kind, begun: None });
            names.pop();
        }
        Ok(Decoder { stages, left: names.join(", "), limit })
    }

    /// The same for an answer that is passed on: bytes that are not what their label says are left as they are, unless some
    /// of them have been decoded.
    ///
    /// # Errors
    /// [`DecodeError::Broken`].
    pub(crate) fn tolerant(encodings: &str, limit: usize) -> Result<Self, DecodeError> {
        let mut decoder = Decoder::new(encodings, limit)?;
        decoder.stages.iter_mut().for_each(|stage| stage.begun = Some(Vec::new()));
        Ok(decoder)
    }

    /// The encodings that are not undone; empty if all are.
    pub(crate) fn encodings_left(&self) -> &str {
        &self.left
    }

    /// The bytes that a chunk decodes to so far.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub(crate) fn chunk(&mut self, chunk: Bytes) -> Result<Bytes, DecodeError> {
        let limit = self.limit;
        self.stages.iter_mut().try_fold(chunk, |chunk, stage| stage.chunk(chunk, limit))
    }

    /// The bytes that are left at the end of a body.
    ///
    /// # Errors
    /// [`DecodeError::Broken`] if it has not ended as its encodings say.
    pub(crate) fn end(&mut self) -> Result<Bytes, DecodeError> {
        let limit = self.limit;
        let left = |rest, stage: &mut DecoderStage| {
            let mut out = stage.chunk(rest, limit)?.to_vec();
            out.extend_from_slice(&stage.end(limit)?);
            Ok(Bytes::from(out))
        };
        self.stages.iter_mut().try_fold(Bytes::new(), left)
    }
}

impl DecoderStage {
    fn chunk(&mut self, chunk: Bytes, limit: usize) -> Result<Bytes, DecodeError> {
        if chunk.is_empty() {
            return Ok(chunk);
        }
        if let Some(begun) = &mut self.begun {
            begun.extend_from_slice(&chunk);
        }
        let read = self.kind.chunk(chunk).map_err(|error| DecodeError::of(error, limit));
        self.or_as_it_came(read)
    }

    fn end(&mut self, limit: usize) -> Result<Bytes, DecodeError> {
        let ended = self.kind.end().map(|()| self.kind.rest().into());
        self.or_as_it_came(ended.map_err(|error| DecodeError::of(error, limit)))
    }

    /// The decoded bytes, or all that came if they are not encoded at all.
    fn or_as_it_came(&mut self, read: Result<Bytes, DecodeError>) -> Result<Bytes, DecodeError> {
        match (read, self.begun.take()) {
            (Err(DecodeError::Broken(_)), Some(begun)) => {
                self.kind = EncodingKind::Identity;
                Ok(begun.into())
            }
            (Ok(out), Some(begun)) if out.is_empty() && begun.len() < LONGEST_BEGINNING => {
                self.begun = Some(begun);
                Ok(out)
            }
            (read, _) => read,
        }
    }
}

impl DecodeError {
    fn of(error: io::Error, limit: usize) -> Self {
        match error.kind() {
            io::ErrorKind::FileTooLarge => DecodeError::TooLong(limit),
            _ => DecodeError::Broken(error),
        }
    }
}

impl EncodingKind {
    /// The decoder of an encoding; `None` if it is not known.
    fn new(name: &str, limit: usize) -> Result<Option<Self>, DecodeError> {
        let out = BoundedReader { out: Vec::new(), left: limit };
        Ok(Some(match name.to_ascii_lowercase().as_str() {
            "" | "identity" => EncodingKind::Identity,
            "br" => EncodingKind::Brotli(Box::new(DecompressorWriter::new(out, BUFFER))),
            "gzip" | "x-gzip" => EncodingKind::Gzip(flate2::write::MultiGzDecoder::new(out)),
            "deflate" => EncodingKind::Deflate(DeflateKind::Unknown(Vec::new(), out)),
            "zstd" => {
                let decoder =
                    zstd::stream::write::Decoder::new(out).map_err(DecodeError::Broken)?;
                EncodingKind::Zstd(Box::new(decoder))
            }
            _ => return Ok(None),
        }))
    }

    fn chunk(&mut self, chunk: Bytes) -> io::Result<Bytes> {
        match self {
            EncodingKind::Identity => return Ok(chunk),
            EncodingKind::Brotli(decoder) => {
                decoder.write_all(&chunk).and_then(|()| decoder.flush())?;
            }
            EncodingKind::Gzip(decoder) => {
                decoder.write_all(&chunk).and_then(|()| decoder.flush())?;
            }
            EncodingKind::Deflate(decoder) => decoder.write(&chunk)?,
            EncodingKind::Zstd(decoder) => {
                decoder.write_all(&chunk).and_then(|()| decoder.flush())?;
            }
        }
        Ok(self.rest().into())
    }

    /// Says that the body has ended.
    fn end(&mut self) -> io::Result<()> {
        match self {
            EncodingKind::Identity => Ok(()),
            EncodingKind::Brotli(decoder) => decoder.close(),
            EncodingKind::Gzip(decoder) => decoder.try_finish(),
            EncodingKind::Deflate(decoder) => decoder.end(),
            EncodingKind::Zstd(decoder) => decoder.flush(),
        }
    }

    /// What has come out.
    fn rest(&mut self) -> Vec<u8> {
        let out = match self {
            EncodingKind::Identity => return Vec::new(),
            EncodingKind::Brotli(decoder) => decoder.get_mut(),
            EncodingKind::Gzip(decoder) => decoder.get_mut(),
            EncodingKind::Deflate(decoder) => decoder.out(),
            EncodingKind::Zstd(decoder) => decoder.get_mut(),
        };
        std::mem::take(&mut out.out)
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

    /// As it arrives, in small chunks.
    fn by(mut decoder: Decoder, body: &Bytes) -> Result<Vec<u8>, DecodeError> {
        let mut out = Vec::new();
        for chunk in body.chunks(7) {
            out.extend(decoder.chunk(Bytes::copy_from_slice(chunk))?);
        }
        out.extend(decoder.end()?);
        Ok(out)
    }

    fn decoded(encodings: &str, body: &Bytes, limit: usize) -> Result<Vec<u8>, DecodeError> {
        by(Decoder::new(encodings, limit)?, body)
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
        let twice = Bytes::from(twice);
        assert_eq!(super::decode("gzip, zstd", twice.clone()).unwrap(), text);
        assert_eq!(decoded("gzip , ZSTD", &twice, 10_000).unwrap(), text);
        let thrice = gzip(&zstd::stream::encode_all(BROTLI, 3).unwrap());
        assert_eq!(decoded("br,zstd,identity,gzip", &thrice, 10_000).unwrap(), text);
    }

    /// What cannot be decoded is the body, as far as its encodings were undone.
    #[test]
    fn a_body_that_is_not_what_its_label_says_stays_as_it_is() {
        let text = Bytes::from("data: hello\n\n".repeat(50));
        let tolerant = |encodings: &str, body: &Bytes| {
            let decoder = Decoder::tolerant(encodings, 100_000).unwrap();
            (decoder.encodings_left().to_owned(), by(decoder, body).unwrap())
        };
        let (once, none, nine) = (gzip(&text), Bytes::new(), ["gzip"; 9].join(","));
        for (encodings, body, left, due) in [
            ("gzip", &text, "", &text),
            ("zstd, br", &text, "", &text),
            ("deflate", &text, "", &text),
            // Some proxies say it twice.
            ("gzip, gzip", &once, "", &text),
            ("compress", &text, "compress", &text),
            ("lzma, gzip", &once, "lzma", &text),
            ("gzip, lzma", &once, "gzip, lzma", &once),
            ("gzip", &none, "", &none),
            (&*nine, &once, "gzip", &text),
        ] {
            assert_eq!(tolerant(encodings, body), (left.to_owned(), due.to_vec()), "{encodings}");
        }
        let mut headers = HeaderMap::new();
        headers.append(header::CONTENT_ENCODING, "gzip".parse().unwrap());
        headers.append(header::CONTENT_ENCODING, "zstd, br".parse().unwrap());
        assert_eq!(encodings(&headers), "gzip,zstd, br");
        // What was decoded in part is not the body.
        let long = gzip(&(0..200_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
        let cut = by(Decoder::tolerant("gzip", 1 << 20).unwrap(), &long.slice(..long.len() / 2));
        assert!(matches!(cut, Err(DecodeError::Broken(_))));
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
        let unknown = super::decode("gzip, lzma", nonsense).unwrap_err();
        assert!(matches!(unknown, DecodeError::Unknown(name) if name == "lzma"));
    }
}
