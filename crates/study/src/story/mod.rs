//! The whole story of a part of a run, such as a participant: the facts about it, in order, each
//! with the exchanges that it came from: call path, prompt hash, and the places of question, answer
//! and decision in the log.
//!
//! An experiment turns its facts into [`Chapter`]s; [`tell`] finds their exchanges, and [`text`]
//! formats them.

mod show;

use std::collections::BTreeSet;

use serde::Serialize;

use retold::id::{CallPath, PromptHash, Sample, Seq};
use retold::run::{OutputError, RunRecord};

pub use show::indent;
pub use show::text;

/// The statements of a fact.
#[derive(Debug)]
pub struct Chapter {
    /// A short description.
    pub what: String,
    /// The details.
    pub lines: Vec<StoryStatement>,
}

/// A statement, and the call that it came from.
#[derive(Debug)]
pub struct StoryStatement {
    label: String,
    text: String,
    call: Option<String>,
    used: bool,
    optional: bool,
}

impl StoryStatement {
    /// A statement that comes from no call.
    pub fn plain(label: &str, text: impl Into<String>) -> StoryStatement {
        let (label, text) = (label.to_owned(), text.into());
        StoryStatement { label, text, call: None, used: true, optional: false }
    }

    /// A statement from the last answer of a call.
    pub fn new(label: &str, text: impl Into<String>, call: String) -> StoryStatement {
        StoryStatement { call: Some(call), ..StoryStatement::plain(label, text) }
    }

    /// A call whose answers are not mentioned otherwise.
    pub fn unused(label: &str, text: String, call: String) -> StoryStatement {
        StoryStatement { used: false, ..StoryStatement::new(label, text, call) }
    }

    /// The same, but left out if the call was never asked.
    #[must_use]
    pub fn if_asked(self) -> StoryStatement {
        StoryStatement { optional: true, ..self }
    }
}

/// A part of the story.
#[derive(Debug, Serialize)]
pub struct StoryPart {
    what: String,
    /// The place of the fact; `None` for questions that no fact mentions.
    #[serde(skip_serializing_if = "Option::is_none")]
    fact: Option<Seq>,
    lines: Vec<StoryLine>,
}

/// A statement, and the exchanges that it came from.
#[derive(Debug, Serialize)]
struct StoryLine {
    label: String,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exchanges: Vec<StoryExchange>,
}

/// A question, and the data recorded about it.
#[derive(Debug, Serialize)]
struct StoryExchange {
    call: CallPath,
    sample: Sample,
    prompt_hash: PromptHash,
    question: Seq,
    /// `None` if the call ran out of retries, or the run stopped before the answer arrived.
    answer: Option<Seq>,
    decision: Option<Seq>,
    /// The answer, if it is not mentioned otherwise: it was not usable, or had no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Why the call ran out of retries, if that is not mentioned otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<String>,
}

/// The error for a run without a part, such as `participant p_0099`; names the parts it has.
pub fn no_part(
    record: &RunRecord<'_>,
    part: String,
    parts: impl IntoIterator<Item = String>,
) -> OutputError {
    OutputError::NoPart { run: record.run, part, parts: parts.into_iter().collect() }
}

/// Whether a name is a prefix and a number.
pub fn is_numbered(name: &str, prefix: &str) -> bool {
    let number = name.strip_prefix(prefix);
    number.is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()))
}

/// Finds the exchanges of the chapters, each with the place of its fact, and then the questions
/// `about` the part that no fact mentions.
///
/// # Errors
/// [`OutputError`] if the record cannot be read.
pub fn tell(
    record: &mut RunRecord<'_>,
    chapters: Vec<(Seq, Chapter)>,
    about: &dyn Fn(&CallPath) -> bool,
) -> Result<Vec<StoryPart>, OutputError> {
    let mut told = Vec::new();
    let mut mentioned = BTreeSet::new();
    for (seq, chapter) in chapters {
        let mut lines = Vec::new();
        for line in chapter.lines {
            let asked = exchanges(record, &line)?;
            mentioned.extend(asked.iter().map(|asked| asked.call.clone()));
            // An optional turn that was not asked for.
            if line.optional && asked.is_empty() {
                continue;
            }
            lines.push(StoryLine { label: line.label, text: line.text, exchanges: asked });
        }
        told.push(StoryPart { what: chapter.what, fact: Some(seq), lines });
    }
    told.extend(unmentioned_calls(record, about, &mentioned)?);
    Ok(told)
}

/// The exchanges that a line came from: all samples of its call.
fn exchanges(
    record: &mut RunRecord<'_>,
    line: &StoryStatement,
) -> Result<Vec<StoryExchange>, OutputError> {
    // An invalid call has no exchanges.
    let Some(call) = line.call.as_ref().and_then(|call| CallPath::new(call).ok()) else {
        return Ok(Vec::new());
    };
    let found = record.samples(&call)?;
    let last = found.last_key_value().map(|(sample, _)| *sample);
    let mut asked = Vec::new();
    for (sample, exchange) in found {
        // Only the last sample can have been used: no more are asked for after it.
        let used = line.used && Some(sample) == last;
        let text = if used {
            None
        } else {
            record.answer(&call, sample)?.map(|answer| answer.text().to_owned())
        };
        let failure = record.failure(&call, sample)?.filter(|reason| *reason != line.text);
        asked.push(StoryExchange {
            call: call.clone(),
            sample,
            prompt_hash: exchange.prompt,
            question: exchange.request,
            answer: exchange.answer,
            decision: exchange.decision,
            text,
            failure,
        });
    }
    Ok(asked)
}

/// The calls about a part that no fact mentions: turns of a dialogue that was cut short, or of a
/// run that is not finished.
fn unmentioned_calls(
    record: &mut RunRecord<'_>,
    about: &dyn Fn(&CallPath) -> bool,
    mentioned: &BTreeSet<CallPath>,
) -> Result<Option<StoryPart>, OutputError> {
    let calls = record.calls(&|call| about(call) && !mentioned.contains(call))?;
    let mut lines = Vec::new();
    for call in calls {
        let line = StoryStatement::unused("asked", String::new(), call.to_string());
        lines.push(StoryLine {
            label: line.label.clone(),
            text: call.to_string(),
            exchanges: exchanges(record, &line)?,
        });
    }
    let what = "questions without a fact".to_owned();
    Ok((!lines.is_empty()).then_some(StoryPart { what, fact: None, lines }))
}
