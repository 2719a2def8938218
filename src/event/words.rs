//! An event in words, for lists that people read.

use serde_json::{Map, Value};

use super::kind::{self, KINDS};
use super::{BatchCollected, BatchStep, BodySide, Event, LookedAt, StoredEvent};
use crate::counted::{count_of, group_digits};
use crate::escaping::excerpt;

/// The longest text of an answer that is taken, in characters: of ten megabytes, a list shows the beginning.
const LONGEST: usize = 880;

/// An event in words. Nothing in it is inert yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventWords {
    /// Its kind.
    pub kind: &'static str,
    /// The call that it is of, with `#` and the sample, or the name of a fact or mark.
    pub subject: Option<String>,
    /// What happened.
    pub text: String,
}

/// The kinds in words.
const WORDS: [(&str, &str); 20] = [
    (kind::RUN_STARTED, "run started"),
    (kind::RUN_RESUMED, "run resumed"),
    (kind::REQUEST_SENT, "question"),
    (kind::RESPONSE_RECEIVED, "answer"),
    (kind::ANSWER_REUSED, "reused answer"),
    (kind::ATTEMPT_FAILED, "failed attempt"),
    (kind::BODY_PART, "part of a body"),
    (kind::CLIENT_LEFT, "client left"),
    (kind::MARK_RECORDED, "mark"),
    (kind::DECISION_MADE, "decision"),
    (kind::OCCURRED, "fact"),
    (kind::BATCH_PLANNED, "batch planned"),
    (kind::BATCH_UPLOADED, "batch uploaded"),
    (kind::BATCH_SUBMITTED, "batch submitted"),
    (kind::BATCH_SEEN, "batch seen"),
    (kind::BATCH_ENDED, "batch ended"),
    (kind::BATCH_COLLECTED, "batch collected"),
    (kind::LOOKED_AT, "look"),
    (kind::EVENTS_LOST, "events lost"),
    (kind::RUN_FINISHED, "run finished"),
];

/// A kind of event in words; `other` if this release does not know it.
pub fn kind_in_words(kind: &str) -> &'static str {
    WORDS.iter().find(|(name, _)| *name == kind).map_or("other", |(_, words)| words)
}

/// The kind of event that somebody means: by its name, or by its words.
pub fn kind_from_words(text: &str) -> Option<&'static str> {
    let by_words = || WORDS.iter().find(|(_, words)| *words == text).map(|(name, _)| *name);
    KINDS.iter().copied().find(|name| *name == text).or_else(by_words)
}

impl EventWords {
    /// The words for an event.
    pub fn new(event: &StoredEvent) -> Self {
        let mut subject = match (&event.call, event.sample) {
            (Some(call), Some(sample)) => Some(format!("{call}#{sample}")),
            (Some(call), None) => Some(call.to_string()),
            _ => None,
        };
        let text = match &event.event() {
            Ok(Event::ResponseReceived(received)) => {
                answer_text(received.content.text(), &received.details.extra)
            }
            Ok(Event::AnswerReused(reused)) => {
                answer_text(reused.content.text(), &reused.details.extra)
            }
            Ok(Event::AttemptFailed(failed)) => {
                format!("{}: {}", failed.details.failure, failed.details.error)
            }
            Ok(Event::DecisionMade(made)) => {
                let choice = made.details.choice.map(|at| format!("choice {at}: "));
                format!("{}{}", choice.unwrap_or_default(), made.details.value)
            }
            Ok(Event::Occurred(fact)) => {
                subject = fact_name(&fact.fact).map(|name| excerpt(name, 60));
                fact_text(&fact.fact)
            }
            Ok(Event::RequestSent(sent)) => {
                let labels = sent.labels.iter().map(|(name, value)| format!(" · {name}: {value}"));
                format!("prompt {}{}", sent.prompt.short(12), labels.collect::<String>())
            }
            Ok(Event::BodyPart(part)) => match part.of {
                BodySide::Request => "of the request".to_owned(),
                BodySide::Answer => "of the answer".to_owned(),
            },
            Ok(Event::ClientLeft(left)) => match left.bytes {
                Some(bytes) => format!("after {} ms, with {bytes} bytes", left.after_ms),
                None => format!("after {} ms, before the beginning", left.after_ms),
            },
            Ok(Event::MarkRecorded(mark)) => {
                subject = Some(excerpt(&mark.name, 60));
                format!("state {}", mark.digest.short(12))
            }
            Ok(Event::Batch(step)) => {
                subject = Some(format!("batch {}", step.number()));
                batch_text(step)
            }
            Ok(Event::LookedAt(looked)) => look_text(looked),
            Ok(Event::RunFinished(finished)) => finished.outcome.as_str().to_owned(),
            Ok(Event::RunStarted(started)) => match started.drawn_from() {
                Some(seed) => format!("{}, seed {seed}", started.experiment),
                None => started.experiment.clone(),
            },
            Ok(Event::RunResumed(resumed)) => resumed.program.clone(),
            Ok(_) => event.body.to_string(),
            Err(error) => format!("it cannot be read: {}", error.defect),
        };
        EventWords { kind: kind_in_words(&event.kind), subject, text }
    }
}

