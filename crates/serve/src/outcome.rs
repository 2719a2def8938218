//! The outcome of a run, computed in the background: its figures, and the decisions that are in force.

use std::sync::Arc;

use retold::decided::{DecisionAbout, JoinedDecision, decisions_about};
use retold::id::{CallPath, RunId, Seq};
use retold::log::{EndedReader, Log, LogError, Reader, RunHead};

use crate::decision_columns::DecisionColumns;
use crate::figures::{FiguresView, run_figures, searches};
use crate::job::JobState;
use crate::question_columns::QuestionPlaces;
use crate::question_news::DecisionNews;
use crate::site::Site;

/// A run that is being recorded has new figures with each event up to here, and seldom after it: they are computed from
/// its beginning.
const ALWAYS_NEW: u64 = 10_000;

impl Site {
    /// The figures of a run as far as it can be read, or how many values they have, and whether they are complete.
    pub(crate) fn figures(
        self: &Arc<Self>,
        head: &RunHead,
        runs: usize,
        is_over: bool,
        shows_values: bool,
    ) -> (FiguresView, bool) {
        let end = self.computed_end(head, is_over);
        let (site, head) = (self.clone(), head.clone());
        let (run, last) = (head.run, head.head.seq);
        let computed = self.figured.stand((run, end, runs), move |_| {
            let mut reader = site.reader_to(&head, end)?;
            run_figures(&site.studies, reader.as_mut(), run)
        });
        let until = (end < last).then_some(end.0);
        match computed {
            JobState::Done(figures) if !shows_values => {
                (FiguresView::counts_so_far(&figures, until), true)
            }
            JobState::Done(figures) => {
                let view = FiguresView::new(&figures, until);
                // They are shown before what else there is to them is known.
                let site = self.clone();
                let searched = self.searched.stand((run, end, runs), move |_| {
                    let log = Log::new(site.source.backend()?);
                    let log = if end < last { log.as_of(run, end) } else { log };
                    searches(&site.studies, &log, run, &figures)
                });
                match searched {
                    JobState::Done(found) => (view.with_searches(&found), true),
                    JobState::Failed(why) => (view.without_searches(&why), true),
                    JobState::Running(_) => (view, false),
                }
            }
            JobState::Failed(why) => (FiguresView::unavailable(&why), true),
            JobState::Running(_) => (FiguresView::default(), false),
        }
    }

    /// The last event that is read for results that are computed from the beginning of a run: the last that can be trusted,
    /// or in a long run that still grows, one before its end.
    pub(crate) fn computed_end(&self, head: &RunHead, is_over: bool) -> Seq {
        let last = head.head.seq;
        match self.first_untrusted(head) {
            Some(damaged) => Seq(damaged.saturating_sub(1)),
            None if is_over => last,
            None => Seq(round_down(last.0)),
        }
    }

    /// A reader of events up to the end. Those after it are not read, so they need not be sound.
    pub(crate) fn reader_to(&self, head: &RunHead, end: Seq) -> Result<Box<dyn Reader>, LogError> {
        let reader = self.reader()?;
        Ok(match end < head.head.seq {
            true => Box::new(EndedReader::as_of(reader, head.run, end)),
            false => reader,
        })
    }

    /// The decisions that are in force, if some were accepted after the run; whether it is known.
    pub(crate) fn accepted_decisions(
        self: &Arc<Self>,
        head: &RunHead,
        runs: usize,
    ) -> (Option<Arc<DecisionColumns>>, bool) {
        match self.effective_decisions(head, runs) {
            JobState::Running(_) => return (None, false),
            JobState::Done(found) if !found.accepted.is_empty() => {}
            _ => return (None, true),
        }
        let (site, run) = (self.clone(), head.run);
        let slot = self.roll(head);
        let joined = self.in_force.stand((run, head.head.seq, runs), move |_| {
            let mut reader = site.reader()?;
            let places = slot.roll().question_places();
            Ok(in_force(reader.as_mut(), run, &places)?)
        });
        match joined {
            JobState::Done(decisions) => (Some(decisions), true),
            // The figures say why it cannot be read.
            JobState::Failed(_) => (None, true),
            JobState::Running(_) => (None, false),
        }
    }
}

/// The decisions of a run that are in force, and those that were accepted about its answers.
fn in_force(
    reader: &mut dyn Reader,
    run: RunId,
    places: &QuestionPlaces,
) -> Result<DecisionColumns, LogError> {
    let mut decisions = DecisionColumns::default();
    let place = |call: &CallPath, sample| places.get(&(call.to_string(), sample)).copied();
    decisions_about(reader, run, |DecisionAbout { run: of, answer: _, joined }| {
        let JoinedDecision { seq, question, made, in_force, .. } = joined;
        let decided = DecisionNews::new(&made);
        if let Some((at, asked_for)) = place(&question.call, question.sample).filter(|_| in_force) {
            let seq = (of == run).then_some(seq);
            decisions.add(at, asked_for, &decided, seq);
        }
        decisions.add_rater(&decided.name, decided.by);
    })?;
    Ok(decisions)
}

/// A number of events with two digits that count, so that figures of a long run are not computed with each event.
fn round_down(events: u64) -> u64 {
    if events <= ALWAYS_NEW {
        return events;
    }
    let unit = 10_u64.pow(events.ilog10() - 1);
    events / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_long_run_are_not_computed_with_each_event() {
        assert_eq!([0, 7, 9_999, 10_000].map(round_down), [0, 7, 9_999, 10_000]);
        assert_eq!(
            [10_001, 10_999, 11_000, 1_234_567].map(round_down),
            [10_000, 10_000, 11_000, 1_200_000]
        );
    }
}
