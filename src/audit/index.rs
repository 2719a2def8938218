//! Which event of a run belongs to which.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::passage::{LONG, Proof};
use crate::event::{Event, EventError, StoredEvent};
use crate::id::{CallPath, PromptHash, RunId, Sample, Seq};
use crate::log::{self, LogError, Reader, TextKeys, each_event_at};
use crate::lookup::LookupMap;

/// Where a question stands, and what it asks.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) seq: Seq,
    pub(super) call: CallPath,
    pub(super) sample: Sample,
    pub(super) prompt: PromptHash,
}

/// Which event belongs to which: looked up when it is asked for, and remembered.
pub(super) struct Index<'a> {
    reader: &'a mut dyn Reader,
    events: log::Index,
    run: RunId,
    /// The part of the audited call that says whom or what it is about.
    pub(super) subject: String,
    /// The subject's questions, in order.
    questions: Vec<Seq>,
    /// What may be the subject's: its answers, decisions on them, facts that name it; in order.
    own: Vec<Seq>,
    /// From the answer to its question.
    asked: BTreeMap<Seq, Option<Asked>>,
    /// From the answer to its decision.
    decided: BTreeMap<Seq, Option<Seq>>,
    /// Every text of the run's settings.
    settings: LookupMap<String, ()>,
    /// The long ones, which are templates if anything is.
    templates: Vec<String>,
}

impl<'a> Index<'a> {
    /// The index of a run; `call` is the audited one.
    pub(super) fn read(
        reader: &'a mut dyn Reader,
        run: RunId,
        events: log::Index,
        call: &CallPath,
    ) -> Result<Self, LogError> {
        let (mut settings, mut templates) = (LookupMap::default(), Vec::new());
        let first = reader.events(run, Seq(0), 1)?.pop();
        if let Some(Event::RunStarted(started)) =
            first.map(|first| first.event()).transpose().map_err(damaged)?
        {
            for text in strings(&started.settings) {
                templates.extend(Some(text.clone()).filter(|text| text.len() >= LONG));
                settings.insert(text, ());
            }
        }
        let subject = subject_of(call, &events, reader)?;
        let mut index = Index {
            reader,
            events,
            run,
            subject,
            questions: Vec::new(),
            own: Vec::new(),
            asked: BTreeMap::new(),
            decided: BTreeMap::new(),
            settings,
            templates,
        };
        index.find_own()?;
        Ok(index)
    }

    /// Finds what may be the subject's.
    fn find_own(&mut self) -> Result<(), LogError> {
        let Index { reader, events, run, subject, questions, .. } = self;
        let reader = &mut **reader;
        let (maybe, _) = events.calls_with(reader, subject)?;
        // A look-up by hash may find others, too.
        each_event_at::<LogError>(reader, *run, &maybe, |stored| {
            let is_own = stored.call.as_ref().is_some_and(|call| has_part(call, subject));
            questions.extend(Some(stored.seq).filter(|_| is_own));
            Ok(())
        })?;
        let answers = all_of(events.caused_by(reader, &questions.iter().copied().collect())?);
        let decisions = all_of(events.caused_by(reader, &answers)?);
        let mut naming = TextKeys::default();
        naming.whole(subject);
        let facts = events.texts(reader, &naming)?;
        let own: BTreeSet<Seq> = answers.into_iter().chain(decisions).chain(facts).collect();
        self.own = own.into_iter().collect();
        Ok(())
    }

