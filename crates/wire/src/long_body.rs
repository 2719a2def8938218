//! Bodies that are too long for one event: they are kept in parts, each an event of its own, so that whatever copies, proves or
//! stores events holds them, too.

use bytes::Bytes;
use data_encoding::BASE64;
use retold::content::Content;
use retold::event::{BodyPart, BodySide, Event};
use retold::id::{RunId, Seq};
use retold::log::{LogError, Reader, each_event_at};
use retold::run::{Recorder, RecorderError};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The field of `http` that it stands in.
pub(crate) const LONG: &str = "long";

/// How many bytes of a body a part has at most.
const PART: usize = 8 << 20;

/// A body that is kept in parts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongBody {
    /// The BLAKE3 hash of the body, in hex.
    pub blake3: String,
    /// Its length.
    pub bytes: u64,
    /// The seqs of its parts, in their order.
    pub parts: Vec<Seq>,
}

impl LongBody {
    /// Records the parts of an answer.
    ///
    /// # Errors
    /// [`RecorderError`].
    pub(crate) fn record(
        recorder: &mut Recorder,
        request: Seq,
        body: &[u8],
    ) -> Result<Self, RecorderError> {
        let parts = record_parts(recorder, request, BodySide::Answer, body)?;
        Ok(LongBody { blake3: digest(body), bytes: body.len() as u64, parts })
    }

    /// The body; `None` if a part is missing or is not one.
    ///
    /// # Errors
    /// [`LogError`].
    pub(crate) fn read(
        &self,
        reader: &mut dyn Reader,
        run: RunId,
    ) -> Result<Option<Bytes>, LogError> {
        let (mut body, mut is_whole) = (Vec::new(), true);
        each_event_at::<LogError>(reader, run, &self.parts, |stored| {
            let Event::BodyPart(part) = stored.event().map_err(LogError::from)? else {
                is_whole = false;
                return Ok(());
            };
            let text = part.content.text();
            match (part.base64, BASE64.decode(text.as_bytes())) {
                (false, _) => body.extend_from_slice(text.as_bytes()),
                (true, Ok(bytes)) => body.extend_from_slice(&bytes),
                (true, Err(_)) => is_whole = false,
            }
            Ok(())
        })?;
        is_whole &= body.len() as u64 == self.bytes && digest(&body) == self.blake3;
        Ok(is_whole.then(|| body.into()))
    }
}

/// Records the parts of a body, which become durable with the next event that is.
///
/// # Errors
/// [`RecorderError`].
pub(crate) fn record_parts(
    recorder: &mut Recorder,
    request: Seq,
    of: BodySide,
    body: &[u8],
) -> Result<Vec<Seq>, RecorderError> {
    let parts = parts(body);
    let mut record =
        |(content, base64)| recorder.record_part(BodyPart { request, of, content, base64 });
    parts.into_iter().map(&mut record).collect()
}

/// The body of a long request, in the words of its prompt.
pub(crate) fn in_prompt(body: &[u8]) -> Value {
    json!({"blake3": digest(body), "bytes": body.len()})
}

fn digest(body: &[u8]) -> String {
    blake3::hash(body).to_hex().to_string()
}

/// The parts of a body, and whether each is in base64.
fn parts(body: &[u8]) -> Vec<(Content, bool)> {
    let Ok(mut text) = std::str::from_utf8(body) else {
        return body.chunks(PART).map(|part| (BASE64.encode(part).into(), true)).collect();
    };
    let mut parts = Vec::new();
    while !text.is_empty() {
        let (part, rest) = text.split_at(text.floor_char_boundary(PART));
        parts.push((part.into(), false));
        text = rest;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_as_long_as_they_may_be_and_cut_no_character() {
        let text = "\u{20ac}".repeat(PART);
        let parts = parts(text.as_bytes());
        assert_eq!(parts.len(), 4);
        let whole: String = parts.iter().map(|(part, _)| part.text()).collect();
        assert!(
            whole == text
                && parts.iter().all(|(part, base64)| !base64 && part.text().len() <= PART)
        );
        let bytes = vec![0xff; PART + 1];
        let lengths: Vec<_> =
            super::parts(&bytes).iter().map(|(part, _)| part.text().len()).collect();
        assert_eq!(lengths, [PART.div_ceil(3) * 4, 4]);
    }
}
