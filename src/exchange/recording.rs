//! The recording format: one run as JSON Lines.
//!
//! ```text
//! {"events":7,"format":1,"head":"<hash>","recording":"retold","run":"<id>"}
//! {"content":"<hash>","text":"..."}                a text, before its first use
//! {"content":"<hash>","vector":"<base64>"}         a vector: little-endian 32-bit floats
//! {"prompt":"<hash>","request":{..}}               a request; "text:<hash>" stands for a text
//! {"base":"<hash>","prompt":"<hash>","request":{..},"shared":4}
//!                                                  one that begins with the first four messages
//!                                                  of an earlier request, and has only the others
//! {"body":{..},"call":"..",..,"hash":"<hash>"}     an event
//! ```
//!
//! Without its `hash`, an event line is byte for byte the canonical event that was hashed (see
//! [`chain`](crate::event::chain)). The head in the first line is the hash of the last event, so
//! that a truncated file can be distinguished from a run that was cut off. Everything precedes its
//! first use, so a recording can be read as a stream, and two recordings of one run are the same
//! bytes.

use std::borrow::Cow;
use std::sync::Arc;

use data_encoding::BASE64;
use serde::Deserialize;
use serde_json::Value;

use super::error::ImportError;
use super::requests::RequestCache;
use super::stash::Stash;
use crate::content::Content;
use crate::event::{EventLine, NewEvent};
use crate::explain::explain;
use crate::id::{ContentHash, EventHash, PromptHash, RunId, Seq};
use crate::jsonl::{JsonlProblem, JsonlReader};
use crate::log::lists::{Base, StoredPart, whole};
use crate::log::{FORMAT, Fault, Finding, Head, LogError, Scratch, SharedBackend, expand};
use crate::prompt::{Request, RequestError, canonical};

