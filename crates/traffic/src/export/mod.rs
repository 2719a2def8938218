//! From the exchanges of a run to cassettes of ours and to files of other tools, one file per format.

mod block_yaml;
mod cassette;
mod fine_tuning;
mod otlp;
mod vcrpy;
mod yaml;

use std::collections::BTreeMap;

use retold::event::{
    AnswerReused, AttemptDetails, Event, Labels, RequestSent, ResponseDetails, ResponseReceived,
};
use retold::exchange::ExportedExchanges;
use retold::id::{CallPath, PromptHash, RunId, Sample, Seq};
use retold::log::{EventFault, LogError, Reader, RunEvents};
use retold::model::{Content, HTTP};
use retold::prompt::Request;
use retold_wire::Transmission;

pub use cassette::export_cassette;
pub(crate) use cassette::{CASSETTE, HASH_DIGITS};
pub use fine_tuning::export_fine_tuning;
pub use otlp::export_otlp;
pub use vcrpy::{VcrpyForm, export_vcrpy};

use crate::notes::Notes;

/// Why a run cannot be exported.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The log cannot be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The redacted parts can be matched with a key alone, which a cassette does not have.
    #[error(
        "run {run} was recorded with --redact, and a cassette cannot hold the key that matches its requests"
    )]
    Redacted {
        /// The run.
        run: RunId,
    },
    /// Nothing in the run can be represented.
    #[error("run {run} has no exchange that {format} can hold")]
    Nothing {
        /// The run.
        run: RunId,
        /// The format.
        format: &'static str,
    },
    /// It is not known where requests went.
    #[error("it is not known where the requests of the upstream {0} went")]
    NoUrl(String),
    /// A URL that the user gave.
    #[error("--upstream {name}: {wrong}")]
    Url {
        /// The upstream.
        name: String,
        /// The problem.
        wrong: crate::error::FileProblem,
    },
    /// A body that is not UTF-8.
    #[error("seq {0} has a body that is not UTF-8, which a cassette in JSON cannot hold")]
    NotUtf8(Seq),
}

/// How a question was answered, at an event.
struct QuestionOutcome {
    seq: Seq,
    question: Seq,
    call: CallPath,
    sample: Sample,
    prompt: PromptHash,
    labels: Labels,
    outcome: ExportedOutcome,
}

enum ExportedOutcome {
    Answer(Content, Box<ResponseDetails>),
    Failed(AttemptDetails),
}

impl ExportedOutcome {
    /// How it travelled, and its body; `None`, which is noted, if it was not recorded over HTTP, or is too long for a file.
    fn transmission(&self, place: &str, notes: &mut Notes) -> Option<(Transmission, Vec<u8>)> {
        let (kept, content) = match self {
            ExportedOutcome::Answer(content, details) => (details.extra.get(HTTP), Some(content)),
            ExportedOutcome::Failed(details) => (details.http.as_ref(), None),
        };
        let kept = kept.and_then(Transmission::read);
        if kept.as_ref().is_some_and(|kept| kept.long.is_some()) {
            notes.add("an answer of more than 16 MiB, which only the log has", place);
            return None;
        }
        let found = kept.and_then(|kept| kept.bytes(content).map(|body| (kept, body.to_vec())));
        if found.is_none() {
            notes.add("an exchange that was not recorded over HTTP", place);
        }
        found
    }

    /// Whether it is a failed attempt without any answer.
    fn is_unanswered(&self) -> bool {
        matches!(self, ExportedOutcome::Failed(details) if details.status.is_none())
    }
}

/// Calls `take` with each answer and failed attempt of a run, in order, and notes what no file has that is
/// written of these.
fn each<E: From<LogError>>(
    reader: &mut dyn Reader,
    run: RunId,
    notes: &mut Notes,
    mut take: impl FnMut(&mut dyn Reader, QuestionOutcome, &mut Notes) -> Result<(), E>,
) -> Result<(), E> {
    let mut questions: BTreeMap<Seq, RequestSent> = BTreeMap::new();
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader)? {
        let seq = stored.seq;
        let event = stored.event().map_err(LogError::from)?;
        let (request, outcome) = match event {
            Event::RequestSent(sent) => {
                questions.insert(seq, sent);
                continue;
            }
            Event::ResponseReceived(ResponseReceived { request, content, details })
            | Event::AnswerReused(AnswerReused { request, content, details, .. }) => {
                (request, ExportedOutcome::Answer(content, Box::new(details)))
            }
            Event::AttemptFailed(failed) => {
                (failed.request, ExportedOutcome::Failed(failed.details))
            }
            Event::DecisionMade(_) => {
                notes.count(DECISION, 1);
                continue;
            }
            Event::Occurred(_) => {
                notes.count(FACT, 1);
                continue;
            }
            _ => continue,
        };
        let Some(sent) = questions.get(&request).cloned() else { continue };
        let RequestSent { call, sample, prompt, labels, because: _ } = sent;
        let question = request;
        take(
            reader,
            QuestionOutcome { seq, question, call, sample, prompt, labels, outcome },
            notes,
        )?;
    }
    Ok(())
}

/// Notes on the parts of a run that are not in a file of its exchanges.
pub fn left_out(exported: ExportedExchanges) -> Notes {
    let ExportedExchanges { written: _, failed_attempts, decisions, facts } = exported;
    let mut notes = Notes::default();
    notes.count("failed attempt", failed_attempts);
    notes.count(DECISION, decisions);
    notes.count(FACT, facts);
    notes
}

/// What one decision is called.
const DECISION: &str = "decision";

/// What one fact is called.
const FACT: &str = "fact";

/// A stored request, which every question has.
fn request(
    reader: &mut dyn Reader,
    run: RunId,
    seq: Seq,
    prompt: PromptHash,
) -> Result<Request, LogError> {
    reader
        .request(prompt)?
        .ok_or_else(|| LogError::corrupt(run, seq, EventFault::NoRequest { prompt }))
}
