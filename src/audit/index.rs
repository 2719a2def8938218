//! Which event of a run belongs to which.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::passage::{LONG, Proof};
use crate::event::{Event, EventError, StoredEvent};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq};
use crate::log::{LogError, Reader};
use crate::lookup::LookupMap;

/// Which event belongs to which, of a whole run.
pub(super) struct Index {
    pub(super) run: RunId,
    /// The part of the audited call that says whom or what it is about.
    pub(super) subject: String,
    /// By the seq of the question.
    pub(super) asked: BTreeMap<Seq, (CallPath, Sample, PromptHash)>,
    /// From the answer to its question.
    pub(super) answers: BTreeMap<Seq, Seq>,
    /// From the decision to its answer.
    pub(super) decisions: BTreeMap<Seq, Seq>,
    /// From the answer to its decision.
    pub(super) decided: BTreeMap<Seq, Seq>,
    /// Every text of the run's settings.
    settings: LookupMap<String, ()>,
    /// The long ones, which are templates if anything is.
    templates: Vec<String>,
}

impl Index {
    /// Reads a run; `call` is the audited one.
    pub(super) fn read(
        reader: &mut dyn Reader,
        run: RunId,
        call: &CallPath,
    ) -> Result<Self, LogError> {
        let mut index = Index {
            run,
            subject: String::new(),
            asked: BTreeMap::new(),
            answers: BTreeMap::new(),
            decisions: BTreeMap::new(),
            decided: BTreeMap::new(),
            settings: LookupMap::default(),
            templates: Vec::new(),
        };
        each_event(reader, run, |stored, event| match event {
            Event::RequestSent(r) => {
                index.asked.insert(stored.seq, (r.call, r.sample, r.prompt));
            }
            Event::ResponseReceived(r) => drop(index.answers.insert(stored.seq, r.request)),
            Event::AnswerReused(r) => drop(index.answers.insert(stored.seq, r.request)),
            Event::DecisionMade(made) => {
                index.decisions.insert(stored.seq, made.response);
                index.decided.insert(made.response, stored.seq);
            }
            Event::RunStarted(started) => {
                for text in strings(&started.settings) {
                    index.templates.extend(Some(text.clone()).filter(|text| text.len() >= LONG));
                    index.settings.insert(text, ());
                }
            }
            _ => {}
        })?;
        index.subject = subject(call, index.asked.values().map(|(call, ..)| call.as_str()));
        Ok(index)
    }

    /// How a text has to stand in a prompt to be believed; `None` if it never is. See
    /// [`folded`](super::folded).
    pub(super) fn proof(&self, is_own: bool, text: &str) -> Option<Proof> {
        let is_setting = self.settings.get(text).is_some();
        match (is_own, text.len() >= LONG) {
            (true, true) => Some(Proof::Anywhere),
            (false, true) if !is_setting => Some(Proof::Anywhere),
            (true, false) if self.templates.iter().any(|template| template.contains(text)) => None,
            (true, false) if is_setting => Some(Proof::Quoted),
            (true, false) => Some(Proof::WholeWords),
            (false, _) => None,
        }
    }

    /// Whether the call of an answer has the subject in it.
    pub(super) fn is_own_answer(&self, answer: Seq) -> bool {
        let asked = self.answers.get(&answer).and_then(|request| self.asked.get(request));
        asked.is_some_and(|(call, ..)| call.as_str().split('/').any(|part| part == self.subject))
    }
}

/// The part of a call whose questions differ most from one another: `p_0012` is asked many kinds of
/// question once each, `final_vote` is one kind asked of many. The kind of a call is what is left of it
/// without numbered parts.
fn subject<'a>(call: &CallPath, asked: impl Iterator<Item = &'a str>) -> String {
    let parts: Vec<&str> = call.as_str().split('/').collect();
    let mut of_part: Vec<(BTreeSet<String>, u64)> = vec![Default::default(); parts.len()];
    for asked in asked {
        let is_numbered = |part: &&str| part.bytes().any(|b| b.is_ascii_digit());
        let kind: Vec<&str> = asked.split('/').filter(|part| !is_numbered(part)).collect();
        let kind = kind.join("/");
        for (part, (kinds, questions)) in parts.iter().zip(&mut of_part) {
            if asked.split('/').any(|p| p == *part) {
                *questions += 1;
                if !kinds.contains(&kind) {
                    kinds.insert(kind.clone());
                }
            }
        }
    }
    let share = |(kinds, questions): &(BTreeSet<String>, u64)| {
        kinds.len() as f64 / (*questions).max(1) as f64
    };
    let ranked = parts.iter().zip(&of_part);
    // In a small study a turn's number may differ as much; it is asked fewer kinds of question.
    let best = ranked
        .max_by(|(_, a), (_, b)| share(a).total_cmp(&share(b)).then(a.0.len().cmp(&b.0.len())));
    best.map(|(part, _)| (*part).to_owned()).unwrap_or_default()
}

/// Hands on every event of a run, in order.
pub(super) fn each_event(
    reader: &mut dyn Reader,
    run: RunId,
    mut each: impl FnMut(&StoredEvent, Event),
) -> Result<(), LogError> {
    let mut after = Seq(0);
    loop {
        let events = reader.events(run, after, 4096)?;
        let Some(last) = events.last() else { return Ok(()) };
        after = last.seq;
        for stored in &events {
            each(stored, stored.event().map_err(damaged)?);
        }
    }
}

/// Every text in a value.
pub(super) fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(strings).collect(),
        Value::Object(map) => map.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The error that an event cannot be read.
pub(super) fn damaged(error: EventError) -> LogError {
    LogError::Corrupt { run: error.run, seq: error.seq, what: error.what }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subject_is_who_is_asked_many_kinds_of_question() {
        let people = ["p_0001", "p_0002", "p_0003"];
        let mut asked = Vec::new();
        for id in people {
            asked.push(format!("initial_vote/{id}"));
            asked.push(format!("final_vote/{id}"));
            for n in 1..=5 {
                asked.push(format!("clarification/{id}/{n}/moderator"));
                asked.push(format!("clarification/{id}/{n}/participant"));
            }
        }
        let of =
            |call: &str| subject(&CallPath::new(call).unwrap(), asked.iter().map(String::as_str));
        assert_eq!(of("final_vote/p_0002"), "p_0002");
        assert_eq!(of("clarification/p_0003/2/moderator"), "p_0003");
        let puzzles = ["solve/900", "solve/900", "solve/901"].into_iter();
        assert_eq!(subject(&CallPath::new("solve/900").unwrap(), puzzles), "900");
    }
}
