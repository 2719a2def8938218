//! Which decisions of a run are not in force any more.

use std::collections::BTreeMap;

use super::reported_again::reported_again;
use super::seqs::SeqSet;
use crate::event::{DecisionMade, Event};
use crate::exchange::AcceptedChain;
use crate::id::{RunId, Seq};
use crate::log::{LogError, Reader, RunEvents, event_at};

/// The decisions of a run that others have replaced.
#[derive(Debug, Clone, Default)]
pub(super) struct ReplacedDecisions {
    /// The answers about which a decision with a name was accepted, by name and choice.
    by_name: BTreeMap<(String, u32), SeqSet>,
    /// The decisions that were reported again in the run itself.
    reported_again: SeqSet,
}

impl ReplacedDecisions {
    /// Those of a run; `later` are the runs of accepted decisions that may replace them.
    pub(super) fn read(
        reader: &mut dyn Reader,
        run: RunId,
        later: &[RunId],
    ) -> Result<Self, LogError> {
        let reported_again = reported_again(reader, run)?;
        let mut replaced = ReplacedDecisions { reported_again, ..ReplacedDecisions::default() };
        for accepted in later {
            replaced.add_run(reader, *accepted)?;
        }
        Ok(replaced)
    }

    /// Adds the decisions that a run of accepted decisions replaces.
    fn add_run(&mut self, reader: &mut dyn Reader, run: RunId) -> Result<(), LogError> {
        let Some(chain) = AcceptedChain::from(reader, run)? else { return Ok(()) };
        let (mut events, mut last) = (RunEvents::new(run), None);
        while let Some(event) = events.next(reader)? {
            match event.event().map_err(LogError::from)? {
                Event::AnswerReused(reused) => last = Some((event.seq, reused.from_seq)),
                Event::DecisionMade(made) => {
                    let from = match last.filter(|(answer, _)| *answer == made.response) {
                        Some((_, from)) => Some(from),
                        // Several decisions may be about one answer, with others in between.
                        None => reused_from(reader, run, made.response)?,
                    };
                    let answer = from.map(|from| chain.answer(reader, from)).transpose()?.flatten();
                    if let Some(answer) = answer {
                        let (name, choice) = made.subject();
                        self.by_name.entry((name.to_owned(), choice)).or_default().insert(answer);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether a decision is replaced; `answer` is the one that it is about in the run at the end of the chain, if that is
    /// known.
    pub(super) fn has(&self, seq: Seq, answer: Option<Seq>, made: &DecisionMade) -> bool {
        let (name, choice) = made.subject();
        let accepted = self.by_name.get(&(name.to_owned(), choice));
        let is_accepted =
            accepted.zip(answer).is_some_and(|(accepted, answer)| accepted.contains(answer));
        is_accepted || self.reported_again.contains(seq)
    }
}

/// Where an answer of a run of accepted decisions was taken from.
fn reused_from(reader: &mut dyn Reader, run: RunId, answer: Seq) -> Result<Option<Seq>, LogError> {
    let event = event_at(reader, run, answer)?.map(|event| event.event());
    Ok(match event.transpose().map_err(LogError::from)? {
        Some(Event::AnswerReused(reused)) => Some(reused.from_seq),
        _ => None,
    })
}
