//! Which prompts changed, and in how many calls: each distinct change once.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{CallDifference, CallPlace, ComparedCall, Comparison};
use crate::id::{CallPath, PromptHash, Sample};
use crate::log::{LogError, Reader};
use crate::prompt::first_difference;
use crate::text_diff::{WordChange, WordDifference};

/// A change of prompts.
#[derive(Debug, Clone, Serialize)]
pub struct PromptChange {
    /// What differs first in each of them, in words.
    #[serde(flatten)]
    pub words: WordDifference,
    /// How many calls have it.
    pub calls: u64,
    /// The first of these calls.
    pub call: CallPath,
    /// Its sample.
    pub sample: Sample,
    /// The call in the first run.
    pub one: CallPlace,
    /// The call in the second run.
    pub other: CallPlace,
}

/// The calls of two runs that have other prompts, as they are compared.
#[derive(Default)]
pub struct ChangedCalls(Vec<(CallPath, Sample, CallPlace, CallPlace)>);

impl ChangedCalls {
    /// Takes note of a call.
    pub fn note(&mut self, compared: &ComparedCall<'_>) {
        if let ComparedCall {
            what: Some(CallDifference::Prompt),
            one: Some(one),
            other: Some(other),
            ..
        } = compared
        {
            self.0.push((compared.call.clone(), compared.sample, *one, *other));
        }
    }

    /// Their changes, those of the most calls first. What only follows from another answer earlier in its lane is none.
    ///
    /// # Errors
    /// [`LogError`] if a log cannot be read.
    pub fn changes(
        self,
        comparison: &Comparison,
        one: &mut dyn Reader,
        other: &mut dyn Reader,
    ) -> Result<Vec<PromptChange>, LogError> {
        let causes: BTreeSet<_> =
            comparison.lanes.iter().map(|lane| (&lane.call, lane.sample)).collect();
        let mut known: BTreeMap<(PromptHash, PromptHash), Option<usize>> = BTreeMap::new();
        let mut changes: Vec<(PromptChange, bool)> = Vec::new();
        let mut by_words: BTreeMap<(String, Vec<(WordChange, String)>), usize> = BTreeMap::new();
        for (call, sample, before, after) in self.0 {
            let pair = (before.prompt, after.prompt);
            let at = match known.get(&pair) {
                Some(at) => *at,
                None => {
                    let requests = one.request(before.prompt)?.zip(other.request(after.prompt)?);
                    let difference = requests.and_then(|(a, b)| first_difference(&a, &b));
                    let at = difference.and_then(|difference| difference.words()).map(|words| {
                        *by_words.entry(words.key()).or_insert_with(|| {
                            let (call, one, other) = (call.clone(), before, after);
                            changes.push((
                                PromptChange { words, calls: 0, call, sample, one, other },
                                false,
                            ));
                            changes.len() - 1
                        })
                    });
                    *known.entry(pair).or_insert(at)
                }
            };
            let Some((change, is_cause)) = at.and_then(|at| changes.get_mut(at)) else { continue };
            change.calls += 1;
            *is_cause |= causes.contains(&(&call, sample));
        }
        let mut changes: Vec<_> = changes
            .into_iter()
            .filter(|(_, is_cause)| *is_cause)
            .map(|(change, _)| change)
            .collect();
        changes.sort_by_key(|change| std::cmp::Reverse(change.calls));
        Ok(changes)
    }
}
