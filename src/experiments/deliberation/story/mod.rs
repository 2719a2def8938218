//! A participant's whole story: what the facts say of them, in order, each with the exchanges it came
//! of: call path, prompt hash, and the places of question, answer and decision in the log.

mod chapters;
mod show;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;

use self::chapters::{Line, chapter};
use super::experiment::Deliberation;
use super::facts::Fact;
use super::state::Deliberated;
use crate::id::{CallPath, PromptHash, Sample, Seq};
use crate::run::{OutputError, Report, RunRecord};

/// A part of the story.
#[derive(Debug, Serialize)]
struct Told {
    what: String,
    /// The place of the fact that says so; none for questions that no fact tells of.
    #[serde(skip_serializing_if = "Option::is_none")]
    fact: Option<Seq>,
    lines: Vec<ToldLine>,
}

/// Something said, and the exchanges it came of.
#[derive(Debug, Serialize)]
struct ToldLine {
    label: String,
    text: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exchanges: Vec<Asked>,
}

/// A question and what is recorded of it.
#[derive(Debug, Serialize)]
struct Asked {
    call: CallPath,
    sample: Sample,
    prompt_hash: PromptHash,
    question: Seq,
    /// None if the call finally failed, or the run stopped before the answer came.
    answer: Option<Seq>,
    decision: Option<Seq>,
    /// The answer, where it is not told otherwise: it could not be used, or nothing came of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

impl Deliberation {
    /// The story of a participant; `None` if there is none of that name.
    pub(super) fn story_of(
        &self,
        state: &Deliberated,
        participant_id: &str,
        record: &mut RunRecord<'_>,
    ) -> Result<Option<Report>, OutputError> {
        let Some(participant) = state.participants.get(participant_id) else {
            return nobody(state, participant_id, record).map_or(Ok(None), Err);
        };
        let mut chapters = Vec::new();
        let mut so_far = chapters::SoFar::new(participant, &self.config.topic.options);
        for (number, (fact, place)) in record.facts.iter().zip(&record.places).enumerate() {
            let fact = Fact::deserialize(fact)
                .map_err(|e| OutputError::Fact { number, reason: e.to_string() })?;
            if let Some(found) = chapter(&mut so_far, fact) {
                chapters.push((place.seq, found));
            }
        }
        let mut told = Vec::new();
        let mut mentioned = BTreeSet::new();
        for (seq, chapter) in chapters {
            let mut lines = Vec::new();
            for line in chapter.lines {
                let asked = asked(record, &line)?;
                mentioned.extend(asked.iter().map(|asked| asked.call.clone()));
                // A turn that may have been asked for, and was not.
                if line.optional && asked.is_empty() {
                    continue;
                }
                lines.push(ToldLine { label: line.label, text: line.text, exchanges: asked });
            }
            told.push(Told { what: chapter.what, fact: Some(seq), lines });
        }
        told.extend(untold(record, participant_id, &mentioned)?);
        let json = json!({
            "participant_id": participant_id,
            "condition": participant.condition,
            "status": participant.status,
            "error_message": participant.error_message,
            "story": told,
        });
        Ok(Some(Report { json, text: show::text(participant, &told), ..Report::default() }))
    }
}

/// The error that a run has no such participant, if that is what the name is of.
fn nobody(state: &Deliberated, name: &str, record: &RunRecord<'_>) -> Option<OutputError> {
    let number = name.strip_prefix("p_")?;
    if !number.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let mut ids = state.participants.keys();
    let there = match (ids.next(), ids.next_back()) {
        (None, _) => "nobody takes part in it yet".to_owned(),
        (Some(only), None) => format!("it has {only} alone"),
        (Some(first), Some(last)) => {
            format!("it has {}, {first} to {last}", state.participants.len())
        }
    };
    let what = format!("participant {name}");
    Some(OutputError::NoPart { run: record.run, what, there })
}

/// The exchanges that a line came of: all samples of its call.
fn asked(record: &mut RunRecord<'_>, line: &Line) -> Result<Vec<Asked>, OutputError> {
    // A call that is none has no exchanges.
    let Some(call) = line.call.as_ref().and_then(|call| CallPath::new(call).ok()) else {
        return Ok(Vec::new());
    };
    let range = (call.clone(), Sample::MIN)..=(call.clone(), Sample::MAX);
    let found: Vec<_> = record.exchanges()?.range(range).map(|((_, n), e)| (*n, *e)).collect();
    let last = found.last().map(|(sample, _)| *sample);
    let mut asked = Vec::new();
    for (sample, exchange) in found {
        // Only the last sample can have been used: no more are asked for after it.
        let used = line.used && Some(sample) == last;
        let text = match used {
            true => None,
            false => record.answer(&call, sample)?.map(|answer| answer.text().to_owned()),
        };
        asked.push(Asked {
            call: call.clone(),
            sample,
            prompt_hash: exchange.prompt,
            question: exchange.request,
            answer: exchange.answer,
            decision: exchange.decision,
            text,
        });
    }
    Ok(asked)
}

/// The calls about a participant that no fact tells of: turns of a dialogue that broke off, or of a run
/// that is not at its end.
fn untold(
    record: &mut RunRecord<'_>,
    participant_id: &str,
    mentioned: &BTreeSet<CallPath>,
) -> Result<Option<Told>, OutputError> {
    let about = |call: &CallPath| call.as_str().split('/').any(|part| part == participant_id);
    let calls: BTreeSet<CallPath> = record
        .exchanges()?
        .keys()
        .map(|(call, _)| call)
        .filter(|call| about(call) && !mentioned.contains(*call))
        .cloned()
        .collect();
    let mut lines = Vec::new();
    for call in calls {
        let line = Line::unused("asked", String::new(), call.to_string());
        lines.push(ToldLine {
            label: line.label.clone(),
            text: call.to_string(),
            exchanges: asked(record, &line)?,
        });
    }
    let what = "questions that no fact tells of".to_owned();
    Ok((!lines.is_empty()).then_some(Told { what, fact: None, lines }))
}
