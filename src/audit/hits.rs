//! What was found in a prompt, and which of it is told.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::passage::{Passages, Proof};
use crate::id::Seq;

/// A source of texts, by its seq.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    Answer(Seq),
    Fact(Seq),
}

impl Source {
    pub(super) fn seq(self) -> Seq {
        let (Source::Answer(seq) | Source::Fact(seq)) = self;
        seq
    }
}

/// A text of a source that stands in a prompt.
pub(super) struct Hit {
    /// Message and byte.
    pub(super) at: (usize, usize),
    pub(super) text: String,
    is_own: bool,
    /// How many others have the same text and no place of their own.
    also: u64,
}

impl Hit {
    pub(super) fn new(at: (usize, usize), text: String, is_own: bool) -> Self {
        Hit { at, text, is_own, also: 0 }
    }

    /// Whether a place is within this text, which is longer than what stands there.
    fn covers(&self, (message, at): (usize, usize), text: &str) -> bool {
        let (own, start) = self.at;
        let end = start + self.text.len();
        own == message && start <= at && at + text.len() <= end && text.len() < self.text.len()
    }
}

pub(super) type Hits = BTreeMap<Source, Hit>;

/// Gives each place of a text to one of the subject's answers that have it, in their order: two answers
/// "Yes." stand in two places, each behind its own question. What stands within a longer answer is no place
/// of a shorter one. Of more answers than places the last count: a dialogue shows what was said in it, not
/// what was said in an earlier one; the others are counted.
pub(super) fn spread(hits: &mut Hits, passages: &Passages, proof: impl Fn(&str) -> Option<Proof>) {
    let mut equal: BTreeMap<(Reverse<usize>, String), Vec<Source>> = BTreeMap::new();
    for (source, hit) in hits.iter().filter(|(s, hit)| hit.is_own && matches!(s, Source::Answer(_)))
    {
        equal.entry((Reverse(hit.text.len()), hit.text.clone())).or_default().push(*source);
    }
    // The longest first, so that they have their places when shorter ones look for theirs.
    for ((_, text), sources) in equal {
        let Some(proof) = proof(&text) else { continue };
        let answers = || hits.iter().filter(|(source, _)| matches!(source, Source::Answer(_)));
        let mut places = passages.places(&text, proof);
        places.retain(|at| !answers().any(|(_, hit)| hit.covers(*at, &text)));
        // The parts of a value have no place together.
        if places.is_empty() {
            continue;
        }
        let (without, with) = sources.split_at(sources.len().saturating_sub(places.len()));
        for source in without {
            hits.remove(source);
        }
        for (source, at) in with.iter().zip(places) {
            if let Some(hit) = hits.get_mut(source) {
                hit.at = at;
            }
        }
        if let Some(hit) = with.first().and_then(|first| hits.get_mut(first)) {
            hit.also += without.len() as u64;
        }
    }
}

/// The hits in the order of the prompt: without facts that only repeat an answer, and of equal texts of
/// others the first, with how many more there are.
pub(super) fn worth_telling(hits: Hits) -> Vec<(Source, Hit, u64)> {
    let texts = |which: &dyn Fn(&Source, &Hit) -> bool| -> BTreeSet<String> {
        hits.iter().filter(|(s, h)| which(s, h)).map(|(_, hit)| hit.text.clone()).collect()
    };
    let own = texts(&|_, hit| hit.is_own);
    let answered = texts(&|source, _| matches!(source, Source::Answer(_)));
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut told: Vec<(Source, Hit, u64)> = Vec::new();
    for (source, hit) in hits {
        let repeats = matches!(source, Source::Fact(_)) && answered.contains(&hit.text);
        if repeats || (!hit.is_own && own.contains(&hit.text)) {
            continue;
        }
        match first.get(&hit.text).filter(|_| !hit.is_own).and_then(|n| told.get_mut(*n)) {
            Some((_, _, also)) => *also += 1,
            None => {
                first.insert(hit.text.clone(), told.len());
                let also = hit.also;
                told.push((source, hit, also));
            }
        }
    }
    told.sort_by_key(|(source, hit, _)| (hit.at, *source));
    told
}