/// The key of the value in a fact that a program reported.
const VALUE: &str = "value";

/// What an experiment calls a fact: a tag in it, or its only key; what a program calls it is beside its value.
pub fn fact_name(fact: &Value) -> Option<&str> {
    let fields = fact.as_object()?;
    let tag = ["fact", "type", "kind", "event"].iter().find_map(|key| fields.get(*key)?.as_str());
    let reported = || fields.get("name").filter(|_| fields.contains_key(VALUE))?.as_str();
    tag.or_else(reported)
        .or_else(|| fields.keys().next().filter(|_| fields.len() == 1).map(String::as_str))
}

/// The rest of a fact, for people.
pub fn fact_text(fact: &Value) -> String {
    let Some(name) = fact_name(fact) else { return fact.to_string() };
    let is_reported = fact["name"].as_str() == Some(name);
    let fields = fact.as_object().into_iter().flatten();
    let rest: Vec<String> = fields
        .filter(|(key, value)| key.as_str() == VALUE || value.as_str() != Some(name))
        .map(|(key, value)| match value {
            value if is_reported && key == VALUE => excerpt(&value.to_string(), 120),
            Value::String(text) => format!("{key}: {}", excerpt(text, 120)),
            value if key == name => value.to_string(),
            value => format!("{key}: {}", excerpt(&value.to_string(), 120)),
        })
        .collect();
    rest.join(" · ")
}

/// What a step of a batch says.
fn batch_text(step: &BatchStep) -> String {
    match step {
        BatchStep::Planned(planned) => {
            let lines = count_of(planned.lines(), "question");
            format!("{lines} to {} at {}", planned.model, planned.server)
        }
        BatchStep::Uploaded(uploaded) => format!("file {}", uploaded.file),
        BatchStep::Submitted(submitted) => {
            let until = submitted.expires.map(|expires| format!(", until {expires}"));
            format!("as {}{}", submitted.id, until.unwrap_or_default())
        }
        BatchStep::Seen(seen) => format!("{}, {} done", seen.status, seen.done),
        BatchStep::Ended(ended) => match &ended.error {
            Some(error) => format!("{}: {error}", ended.status),
            None => ended.status.clone(),
        },
        BatchStep::Collected(collected) => {
            let BatchCollected { answered, failed, expired, missing, .. } = collected;
            let others = [(failed, "failed"), (expired, "not worked on"), (missing, "missing")];
            let others = others.iter().filter(|(count, _)| **count > 0);
            let others = others.map(|(count, what)| format!(", {count} {what}"));
            format!("{answered} answered{}", others.collect::<String>())
        }
    }
}

/// When somebody looked at what had come out, and at which figures.
fn look_text(looked: &LookedAt) -> String {
    let LookedAt { answered, failed, figures } = looked;
    let figures: Vec<String> = figures.iter().map(|figure| excerpt(figure, 120)).collect();
    let (answers, failed) = (count_of(*answered, "answer"), group_digits(*failed));
    format!("after {answers} and {failed} failed: {}", figures.join("; "))
}

/// The text of an answer. Without one, the names of the functions that it calls, or `no text`.
fn answer_text(text: &str, extra: &Map<String, Value>) -> String {
    if !text.is_empty() {
        return text.chars().take(LONGEST).collect();
    }
    let calls = extra.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let names: Vec<&str> = calls.filter_map(|call| call["function"]["name"].as_str()).collect();
    match names.is_empty() {
        true => "no text".to_owned(),
        false => format!("calls {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_look_says_when_it_was_and_at_what() {
        let figures = vec!["share of vote = yes".to_owned(), "mean of age".to_owned()];
        let looked = LookedAt { answered: 1, failed: 2, figures };
        let said = look_text(&looked);
        assert_eq!(said, "after 1 answer and 2 failed: share of vote = yes; mean of age");
    }

    #[test]
    fn a_fact_is_called_what_its_study_or_program_calls_it() {
        for (fact, name, text) in [
            (json!({"fact": "Told", "to": "Ada"}), Some("Told"), "to: Ada"),
            (json!({"Told": 3}), Some("Told"), "3"),
            (json!({"name": "winner", "value": "c"}), Some("winner"), "\"c\""),
            (json!({"lane": "3", "name": "c", "value": "c"}), Some("c"), "lane: 3 \u{b7} \"c\""),
            (json!({"a": 1, "b": 2}), None, r#"{"a":1,"b":2}"#),
        ] {
            assert_eq!((fact_name(&fact), &*fact_text(&fact)), (name, text), "{fact}");
        }
    }

    #[test]
    fn every_kind_has_words_of_its_own_that_mean_it() {
        for name in KINDS {
            let words = kind_in_words(name);
            assert_ne!(words, "other");
            assert_eq!([kind_from_words(words), kind_from_words(name)], [Some(*name); 2]);
        }
        assert_eq!(
            [kind_in_words("Later"), kind_from_words("later").unwrap_or("-")],
            ["other", "-"]
        );
    }
}
