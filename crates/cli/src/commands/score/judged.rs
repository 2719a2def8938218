//! The answers that a judge judges.

use std::collections::{BTreeMap, BTreeSet};

use retold::decide::each_answer;
use retold::decided::{DecisionAbout, decisions_about};
use retold::escaping::printable;
use retold::event::Labels;
use retold::id::{RunId, Sample, Seq};
use retold::log::{EventFault, LogError, Reader};
use retold::prompt::hash_of;
use retold_judge::{JudgeSettings, JudgedAnswer, OtherAnswer};
use retold_study::config::{ModelConfig, ModelKind};
use serde_json::{Map, Value};

use crate::error::CliError;

/// How much of labels is shown.
const SHOWN: usize = 200;

/// The answers that a judge judges.
#[derive(Default)]
pub(super) struct ToJudge {
    pub(super) answers: Vec<JudgedAnswer>,
    /// The number of answers left out because no other answer can be compared with them.
    pub(super) without_other: u64,
}

/// The labels that an answer has in common with the one that it is compared with, and its sample.
type PairKey = (Labels, Sample);

/// The answers of a run that a judge selects, in order.
pub(super) fn answers_to_judge(
    reader: &mut dyn Reader,
    run: RunId,
    settings: &JudgeSettings,
) -> Result<ToJudge, CliError> {
    let mut found = ToJudge::default();
    let mut others: BTreeMap<PairKey, OtherAnswer> = BTreeMap::new();
    let against = &settings.against;
    let is_other = |labels: &Labels| {
        !against.is_empty() && against.iter().all(|(name, value)| labels.get(name) == Some(value))
    };
    each_answer::<CliError>(reader, run, |reader, answer| {
        // Other choices and what is not read have no text of their own.
        let text = answer.whole().text.to_owned();
        if answer.choice.at > 0 || text.is_empty() {
            return Ok(());
        }
        if is_other(&answer.labels) {
            let key = pair_key(answer.labels, answer.sample, against);
            let other = OtherAnswer { seq: answer.seq, text };
            if let Some(one) = others.insert(key.clone(), other) {
                let labels = serde_json::to_string(&key.0).unwrap_or_default();
                return Err(CliError::usage(format!(
                    "seq {} and seq {} could both be the other answer of a pair: both have the labels {} besides those of `against`",
                    one.seq,
                    answer.seq,
                    printable(&labels, SHOWN)
                ))
                .hint("a label that says which answers belong together, such as `item`, makes pairs"));
            }
            return Ok(());
        }
        if !settings.judges(&answer.call, &answer.labels) {
            return Ok(());
        }
        let request = reader.request(answer.prompt)?;
        let fault = EventFault::NoRequest { prompt: answer.prompt };
        let request = request.ok_or_else(|| LogError::corrupt(run, answer.seq, fault))?;
        let question = request.messages().pop().map(|(_, text)| text).unwrap_or_default();
        found.answers.push(JudgedAnswer {
            seq: answer.seq,
            call: answer.call,
            sample: answer.sample,
            labels: answer.labels,
            question,
            text,
            other: None,
        });
        Ok(())
    })?;
    if !against.is_empty() {
        let before = found.answers.len();
        found.answers.retain_mut(|answer| {
            let key = pair_key(answer.labels.clone(), answer.sample, against);
            answer.other = others.get(&key).cloned();
            answer.other.is_some()
        });
        found.without_other = (before - found.answers.len()) as u64;
    }
    found.answers.sort_by_key(|answer| answer.seq);
    Ok(found)
}

/// What both answers of a pair have.
fn pair_key(mut labels: Labels, sample: Sample, against: &Labels) -> PairKey {
    labels.retain(|name, _| !against.contains_key(name));
    (labels, sample)
}

/// The answers of a run about which a person has decided something.
pub(super) fn labelled_answers(
    reader: &mut dyn Reader,
    run: RunId,
) -> Result<BTreeSet<Seq>, CliError> {
    let mut labelled = BTreeSet::new();
    decisions_about(reader, run, |DecisionAbout { answer, joined, .. }| {
        if joined.made.by.person().is_some() {
            labelled.insert(answer);
        }
    })?;
    Ok(labelled)
}

/// Keeps so many of the answers: those whose calls have the least hashes, in order.
pub(super) fn draw(answers: &mut Vec<JudgedAnswer>, sample: u32) {
    answers.sort_by_cached_key(|it| hash_of(format!("{}#{}", it.call, it.sample).as_bytes()));
    answers.truncate(sample as usize);
    answers.sort_by_key(|answer| answer.seq);
}

/// Whether the API of a request's model has structured output.
pub(super) fn has_structured_output(model: &ModelConfig, request: &Map<String, Value>) -> bool {
    let name = request.get("model").and_then(Value::as_str).unwrap_or_default();
    let ModelKind::Server(api) = model.kind else { return false };
    let api = model.endpoints.get(name).map_or(api, |endpoint| endpoint.kind);
    api.access().translation.is_none_or(|translate| translate(request).is_ok())
}
