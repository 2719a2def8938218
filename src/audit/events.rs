//! The events of a run that may belong to a question.

use std::collections::BTreeSet;

use super::error::AuditError;
use super::target::{Target, has_parts_of};
use crate::event::StoredEvent;
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::Reader;

/// The events of a run, in order.
pub(super) struct Events(pub(super) Vec<StoredEvent>);

impl Events {
    /// Reads a run and keeps what the target may be made of.
    pub(super) fn of(
        reader: &mut dyn Reader,
        run: RunId,
        target: &Target,
    ) -> Result<Self, AuditError> {
        let mut all = Vec::new();
        let mut after = Seq(0);
        loop {
            let events = reader.events(run, after, 4096)?;
            let Some(last) = events.last() else { return Ok(Events(all)) };
            after = last.seq;
            // Of a long run only what may belong to the question is kept.
            all.extend(events.into_iter().filter(|e| match target {
                Target::Call(call, _) => e.call.as_ref().is_none_or(|c| has_parts_of(c, call)),
                Target::Seq(_) => true,
            }));
        }
    }

    fn at(&self, seq: Seq) -> Option<&StoredEvent> {
        self.0.binary_search_by_key(&seq, |e| e.seq).ok().and_then(|i| self.0.get(i))
    }

    /// The question that the target comes from.
    pub(super) fn question<'a>(
        &'a self,
        run: RunId,
        target: &'a Target,
    ) -> Result<&'a StoredEvent, AuditError> {
        let found = match target {
            Target::Seq(seq) => {
                let mut event = self.at(*seq);
                // From the decision to the answer to the question.
                while let Some(e) = event.filter(|e| e.call.is_none()) {
                    event = e.cause.and_then(|cause| self.at(cause));
                }
                event
            }
            Target::Call(call, Some(sample)) => {
                let call = self.spelt(call);
                self.asked(call).filter(|e| e.sample == Some(*sample)).last()
            }
            Target::Call(call, None) => {
                let call = self.spelt(call);
                let samples: Vec<Sample> = self.asked(call).filter_map(|e| e.sample).collect();
                let (first, last) = (samples.iter().min(), samples.iter().max());
                match (first.copied(), last.copied()) {
                    (Some(first), Some(last)) if first != last => {
                        return Err(AuditError::ManySamples { call: call.clone(), first, last });
                    }
                    _ => self.asked(call).last(),
                }
            }
        };
        found.ok_or_else(|| self.not_found(run, target))
    }

    /// The call as the run spells it: as given, or else the one call of the same parts in another order.
    fn spelt<'a>(&'a self, call: &'a CallPath) -> &'a CallPath {
        if self.asked(call).next().is_some() {
            return call;
        }
        let calls = self.0.iter().filter_map(|e| e.call.as_ref());
        let alike: BTreeSet<&CallPath> = calls.filter(|c| has_parts_of(c, call)).collect();
        match alike.first() {
            Some(only) if alike.len() == 1 => only,
            _ => call,
        }
    }

    /// The questions of a call; a question asked again after a crash comes last.
    fn asked<'a>(&'a self, call: &'a CallPath) -> impl Iterator<Item = &'a StoredEvent> {
        self.0.iter().filter(move |e| e.call.as_ref() == Some(call))
    }

    /// The error that there is no such decision.
    pub(super) fn not_found(&self, run: RunId, target: &Target) -> AuditError {
        let wanted = match target {
            Target::Seq(seq) => format!("at seq {seq}"),
            Target::Call(call, Some(sample)) => format!("{call}#{sample}"),
            Target::Call(call, None) => call.to_string(),
        };
        let asked = |e: &&StoredEvent| e.call.is_some() && e.sample.is_some();
        let nearest = match target {
            Target::Call(call, Some(_)) if self.asked(call).next().is_some() => {
                let samples = || self.asked(call).filter_map(|e| e.sample);
                let first = samples().min().unwrap_or_default();
                format!(
                    "; the samples of {call} are {first} to {}",
                    samples().max().unwrap_or(first)
                )
            }
            _ => match self.0.iter().find(asked).and_then(|e| e.call.as_ref().zip(e.sample)) {
                Some((call, sample)) => format!("; its decisions are like {call}#{sample}"),
                None => "; it has no calls at all".to_owned(),
            },
        };
        AuditError::NotFound { run, wanted, nearest }
    }
}
