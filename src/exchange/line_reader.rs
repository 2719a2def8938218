//! The lines of a recording after its first: contents, requests, and the events that refer to them.

use std::borrow::Cow;
use std::sync::Arc;

use data_encoding::BASE64;

use super::line_fault::LineFault;
use super::recorded_line::{ContentLine, RecordedLine, RequestLine};
use super::requests::RequestCache;
use super::stash::Stash;
use crate::content::Content;
use crate::event::chain::{Head, LinkedEvent};
use crate::event::{EventLine, NewEvent};
use crate::id::{ContentHash, PromptHash, RunId, Seq};
use crate::log::expand;
use crate::log::lists::{Base, StoredPart, whole};
use crate::prompt::{Request, RequestError, canonical};

/// A problem with a line of a recording.
#[derive(Debug, thiserror::Error)]
pub enum LineProblem {
    /// It is not one of the three kinds of lines, or refers to something that was not given before.
    #[error(transparent)]
    Line(#[from] LineFault),
    /// The hash of the event does not follow from the line and the event before it.
    #[error("the hash of seq {0} does not match")]
    Chain(Seq),
    /// The temporary file, in which long recordings keep what later lines may refer to, cannot be used.
    #[error("a temporary file cannot be used: {0}")]
    Temporary(#[from] std::io::Error),
}

impl From<RequestError> for LineProblem {
    fn from(error: RequestError) -> Self {
        LineProblem::Line(error.into())
    }
}

/// Kinds of stashed requests.
const WHOLE: u8 = 0;
const UPON_BASE: u8 = 1;

/// Reads such lines, and checks every hash and every link of the chain.
pub struct LineReader {
    run: RunId,
    head: Head,
    /// A text and a vector of the same bytes have the same hash.
    texts: Stash,
    vectors: Stash,
    /// Requests as canonical JSON, as given.
    requests: Stash,
    known: RequestCache,
}

impl LineReader {
    /// Reads lines whose first event follows `after`.
    pub fn new(run: RunId, after: Head) -> Self {
        LineReader {
            run,
            head: after,
            texts: Stash::default(),
            vectors: Stash::default(),
            requests: Stash::default(),
            known: RequestCache::default(),
        }
    }

    /// The last event that was read.
    pub fn head(&self) -> Head {
        self.head
    }

    /// Reads one line; returns the event if it is one.
    ///
    /// # Errors
    /// [`LineProblem`]; nothing can be read after it.
    pub fn read(&mut self, line: &str) -> Result<Option<LinkedEvent>, LineProblem> {
        match RecordedLine::parse(line)? {
            RecordedLine::Content(content) => self.content(content).map(|()| None),
            RecordedLine::Event(event) => self.event(*event).map(Some),
            RecordedLine::Request(request) => self.request(request).map(|()| None),
        }
    }

    fn content(&mut self, line: ContentLine) -> Result<(), LineProblem> {
        let content = match (line.text, line.vector) {
            (Some(text), None) => Some(Content::from(text)),
            (None, Some(vector)) => {
                BASE64.decode(vector.as_bytes()).ok().and_then(|b| Content::vector_from_bytes(&b))
            }
            _ => None,
        };
        let content = content
            .filter(|c| c.hash() == line.content)
            .ok_or(LineFault::ContentHash(line.content))?;
        let contents = match content {
            Content::Text(_) => &mut self.texts,
            Content::Vector(_) => &mut self.vectors,
        };
        Ok(contents.put(line.content.as_bytes(), WHOLE, &content.bytes())?)
    }

    fn request(&mut self, line: RequestLine) -> Result<(), LineProblem> {
        let texts = &mut self.texts;
        let mut text = |id: &str| {
            let hash: ContentHash = id.parse().ok()?;
            Some(text_of(texts, hash).ok()??.text().to_owned())
        };
        let skeleton = line.skeleton().map_err(LineFault::from)?;
        let request = expand(&skeleton, &mut text)?;
        let base = match (line.base, line.shared) {
            (None, None) => None,
            (Some(of), Some(messages)) => Some(Base { of, messages }),
            _ => {
                return Err(LineFault::HalfABase.into());
            }
        };
        let part = StoredPart { request, base };
        let request = self.whole(&part)?;
        if request.hash() != line.prompt {
            return Err(LineFault::RequestHash(line.prompt).into());
        }
        self.stash(line.prompt, &part)?;
        self.known.put(&request);
        Ok(())
    }

    /// Keeps a request as given.
    fn stash(
        &mut self,
        prompt: PromptHash,
        part: &StoredPart<PromptHash>,
    ) -> Result<(), LineProblem> {
        let canonical = part.request.canonical().as_bytes();
        match part.base {
            None => self.requests.put(prompt.as_bytes(), WHOLE, canonical)?,
            Some(Base { of, messages }) => {
                let messages = (messages as u64).to_le_bytes();
                let bytes = [of.as_bytes().as_slice(), &messages, canonical].concat();
                self.requests.put(prompt.as_bytes(), UPON_BASE, &bytes)?;
            }
        }
        Ok(())
    }

    /// A request as given.
    fn part(&mut self, prompt: PromptHash) -> Result<Option<StoredPart<PromptHash>>, LineProblem> {
        let Some((kind, bytes)) = self.requests.get(prompt.as_bytes())? else { return Ok(None) };
        let upon = bytes.split_first_chunk::<32>().filter(|_| kind == UPON_BASE);
        let upon = upon.and_then(|(of, rest)| Some((of, rest.split_first_chunk::<8>()?)));
        let (base, canonical) = match upon {
            None => (None, bytes.as_slice()),
            Some((of, (messages, canonical))) => {
                let messages = u64::from_le_bytes(*messages) as usize;
                (Some(Base { of: PromptHash(*of), messages }), canonical)
            }
        };
        let request = Request::from_canonical(&String::from_utf8_lossy(canonical));
        Ok(Some(StoredPart { request: request.map_err(LineFault::from)?, base }))
    }

    /// The whole of a request as given.
    fn whole(&mut self, part: &StoredPart<PromptHash>) -> Result<Request, LineProblem> {
        // Most dialogues continue from a request that occurred a short time ago.
        if let Some(Base { of, messages }) = part.base
            && let Some(base) = self.known.get(of)
        {
            return Ok(part.request.after(&[(&base, messages)])?);
        }
        whole(part, &mut |of| Ok(Arc::new(self.part(of)?.ok_or(LineFault::NoRequest(of))?)))
    }

    /// A request that was given earlier.
    fn request_of(&mut self, prompt: PromptHash) -> Result<Option<Request>, LineProblem> {
        if let Some(request) = self.known.get(prompt) {
            return Ok(Some(request));
        }
        let Some(part) = self.part(prompt)? else { return Ok(None) };
        let request = self.whole(&part)?;
        self.known.put(&request);
        Ok(Some(request))
    }

    fn event(&mut self, line: EventLine) -> Result<LinkedEvent, LineProblem> {
        let EventLine {
            body,
            call,
            cause,
            content,
            hash,
            kind,
            prompt,
            run,
            sample,
            seq,
            time,
            vector,
            version,
        } = line;
        if run != self.run {
            return Err(LineFault::OtherRun(run).into());
        }
        let due = self.head.seq.next();
        if seq != due {
            return Err(LineFault::OtherSeq { found: seq, due }.into());
        }
        let given = match (content, vector) {
            (None, None) => None,
            (Some(hash), _) => Some((hash, text_of(&mut self.texts, hash)?)),
            (None, Some(hash)) => Some((hash, vector_of(&mut self.vectors, hash)?)),
        };
        let content = match given {
            None => None,
            Some((hash, content)) => Some(content.ok_or(LineFault::NoContent(hash))?),
        };
        let prompt = match prompt {
            None => None,
            Some(hash) => Some(self.request_of(hash)?.ok_or(LineFault::NoRequest(hash))?),
        };
        let body = canonical(&body).map_err(LineFault::from)?;
        let (kind, body) = (Cow::Owned(kind), Cow::Owned(body));
        let event = NewEvent { kind, version, time, call, sample, prompt, cause, content, body };
        let event = LinkedEvent::new(event, self.run, self.head);
        if event.head().hash != hash {
            return Err(LineProblem::Chain(seq));
        }
        self.head = event.head();
        Ok(event)
    }
}

/// A text that was given earlier.
fn text_of(texts: &mut Stash, hash: ContentHash) -> std::io::Result<Option<Content>> {
    let found = texts.get(hash.as_bytes())?;
    Ok(found.and_then(|(_, bytes)| String::from_utf8(bytes).ok()).map(Content::from))
}

/// A vector that was given earlier.
fn vector_of(vectors: &mut Stash, hash: ContentHash) -> std::io::Result<Option<Content>> {
    let found = vectors.get(hash.as_bytes())?;
    Ok(found.and_then(|(_, bytes)| Content::vector_from_bytes(&bytes)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::export::export_recording;
    use super::*;
    use crate::id::Time;
    use crate::log::{Append, Backend, LogError, MemoryBackend};

    const RUN: RunId = RunId([7; 8]);

    /// A run with everything that lines may refer to, as lines.
    fn lines() -> Vec<String> {
        let long = "a text that is long enough for a reference ".repeat(40);
        let dialogue = |turns: usize| {
            let message = |turn| json!({"role": "user", "content": format!("{turn} {long}")});
            let messages: Vec<_> = (0..turns).map(message).collect();
            Some(Request::from_body(json!({"model": "m", "messages": messages})).unwrap())
        };
        let event = |n| NewEvent { body: "{}".into(), ..NewEvent::new("Noted", Time(n)) };
        let events = [
            NewEvent { prompt: dialogue(2), ..event(1) },
            NewEvent { content: Some(Content::from(long.as_str())), ..event(2) },
            NewEvent { prompt: dialogue(4), ..event(3) },
            NewEvent { content: Some(Content::Vector([0.5, 1.0].into())), ..event(4) },
        ];
        let backend = MemoryBackend::new();
        let append = Append::new(RUN, Head::START, events);
        backend.committer().unwrap().commit(&[append]).unwrap();
        let mut lines = Vec::new();
        let mut line = |line: &str| {
            lines.push(line.to_owned());
            Ok::<(), LogError>(())
        };
        export_recording(&mut *backend.reader().unwrap(), RUN, &mut line).unwrap();
        lines.split_off(1)
    }

    fn read(lines: &[String]) -> Result<(), LineProblem> {
        let mut reader = LineReader::new(RUN, Head::START);
        lines.iter().try_for_each(|line| reader.read(line).map(drop))
    }

    /// The places of all digits of hashes in a line.
    fn digits(line: &str) -> Vec<usize> {
        let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let mut found = Vec::new();
        let mut from = 0;
        for word in line.as_bytes().chunk_by(|a, b| is_digit(a) == is_digit(b)) {
            if word.len() == 64 && word.iter().all(is_digit) {
                found.extend(from..from + word.len());
            }
            from += word.len();
        }
        found
    }

    #[test]
    fn every_digit_of_every_hash_counts() {
        let lines = lines();
        read(&lines).unwrap();
        let all = lines.join("\n");
        for key in ["base", "content", "hash", "prompt", "vector"] {
            assert!(all.contains(&format!("\"{key}\":\"")), "no {key} in {all}");
        }
        assert!(all.contains("\"text:"), "{all}");
        for (number, line) in lines.iter().enumerate() {
            for at in digits(line) {
                let mut changed = lines.clone();
                let digit = if line.as_bytes()[at] == b'0' { "1" } else { "0" };
                changed[number].replace_range(at..=at, digit);
                assert!(read(&changed).is_err(), "digit {at} of {line}");
            }
        }
    }
}