    /// Hands on, in order, every event that may have a text of some prompts: the subject's, and those with a long
    /// text whose beginning stands in one.
    pub(super) fn each_source(
        &mut self,
        texts: &TextKeys,
        mut each: impl FnMut(&mut Self, &StoredEvent, Event) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let mut places = self.events.texts(self.reader, texts)?;
        places.extend(&self.own);
        places.sort_unstable();
        places.dedup();
        // Some at a time, since whoever gets them looks things up, too.
        for places in places.chunks(512) {
            let mut found = Vec::new();
            each_event_at::<LogError>(self.reader, self.run, places, |stored| {
                found.push(stored);
                Ok(())
            })?;
            for stored in found {
                each(self, &stored, stored.event().map_err(damaged)?)?;
            }
        }
        Ok(())
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
    pub(super) fn is_own_answer(&mut self, answer: Seq) -> Result<bool, LogError> {
        let question = self.question_of(answer)?.map(|asked| asked.seq);
        Ok(question.is_some_and(|seq| self.questions.binary_search(&seq).is_ok()))
    }

    /// The question that an answer answers.
    pub(super) fn question_of(&mut self, answer: Seq) -> Result<Option<Asked>, LogError> {
        if let Some(asked) = self.asked.get(&answer) {
            return Ok(asked.clone());
        }
        let request = match self.event(answer)? {
            Some((_, Event::ResponseReceived(r))) => Some(r.request),
            Some((_, Event::AnswerReused(r))) => Some(r.request),
            _ => None,
        };
        let asked = match request {
            Some(seq) => self.event(seq)?.and_then(|(_, event)| match event {
                Event::RequestSent(r) => {
                    Some(Asked { seq, call: r.call, sample: r.sample, prompt: r.prompt })
                }
                _ => None,
            }),
            None => None,
        };
        self.asked.insert(answer, asked.clone());
        Ok(asked)
    }

    /// The answer that a decision was made on.
    pub(super) fn answer_of(&mut self, decision: Seq) -> Result<Option<Seq>, LogError> {
        Ok(match self.event(decision)? {
            Some((_, Event::DecisionMade(made))) => Some(made.response),
            _ => None,
        })
    }

    /// The decisions made on some answers are looked up together, which takes no longer than one.
    pub(super) fn find_decisions(&mut self, answers: BTreeSet<Seq>) -> Result<(), LogError> {
        let mut left = answers;
        left.retain(|answer| !self.decided.contains_key(answer));
        let mut found = self.events.caused_by(self.reader, &left)?;
        for answer in left {
            let mut decision = None;
            for seq in found.remove(&answer).unwrap_or_default() {
                if self.answer_of(seq)? == Some(answer) {
                    decision = Some(seq);
                }
            }
            self.decided.insert(answer, decision);
        }
        Ok(())
    }

    /// The decision made on an answer.
    pub(super) fn decision_on(&mut self, answer: Seq) -> Result<Option<Seq>, LogError> {
        self.find_decisions(BTreeSet::from([answer]))?;
        Ok(self.decided.get(&answer).copied().flatten())
    }

    /// A stored request.
    pub(super) fn request(
        &mut self,
        prompt: PromptHash,
    ) -> Result<Option<crate::prompt::Request>, LogError> {
        self.reader.request(prompt)
    }

    /// An event that must be there.
    pub(super) fn stored(&mut self, seq: Seq) -> Result<StoredEvent, LogError> {
        let run = self.run;
        let found = event_at(self.reader, run, seq)?;
        found.ok_or_else(|| LogError::Corrupt { run, seq, what: "it is missing".to_owned() })
    }

    fn event(&mut self, seq: Seq) -> Result<Option<(StoredEvent, Event)>, LogError> {
        let Some(stored) = event_at(self.reader, self.run, seq)? else { return Ok(None) };
        let event = stored.event().map_err(damaged)?;
        Ok(Some((stored, event)))
    }
}

/// The event at a place.
pub(super) fn event_at(
    reader: &mut dyn Reader,
    run: RunId,
    seq: Seq,
) -> Result<Option<StoredEvent>, LogError> {
    let found = reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?.pop();
    Ok(found.filter(|event| event.seq == seq))
}

fn all_of(found: BTreeMap<Seq, Vec<Seq>>) -> BTreeSet<Seq> {
    found.into_values().flatten().collect()
}

fn has_part(call: &CallPath, part: &str) -> bool {
    call.as_str().split('/').any(|p| p == part)
}

/// The part of a call that says whom or what it is about, as the questions of its run show it.
fn subject_of(
    call: &CallPath,
    events: &log::Index,
    reader: &mut dyn Reader,
) -> Result<String, LogError> {
    let census = events.census(reader)?;
    let mut parts = Vec::new();
    for part in call.as_str().split('/') {
        // What has a digit is in no kind's name.
        let named = census.calls.iter().filter(|(kind, _)| kind.split('/').any(|p| p == part));
        let (mut kinds, mut questions) = (0, 0);
        named.for_each(|(_, n)| (kinds, questions) = (kinds + 1, questions + n));
        if kinds == 0 {
            let (found, of) = events.calls_with(reader, part)?;
            (kinds, questions) = (of, found.len() as u64);
        }
        parts.push((part, kinds, questions));
    }
    Ok(subject(&parts))
}

/// The part of a call whose questions differ most from one another: `p_0012` is asked many kinds of
/// question once each, `final_vote` is one kind asked of many. The kind of a call is what is left of it
/// without numbered parts. Each part comes with the kinds and the number of questions that have it.
fn subject(parts: &[(&str, usize, u64)]) -> String {
    let share =
        |(_, kinds, questions): &(&str, usize, u64)| *kinds as f64 / (*questions).max(1) as f64;
    // In a small study a turn's number may differ as much; it is asked fewer kinds of question.
    let best = parts.iter().max_by(|a, b| share(a).total_cmp(&share(b)).then(a.1.cmp(&b.1)));
    best.map(|(part, ..)| (*part).to_owned()).unwrap_or_default()
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
    use crate::event::NewEvent;
    use crate::id::Time;
    use crate::log::{Append, Backend, Head, MemoryBackend};

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
        let of = |call: &str, asked: &[String]| {
            let event = |call: &String| NewEvent {
                call: Some(CallPath::new(call).unwrap()),
                ..NewEvent::new("RequestSent", Time(0))
            };
            let run = RunId([1; 8]);
            let backend = MemoryBackend::new();
            let append = Append::new(run, Head::START, asked.iter().map(event));
            backend.committer().unwrap().commit(&[append]).unwrap();
            let mut reader = backend.reader().unwrap();
            let events = log::Index::open(reader.as_mut(), run).unwrap();
            subject_of(&CallPath::new(call).unwrap(), &events, reader.as_mut()).unwrap()
        };
        assert_eq!(of("final_vote/p_0002", &asked), "p_0002");
        assert_eq!(of("clarification/p_0003/2/moderator", &asked), "p_0003");
        let puzzles = ["solve/900", "solve/900", "solve/901"].map(str::to_owned);
        assert_eq!(of("solve/900", &puzzles), "900");
    }
}