/// A run read from a file, with every hash checked.
pub struct Recording {
    /// The run.
    pub run: RunId,
    /// Its events, in a log that is deleted together with it.
    pub log: SharedBackend,
    /// Its head.
    pub head: Head,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordingHeader {
    events: u64,
    format: Value,
    head: EventHash,
    recording: String,
    run: RunId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContentLine {
    content: ContentHash,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    vector: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestLine {
    #[serde(default)]
    base: Option<PromptHash>,
    prompt: PromptHash,
    request: Value,
    #[serde(default)]
    shared: Option<usize>,
}

/// Whether a file begins like a recording, also if its first line is missing or damaged. Errors in that
/// line are reported when it is read.
pub fn is_recording(lines: &mut JsonlReader) -> bool {
    lines.peek().is_some_and(|line| match line {
        Ok((_, line)) => {
            let value = serde_json::from_str::<Value>(line);
            is_of_recording(line) || value.is_ok_and(|value| value.get("recording").is_some())
        }
        // A file that was cut off or damaged before the end of its first line: exchanges are seldom packed.
        Err(error) => {
            matches!(error.problem, JsonlProblem::Truncated | JsonlProblem::Spoilt { .. })
        }
    })
}

/// Whether a line is one of our recordings.
fn is_of_recording(line: &str) -> bool {
    let Ok(line) = serde_json::from_str::<Value>(line) else {
        // The first line, cut off or changed.
        return line.starts_with("{\"events\":") || line.contains("\"recording\":\"retold\"");
    };
    let has = |keys: &[&str]| keys.iter().all(|key| line.get(key).is_some());
    line["recording"] == "retold"
        || has(&["content", "text"])
        || has(&["content", "vector"])
        || has(&["prompt", "request"])
        || has(&["hash", "kind", "run", "seq"])
}

/// Reads a recording and checks every link of its chain.
///
/// # Errors
/// [`ImportError`] for the first invalid line.
pub fn read_recording(lines: JsonlReader) -> Result<Recording, ImportError> {
    let (reading, wrong) = read(lines)?;
    wrong.map_or_else(|| reading.finish(), Err)
}

/// Reads a recording as far as it is as it was written, and says which event is the first that is not.
///
/// # Errors
/// [`ImportError`] if not even the first event can be read.
pub fn read_recording_to_damage(
    lines: JsonlReader,
) -> Result<(Recording, Option<Finding>), ImportError> {
    let (reading, wrong) = read(lines)?;
    let (run, last) = (reading.run, reading.scratch.head().seq);
    let Some(wrong) = wrong else { return Ok((reading.finish()?, None)) };
    if last == Seq(0) {
        return Err(wrong);
    }
    let seq = match wrong {
        // The other history may be another from its beginning.
        ImportError::OtherHead { .. } => Seq(1),
        _ => last.next(),
    };
    let fault = Fault::Recording { why: wrong.to_string() };
    Ok((reading.finish()?, Some(Finding::of_event(run, seq, fault))))
}

/// Reads up to the first line that is not as it was written.
fn read(mut lines: JsonlReader) -> Result<(RecordingReader, Option<ImportError>), ImportError> {
    let name = lines.path().display().to_string();
    let first = lines.next().transpose()?.map_or_else(String::new, |(_, line)| line);
    let header = serde_json::from_str::<RecordingHeader>(&first).ok();
    let Some(header) = header.filter(|h| h.recording == "retold") else {
        return Err(match is_of_recording(&first) {
            true => ImportError::NoFirstLine { path: name },
            false => ImportError::NotARecording { path: name },
        });
    };
    if header.format != FORMAT {
        let found = header.format.as_str().map_or(header.format.to_string(), str::to_owned);
        return Err(ImportError::NewerFormat { path: name, found, supported: FORMAT });
    }
    let mut reading = RecordingReader {
        run: header.run,
        scratch: Scratch::new(header.run),
        contents: Stash::default(),
        requests: Stash::default(),
        known: RequestCache::default(),
    };
    for line in lines {
        let (number, line) = match line {
            Ok(line) => line,
            // The disk is at fault, not the file.
            Err(error) if matches!(error.problem, JsonlProblem::Read(_)) => {
                return Err(error.into());
            }
            Err(error) => return Ok((reading, Some(error.into()))),
        };
        let wrong = match reading.add(&line) {
            Ok(()) => continue,
            Err(RecordingProblem::Chain(seq)) => {
                ImportError::BrokenChain { path: name, line: number, seq }
            }
            Err(RecordingProblem::Line(what)) => {
                ImportError::Line { path: name, line: number, what }
            }
            Err(RecordingProblem::Log(error)) => return Err(error.into()),
        };
        return Ok((reading, Some(wrong)));
    }
    let head = reading.scratch.head();
    let found = head.seq.0;
    let due = header.events;
    let wrong = match (found, head.hash == header.head) {
        _ if due > found => Some(ImportError::CutOff { path: name, due, found }),
        (0, _) => Some(ImportError::Empty { path: name }),
        (_, is_head) if due < found || !is_head => {
            Some(ImportError::OtherHead { path: name, due, found })
        }
        _ => None,
    };
    Ok((reading, wrong))
}

enum RecordingProblem {
    Line(String),
    Chain(Seq),
    Log(LogError),
}

impl From<LogError> for RecordingProblem {
    fn from(error: LogError) -> Self {
        RecordingProblem::Log(error)
    }
}

impl From<RequestError> for RecordingProblem {
    fn from(error: RequestError) -> Self {
        RecordingProblem::Line(error.to_string())
    }
}

/// The temporary file cannot be used.
impl From<std::io::Error> for RecordingProblem {
    fn from(error: std::io::Error) -> Self {
        RecordingProblem::Log(LogError::failed("a temporary file", error))
    }
}

/// Kinds of stashed bytes.
const TEXT: u8 = 0;
const VECTOR: u8 = 1;
const UPON_BASE: u8 = 2;

struct RecordingReader {
    run: RunId,
    scratch: Scratch,
    contents: Stash,
    /// Requests as canonical JSON, as given.
    requests: Stash,
    known: RequestCache,
}

impl RecordingReader {
    fn finish(self) -> Result<Recording, ImportError> {
        let (run, head) = (self.run, self.scratch.head());
        Ok(Recording { run, log: self.scratch.finish()?, head })
    }

    fn add(&mut self, line: &str) -> Result<(), RecordingProblem> {
        let wrong = |what: String| RecordingProblem::Line(what);
        let value: Value = serde_json::from_str(line).map_err(|e| {
            let text = e.to_string();
            let reason = text.rsplit_once(" at line ").map_or(text.as_str(), |(reason, _)| reason);
            wrong(format!("not JSON at column {}: {}", e.column(), explain(reason)))
        })?;
        let is = |key: &str| value.get(key).is_some();
        if is("kind") {
            let event =
                EventLine::deserialize(value).map_err(|e| wrong(explain(&e.to_string())))?;
            return self.event(event);
        }
        if is("request") {
            let request =
                RequestLine::deserialize(value).map_err(|e| wrong(explain(&e.to_string())))?;
            return self.request(request);
        }
        let content =
            ContentLine::deserialize(value).map_err(|e| wrong(explain(&e.to_string())))?;
        self.content(content)
    }

    fn content(&mut self, line: ContentLine) -> Result<(), RecordingProblem> {
        let content = match (line.text, line.vector) {
            (Some(text), None) => Some(Content::from(text)),
            (None, Some(vector)) => {
                BASE64.decode(vector.as_bytes()).ok().and_then(|b| Content::vector_from_bytes(&b))
            }
            _ => None,
        };
        let content = content.filter(|c| c.hash() == line.content).ok_or_else(|| {
            RecordingProblem::Line(format!("the content does not have the hash {}", line.content))
        })?;
        let kind = if matches!(content, Content::Text(_)) { TEXT } else { VECTOR };
        Ok(self.contents.put(line.content.as_bytes(), kind, &content.bytes())?)
    }

    fn request(&mut self, line: RequestLine) -> Result<(), RecordingProblem> {
        let contents = &mut self.contents;
        let mut text = |id: &str| {
            let hash: ContentHash = id.parse().ok()?;
            match content_of(contents, hash).ok()?? {
                Content::Text(text) => Some(text.to_string()),
                Content::Vector(_) => Some(String::new()),
            }
        };
        let skeleton =
            canonical(&line.request).map_err(|e| RecordingProblem::Line(e.to_string()))?;
        let request = expand(&skeleton, &mut text)?;
        let base = match (line.base, line.shared) {
            (None, None) => None,
            (Some(of), Some(messages)) => Some(Base { of, messages }),
            _ => {
                return Err(RecordingProblem::Line(
                    "\"base\" and \"shared\" belong together".to_owned(),
                ));
            }
        };
        let part = StoredPart { request, base };
        let request = self.whole(&part)?;
        if request.hash() != line.prompt {
            let what = format!("the request does not have the hash {}", line.prompt);
            return Err(RecordingProblem::Line(what));
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
    ) -> Result<(), RecordingProblem> {
        let canonical = part.request.canonical().as_bytes();
        match part.base {
            None => self.requests.put(prompt.as_bytes(), TEXT, canonical)?,
            Some(Base { of, messages }) => {
                let messages = (messages as u64).to_le_bytes();
                let bytes = [of.as_bytes().as_slice(), &messages, canonical].concat();
                self.requests.put(prompt.as_bytes(), UPON_BASE, &bytes)?;
            }
        }
        Ok(())
    }

    /// A request as given.
    fn part(
        &mut self,
        prompt: PromptHash,
    ) -> Result<Option<StoredPart<PromptHash>>, RecordingProblem> {
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
        Ok(Some(StoredPart {
            request: request.map_err(|e| RecordingProblem::Line(e.to_string()))?,
            base,
        }))
    }

    /// The whole of a request as given.
    fn whole(&mut self, part: &StoredPart<PromptHash>) -> Result<Request, RecordingProblem> {
        // Most dialogues continue from a request that occurred a short time ago.
        if let Some(Base { of, messages }) = part.base
            && let Some(base) = self.known.get(of)
        {
            return Ok(part.request.after(&[(&base, messages)])?);
        }
        whole(part, &mut |of| {
            let missing = || {
                RecordingProblem::Line(format!("request {of} has not been given before this line"))
            };
            Ok(Arc::new(self.part(of)?.ok_or_else(missing)?))
        })
    }

    /// A request that was given earlier.
    fn request_of(&mut self, prompt: PromptHash) -> Result<Option<Request>, RecordingProblem> {
        if let Some(request) = self.known.get(prompt) {
            return Ok(Some(request));
        }
        let Some(part) = self.part(prompt)? else { return Ok(None) };
        let request = self.whole(&part)?;
        self.known.put(&request);
        Ok(Some(request))
    }

    fn event(&mut self, line: EventLine) -> Result<(), RecordingProblem> {
        let wrong = |what: String| RecordingProblem::Line(what);
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
            return Err(wrong(format!("it is an event of another run, {run}")));
        }
        let due = self.scratch.head().seq.next();
        if seq != due {
            return Err(wrong(format!("seq {seq} where seq {due} is expected")));
        }
        let content = match content.or(vector) {
            None => None,
            Some(hash) => Some(content_of(&mut self.contents, hash)?.ok_or_else(|| {
                wrong(format!("content {hash} has not been given before this line"))
            })?),
        };
        let prompt = match prompt {
            None => None,
            Some(hash) => Some(self.request_of(hash)?.ok_or_else(|| {
                wrong(format!("request {hash} has not been given before this line"))
            })?),
        };
        let body = canonical(&body).map_err(|e| wrong(e.to_string()))?;
        let (kind, body) = (Cow::Owned(kind), Cow::Owned(body));
        let event = NewEvent { kind, version, time, call, sample, prompt, cause, content, body };
        let event = self.scratch.link(event);
        if event.head().hash != hash {
            return Err(RecordingProblem::Chain(seq));
        }
        Ok(self.scratch.add(event)?)
    }
}

/// A content that was given earlier.
fn content_of(contents: &mut Stash, hash: ContentHash) -> std::io::Result<Option<Content>> {
    let Some((kind, bytes)) = contents.get(hash.as_bytes())? else { return Ok(None) };
    Ok(match kind {
        VECTOR => Content::vector_from_bytes(&bytes),
        _ => String::from_utf8(bytes).ok().map(Content::from),
    })
}
