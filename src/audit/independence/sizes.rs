//! How much decisions of one kind are worth.

use std::collections::{BTreeMap, BTreeSet};

use super::draws::{ClusterKey, Decided, DrawOrigin};
use super::{Clusters, Sizes};
use crate::id::{CallPath, RunId, Sample, Seq};

impl Sizes {
    /// Counts decisions of one kind of call about one thing.
    pub(super) fn of(decided: &[Decided]) -> Self {
        let mut answers: BTreeMap<(RunId, Seq), BTreeSet<(&CallPath, Sample)>> = BTreeMap::new();
        for Decided { origin: (run, seq, _choice), call, sample, .. } in decided {
            answers.entry((*run, *seq)).or_default().insert((call, *sample));
        }
        let draws: Vec<&Decided> = decided.iter().filter(|decided| decided.is_draw).collect();
        let valued = draws.iter().copied().filter(|draw| draw.has_value);
        let valued: Vec<&Decided> = valued.collect();
        Sizes {
            decisions: decided.len() as u64,
            draws: draws.len() as u64,
            answers: answers.len() as u64,
            answers_not_shared: answers.values().filter(|of| of.len() == 1).count() as u64,
            draws_without_value: (draws.len() - valued.len()) as u64,
            clusters: clusters(&valued),
        }
    }
}

/// Over what draws are independent, if that is known of all of them.
fn clusters(draws: &[&Decided]) -> Option<Clusters> {
    let mut joined = Joined::default();
    let mut keys: BTreeMap<&ClusterKey, usize> = BTreeMap::new();
    let mut origins: BTreeMap<DrawOrigin, usize> = BTreeMap::new();
    let mut places = Vec::new();
    for draw in draws {
        let key = draw.cluster.as_ref()?;
        let of_key = *keys.entry(key).or_insert_with(|| joined.add());
        let of_origin = *origins.entry(draw.origin).or_insert(of_key);
        joined.join(of_key, of_origin);
        places.push(of_key);
    }
    let names: BTreeSet<&str> = keys.keys().map(|(name, _)| name.as_str()).collect();
    let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
    places.into_iter().for_each(|at| *counts.entry(joined.root(at)).or_default() += 1);
    let squares: u64 = counts.values().map(|count| count * count).sum();
    let of = match names.into_iter().collect::<Vec<_>>().as_slice() {
        [] => return None,
        [one] => (*one).to_owned(),
        _ => "cluster".to_owned(),
    };
    let effective = (draws.len() as f64).powi(2) / squares as f64;
    Some(Clusters { of, count: keys.len() as u64, effective })
}

/// Groups that are joined: each has the place of another of its group, or its own.
#[derive(Default)]
struct Joined(Vec<usize>);

impl Joined {
    fn add(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    fn root(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            // Halves the way for the next time.
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one.max(other)] = one.min(other);
    }
}
