//! Which events are listed.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use retold::event::{Event, StoredEvent};
use retold::id::{CallPath, Seq, Time};
use retold::log::{LogError, Reader};

/// Which events of a run to list; an event has to meet all of them.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Filter {
    /// Only events of this kind, such as DecisionMade. Can be repeated.
    #[arg(long = "kind", value_name = "KIND", requires = "run")]
    kinds: Vec<String>,
    /// Only what belongs to calls that have these parts, in any order: `p_0012` for everything that
    /// a participant was asked, answered and decided, `final_vote/p_0012` for one call.
    #[arg(long, value_name = "CALL", requires = "run")]
    call: Option<CallPath>,
    /// Only decisions that were made by this method.
    #[arg(long, value_name = "METHOD", requires = "run")]
    method: Option<String>,
    /// Only answers of this model, as the server reported it.
    #[arg(long, value_name = "MODEL", requires = "run")]
    model: Option<String>,
    /// Only attempts that failed, whether the call was given up or asked again.
    #[arg(long, requires = "run")]
    failed: bool,
    /// Only events from this time on: 2026-11-22, or 2026-11-22T17:04:00Z.
    #[arg(long, value_name = "TIME", requires = "run", value_parser = moment)]
    since: Option<Time>,
}

/// A time, or the beginning of a day (UTC).
fn moment(text: &str) -> Result<Time, String> {
    let day = || text.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok();
    let at = text.parse::<Timestamp>().ok().or_else(|| Some(day()?.timestamp()));
    let at = at.ok_or("a time is written as 2026-11-22 or 2026-11-22T17:04:00Z")?;
    Ok(Time(at.as_millisecond()))
}

/// A filter, on its way through a run.
pub(crate) struct Filtering<'a> {
    filter: &'a Filter,
    /// The parts that a call has to have.
    parts: Vec<&'a str>,
    /// The first event that was seen.
    from: Option<Seq>,
    /// The questions and answers of these calls, from there on.
    belonging: BTreeSet<Seq>,
}

impl<'a> Filtering<'a> {
    pub(crate) fn by(filter: &'a Filter) -> Self {
        let parts = filter.call.iter().flat_map(|call| call.as_str().split('/')).collect();
        Filtering { filter, parts, from: None, belonging: BTreeSet::new() }
    }

    /// Whether anything is left out.
    pub(crate) fn is_on(&self) -> bool {
        let Filter { kinds, call, method, model, failed, since } = self.filter;
        let named = [call.is_some(), method.is_some(), model.is_some(), since.is_some()];
        !kinds.is_empty() || *failed || named.contains(&true)
    }

    /// Whether the next event is listed. Every event has to be passed, in order.
    ///
    /// # Errors
    /// [`LogError`] if an event cannot be read to which this one belongs.
    pub(crate) fn lists(
        &mut self,
        reader: &mut dyn Reader,
        event: &StoredEvent,
    ) -> Result<bool, LogError> {
        self.from.get_or_insert(event.seq);
        let belongs = self.filter.call.is_none() || self.belongs(reader, event)?;
        if belongs && self.filter.call.is_some() {
            self.belonging.insert(event.seq);
        }
        let Filter { kinds, call: _, method, model, failed, since } = self.filter;
        let is_kind = kinds.is_empty() || kinds.iter().any(|kind| *kind == *event.kind);
        let is_recent = since.is_none_or(|since| event.time >= since);
        if !(belongs && is_kind && is_recent) {
            return Ok(false);
        }
        if method.is_none() && model.is_none() && !failed {
            return Ok(true);
        }
        // An event that cannot be read has neither a method nor a model.
        let Ok(read) = event.event() else { return Ok(false) };
        let is_method = |method: &String| matches!(&read, Event::DecisionMade(made) if made.by.method == *method);
        let is_model = |model: &String| match &read {
            Event::ResponseReceived(received) => received.details.model.as_ref() == Some(model),
            Event::AnswerReused(reused) => reused.details.model.as_ref() == Some(model),
            _ => false,
        };
        Ok(method.as_ref().is_none_or(is_method)
            && model.as_ref().is_none_or(is_model)
            && (!failed || matches!(&read, Event::AttemptFailed(_))))
    }

    /// Whether an event belongs to one of the calls: it is a question of one, or follows from an
    /// event that belongs.
    fn belongs(&self, reader: &mut dyn Reader, event: &StoredEvent) -> Result<bool, LogError> {
        if let Some(call) = &event.call {
            return Ok(self.is_one(call));
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

    fn is_one(&self, call: &CallPath) -> bool {
        let mut rest: Vec<&str> = call.as_str().split('/').collect();
        self.parts.iter().all(|part| {
            let at = rest.iter().position(|other| other == part);
            at.map(|at| rest.swap_remove(at)).is_some()
        })
    }
}
