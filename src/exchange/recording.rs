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

use serde::Deserialize;
use serde_json::Value;

use super::error::ImportError;
use super::line_reader::{LineProblem, LineReader};
use crate::id::{EventHash, RunId, Seq};
use crate::jsonl::{JsonlProblem, JsonlReader};
use crate::log::{FORMAT, Fault, Finding, Head, LogError, Scratch, SharedBackend};

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
        lines: LineReader::new(header.run, Head::START),
        scratch: Scratch::new(header.run),
        run: header.run,
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
        let wrong = match reading.lines.read(&line) {
            Ok(None) => continue,
            Ok(Some(event)) => {
                reading.scratch.add(event)?;
                continue;
            }
            Err(LineProblem::Chain(seq)) => {
                ImportError::BrokenChain { path: name, line: number, seq }
            }
            Err(LineProblem::Line(fault)) => ImportError::Line { path: name, line: number, fault },
            Err(LineProblem::Temporary(error)) => {
                return Err(LogError::failure("a temporary file", error).into());
            }
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

/// A recording of which a part was read.
struct RecordingReader {
    run: RunId,
    lines: LineReader,
    scratch: Scratch,
}

impl RecordingReader {
    fn finish(self) -> Result<Recording, ImportError> {
        let (run, head) = (self.run, self.scratch.head());
        Ok(Recording { run, log: self.scratch.finish()?, head })
    }
}
