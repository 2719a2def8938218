//! Which events of a run are listed: the filters of `retold log` and of the page.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::asked::AskedModels;
use super::backend::Reader;
use super::error::LogError;
use crate::event::{Event, StoredEvent};
use crate::id::{CallPath, Seq, Time};

/// Which events of a run to list; an event has to meet all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventFilter {
    /// Only events of one of these kinds, such as `DecisionMade`; all kinds if there are none.
    pub kinds: Vec<String>,
    /// Only what belongs to calls that have these parts, in any order.
    pub call: Option<CallPath>,
    /// Only what belongs to calls that have all of these labels: names and values.
    pub labels: Vec<(String, String)>,
    /// Only decisions that were made by this method.
    pub method: Option<String>,
    /// Only answers of this model: the one that the request names, or the one that the server reported.
    pub model: Option<String>,
    /// Only attempts that failed, whether the call was given up or asked again.
    pub failed: bool,
    /// Only events from this time on.
    pub since: Option<Time>,
}

/// The fields of an event that a filter looks at.
#[derive(Debug, Clone, Copy)]
pub struct EventFields<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// When it happened.
    pub time: Time,
    /// For a decision: the method.
    pub method: Option<&'a str>,
    /// For an answer: the model as the server reported it.
    pub model: Option<&'a str>,
    /// For an answer: the model that the request names.
    pub asked: Option<&'a str>,
}

/// The kind of a failed attempt.
const FAILED: &str = crate::event::kind::ATTEMPT_FAILED;

impl EventFilter {
    /// Whether anything is left out.
    pub fn is_on(&self) -> bool {
        *self != EventFilter::default()
    }

    /// Whether a call has all parts that are asked for; every call does if none are.
    pub fn is_call(&self, call: &str) -> bool {
        let Some(wanted) = &self.call else { return true };
        let mut rest: Vec<&str> = call.split('/').collect();
        wanted.as_str().split('/').all(|part| {
            let at = rest.iter().position(|other| *other == part);
            at.map(|at| rest.swap_remove(at)).is_some()
        })
    }

    /// Whether only what belongs to some calls is listed.
    pub fn chooses_calls(&self) -> bool {
        self.call.is_some() || !self.labels.is_empty()
    }

    /// Whether a question is one of a call that is asked for. One that cannot be read has no labels.
    fn is_asked(&self, call: &CallPath, question: &StoredEvent) -> bool {
        let has_labels = || {
            let has = question.labels().unwrap_or_default();
            self.labels.iter().all(|(name, value)| has.get(name) == Some(value))
        };
        self.is_call(call.as_str()) && (self.labels.is_empty() || has_labels())
    }

    /// Whether an event is listed that belongs to a call that is asked for.
    pub fn lists(&self, event: EventFields<'_>) -> bool {
        let EventFilter { kinds, call: _, labels: _, method, model, failed, since } = self;
        let is_kind = kinds.is_empty() || kinds.iter().any(|kind| kind == event.kind);
        let is_same = |wanted: &Option<String>, is: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| is == Some(wanted))
        };
        is_kind
            && since.is_none_or(|since| event.time >= since)
            && is_same(method, event.method)
            && (is_same(model, event.model) || is_same(model, event.asked))
            && (!failed || event.kind == FAILED)
    }
}

/// A filter, on its way through a run.
pub struct Filtering<'a> {
    filter: &'a EventFilter,
    /// The first event that was seen.
    from: Option<Seq>,
    /// The questions and answers of the calls that are asked for, from there on.
    belonging: BTreeSet<Seq>,
    models: AskedModels,
}

impl<'a> Filtering<'a> {
    /// A filter before the first event.
    pub fn by(filter: &'a EventFilter) -> Self {
        let (belonging, models) = (BTreeSet::new(), AskedModels::default());
        Filtering { filter, from: None, belonging, models }
    }

