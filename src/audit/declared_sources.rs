//! What prompts were made from, as their experiment declared it: from the audited prompt back to
//! the first.
//!
//! A declaration is part of the chain and is compared on every replay, so it is shown as it is.
//! Nothing is added to it: neither similar texts nor neighbouring events.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::link::Link;
use super::origin::{Events, Origin, request_of};
use crate::event::Event;
use crate::id::{CallPath, Sample, Seq};
use crate::log::LogError;

/// The most prompts that are followed, so that auditing one prompt does not show a whole society.
const MOST: usize = 4096;

/// The declared sources of the audited prompt, and their own sources in turn.
#[derive(Debug, Clone, PartialEq)]
pub enum DeclaredSources {
    /// The run has no declarations: no experiment was executed.
    NotKept,
    /// The run has declarations.
    Kept {
        /// First the audited prompt, then the earlier ones whose sources it includes in full, then
        /// the ones further back.
        prompts: Vec<MadeFrom>,
        /// Whether these are all. If not, audit the call of a later prompt to continue from there.
        complete: bool,
        /// The answers and facts that the audited prompt itself was made from, including those of
        /// earlier questions that it builds on, and the answers and decisions that caused these
        /// facts.
        sources: BTreeSet<Seq>,
    },
}

/// A prompt and its sources.
#[derive(Debug, Clone, PartialEq)]
pub struct MadeFrom {
    /// The call.
    pub call: CallPath,
    /// The sample.
    pub sample: Sample,
    /// The question.
    pub question: Link<()>,
    /// How it relates to the audited prompt.
    pub part: PromptRelation,
    /// The declared sources, in the order of the log; empty if the prompt was made from nothing
    /// that happened in the run.
    pub from: Vec<Origin>,
}

/// How a prompt relates to the audited one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptRelation {
    /// This is the audited prompt.
    Itself,
    /// Everything that this prompt was made from also went into the audited one.
    Within,
    /// The audited prompt was made from its answer, or from a fact that follows from that answer.
    Behind,
}

/// Follows the declarations of a question.
pub(super) fn declared_sources(
    events: &mut Events<'_>,
    question: Seq,
) -> Result<DeclaredSources, LogError> {
    let mut search = SourceSearch {
        events,
        seen: BTreeSet::from([question]),
        found: Vec::new(),
        behind: BTreeSet::new(),
    };
    let is_complete = search.follow(BTreeSet::from([question]), PromptRelation::Itself)?;
    let own = search.found.iter().flat_map(|made| made.from.iter().map(Origin::seq));
    let mut sources: BTreeSet<Seq> = own.collect();
    let (behind, causes) = search.questions_behind()?;
    sources.extend(causes);
    let complete = is_complete && search.follow(behind, PromptRelation::Behind)?;
    let mut prompts = search.found;
    events.find_decisions(prompts.iter_mut().flat_map(|made| made.from.iter_mut()))?;
    Ok(DeclaredSources::Kept { prompts, complete, sources })
}

struct SourceSearch<'a, 'b> {
    events: &'a mut Events<'b>,
    /// Questions that were followed or are about to be.
    seen: BTreeSet<Seq>,
    found: Vec<MadeFrom>,
    /// Answers, and decisions that caused facts, whose questions have not been looked up yet.
    behind: BTreeSet<Seq>,
}

impl SourceSearch<'_, '_> {
    /// Follows questions to the questions that they name, and, when following sources of sources,
    /// on from there. Returns whether everything was followed.
    fn follow(&mut self, from: BTreeSet<Seq>, mut part: PromptRelation) -> Result<bool, LogError> {
        let mut rounds = VecDeque::from([from]);
        while let Some(round) = rounds.pop_front() {
            if round.is_empty() {
                continue;
            }
            if self.found.len() + round.len() > MOST {
                return Ok(false);
            }
            let questions = self.events.questions(&round)?;
            let named: BTreeSet<Seq> =
                questions.values().flat_map(|(_, sent)| sent.because.iter()).collect();
            let origins = self.events.origins(&named)?;
            let mut next = BTreeSet::new();
            // The latest first, since it is nearest to the audited one.
            for (link, sent) in questions.into_values().rev() {
                let from = sent.because.iter().filter_map(|seq| origins.get(&seq).cloned());
                let from: Vec<Origin> = from.collect();
                for origin in &from {
                    match origin {
                        Origin::Question { question, .. } => {
                            // A damaged log could contain a cycle.
                            if question.seq < link.seq && self.seen.insert(question.seq) {
                                next.insert(question.seq);
                            }
                        }
                        Origin::Decision { answer, .. } => drop(self.behind.insert(answer.seq)),
                        Origin::Fact { causes, .. } => self.behind.extend(causes),
                        Origin::Draws { .. } | Origin::Other { .. } => {}
                    }
                }
                let (call, sample) = (sent.call, sent.sample);
                self.found.push(MadeFrom { call, sample, question: link, part, from });
            }
            if part == PromptRelation::Behind {
                next.extend(self.questions_behind()?.0);
            } else {
                part = PromptRelation::Within;
            }
            rounds.push_back(next);
        }
        Ok(true)
    }

    /// The questions whose answers led to the wanted events, and these answers and their decisions.
    fn questions_behind(&mut self) -> Result<(BTreeSet<Seq>, BTreeSet<Seq>), LogError> {
        let wanted = std::mem::take(&mut self.behind);
        let found = self.events.at(&wanted)?;
        let decided = found.values().filter_map(|(_, event)| match event {
            Event::DecisionMade(made) => Some(made.response),
            _ => None,
        });
        let decided: BTreeSet<Seq> = decided.collect();
        let answers = self.events.at(&decided)?;
        let all: BTreeMap<Seq, _> = found.into_iter().chain(answers).collect();
        let questions: BTreeSet<Seq> =
            all.values().filter_map(|(_, event)| request_of(event)).collect();
        let seen = &mut self.seen;
        let questions = questions.into_iter().filter(|question| seen.insert(*question)).collect();
        Ok((questions, all.into_keys().collect()))
    }
}