    /// Whether the next event is listed. Every event has to be passed, in order.
    ///
    /// # Errors
    /// [`LogError`] if an event cannot be read to which this one belongs.
    pub fn lists(
        &mut self,
        reader: &mut dyn Reader,
        event: &StoredEvent,
    ) -> Result<bool, LogError> {
        self.from.get_or_insert(event.seq);
        let asked = match &self.filter.model {
            Some(_) => self.models.asked_by(reader, event)?,
            None => None,
        };
        let asked = asked.as_deref();
        if self.filter.chooses_calls() {
            if !self.belongs(reader, event)? {
                return Ok(false);
            }
            self.belonging.insert(event.seq);
        }
        let (kind, time) = (&*event.kind, event.time);
        if self.filter.method.is_none() && self.filter.model.is_none() {
            return Ok(self.filter.lists(EventFields {
                kind,
                time,
                method: None,
                model: None,
                asked,
            }));
        }
        // An event that cannot be read has neither a method nor a model.
        let Ok(read) = event.event() else { return Ok(false) };
        let (method, model) = method_and_model(&read);
        Ok(self.filter.lists(EventFields { kind, time, method, model, asked }))
    }

    /// Whether an event belongs to one of the calls: it is a question of one, or follows from an
    /// event that belongs.
    fn belongs(&self, reader: &mut dyn Reader, event: &StoredEvent) -> Result<bool, LogError> {
        if let Some(call) = &event.call {
            return Ok(self.filter.is_asked(call, event));
        }
        match event.event() {
            Ok(Event::Occurred(fact)) => {
                let mut causes = fact.causes.into_iter();
                causes
                    .try_fold(false, |found, cause| Ok(found || self.leads(reader, event, cause)?))
            }
            _ => event.cause.map_or(Ok(false), |cause| self.leads(reader, event, cause)),
        }
    }

    /// Whether an event belongs that caused another.
    fn leads(
        &self,
        reader: &mut dyn Reader,
        event: &StoredEvent,
        cause: Seq,
    ) -> Result<bool, LogError> {
        if self.from.is_none_or(|from| cause >= from) {
            return Ok(self.belonging.contains(&cause));
        }
        // It comes before the first event that is listed. In a damaged log, it may come after it.
        let earlier = Seq(cause.0.saturating_sub(1));
        match reader.events(event.run, earlier, 1)?.into_iter().next() {
            Some(found) if found.seq < event.seq => self.belongs(reader, &found),
            _ => Ok(false),
        }
    }
}

/// How a label is written for [`EventFilter::labels`].
pub const NAME_AND_VALUE: &str = "a label is written as NAME=VALUE, such as participant=p7";

/// A label as a name and a value; `None` if it is not written so: see [`NAME_AND_VALUE`].
pub fn name_and_value(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// How a time is written for [`EventFilter::since`].
pub const MOMENTS: &str = "a time is written as 2026-11-22 or 2026-11-22T17:04:00Z";

/// A time, or the beginning of a day; both in UTC unless the time names another zone. `None` if it
/// is neither: see [`MOMENTS`].
pub fn moment(text: &str) -> Option<Time> {
    // A day without a time is its beginning.
    let utc = || Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    let at = text.parse::<Timestamp>().ok().or_else(utc)?;
    Some(Time(at.as_millisecond()))
}

/// The method of a decision, and the model of an answer as the server reported it.
pub fn method_and_model(event: &Event) -> (Option<&str>, Option<&str>) {
    match event {
        Event::DecisionMade(made) => (Some(&made.by.method), None),
        Event::ResponseReceived(received) => (None, received.details.model.as_deref()),
        Event::AnswerReused(reused) => (None, reused.details.model.as_deref()),
        _ => (None, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_or_the_beginning_of_a_day() {
        let at = |text: &str| moment(text).map(|time| time.to_string());
        let day = Some("2026-11-22T00:00:00.000Z".to_owned());
        let time = Some("2026-11-22T17:04:00.000Z".to_owned());
        assert_eq!(at("2026-11-22"), day);
        for text in ["2026-11-22T17:04:00Z", "2026-11-22T18:04:00+01:00", "2026-11-22T17:04"] {
            assert_eq!(at(text), time, "{text}");
        }
        for text in ["", "yesterday", "17:04", "2026-13-01", "2026-11-22T25:00", "1700000000"] {
            assert_eq!(at(text), None, "{text}");
        }
    }
}
