//! The independence of a run's decisions: which are draws, which share a recorded answer, and across which clusters they are
//! independent, as far as a label or a study declares it.

mod draws;
mod sizes;
mod words;

use std::collections::BTreeMap;

use super::error::AuditError;
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::Reader;
use crate::parse::Parsers;

use draws::{Decided, DrawOrigin};

/// The independence of a run's decisions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Independence {
    /// By the kind of call, see [`call_kind`](crate::event::call_kind), such as `final_vote`; and by the name of the
    /// decision, such as `vote`.
    pub kinds: BTreeMap<(String, String), Sizes>,
    /// The answers on which decisions about several questions rest, in the order of the log.
    pub shared: Vec<SharedAnswer>,
}

/// How many decisions there are, and how much they are worth.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sizes {
    /// The decisions.
    pub decisions: u64,
    /// Those of them that are draws. Where a call was asked again, only its last answer is one, unless facts of the run rest
    /// on several; of several decisions about one answer, only the last is.
    pub draws: u64,
    /// Those of the draws that have no value: null, or the last resort of their parser.
    pub draws_without_value: u64,
    /// The recorded answers on which they rest.
    pub answers: u64,
    /// Those of the answers that only one question was given.
    pub answers_not_shared: u64,
    /// The clusters across which the draws with a value are independent; `None` if there are no such draws, or if neither a
    /// label nor the study gives a cluster for all of them.
    pub clusters: Option<Clusters>,
}

/// Draws of different clusters are independent of each other, as far as a label or a study says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    /// The kind of cluster: the name of the label, or `call`.
    pub of: String,
    /// How many there are.
    pub count: u64,
    /// The effective sample size: the square of the number of draws with a value over the sum of the squares of the numbers in each
    /// cluster (Kish 1965, for clusters whose members are equal). Clusters that share an answer count as one. From 1 to
    /// the number of clusters.
    pub effective: f64,
}

/// A recorded answer on which decisions about several questions rest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedAnswer {
    /// The run that recorded it.
    pub run: RunId,
    /// The event there.
    pub seq: Seq,
    /// The name of the decisions.
    pub decides: String,
    /// The decisions, with the calls that they were made for.
    pub decisions: Vec<MadeFor>,
}

/// A decision, with the call and the sample that it was made for.
pub type MadeFor = (Seq, CallPath, Sample);

/// Finds out how independent the decisions of a run are. `parsers` know which methods are last resorts. `label` is the one
/// over which its study says that draws are independent; if it names none, the labels of
/// [`CLUSTERS`](crate::event::CLUSTERS) count, or else, where no prompt of the kind of call was made from something earlier,
/// those of [`PARTICIPANTS`](crate::event::PARTICIPANTS). A question of a study that has no such label either, and whose
/// prompt was made from nothing earlier, depends on no other.
///
/// An answer may be shared within the run, by later calls with the same prompt, or come from another run, of which several
/// calls of a fork reuse it. Decisions of different things, such as a choice and its reason, are not compared.
///
/// # Errors
/// [`AuditError`] if the run cannot be read.
pub fn independence(
    reader: &mut dyn Reader,
    run: RunId,
    parsers: &Parsers,
    label: Option<&str>,
) -> Result<Independence, AuditError> {
    let mut kinds: BTreeMap<(String, String), Vec<Decided>> = BTreeMap::new();
    let mut resting: BTreeMap<(DrawOrigin, String), Vec<MadeFor>> = BTreeMap::new();
    for (decides, decided) in draws::read(reader, run, parsers, label)? {
        let of = (decided.seq, decided.call.clone(), decided.sample);
        resting.entry((decided.origin, decides.clone())).or_default().push(of);
        kinds.entry((decided.kind.clone(), decides)).or_default().push(decided);
    }
    let shared = resting.into_iter().map(|(((run, seq, _), decides), decisions)| SharedAnswer {
        run,
        seq,
        decides,
        decisions,
    });
    let mut shared: Vec<SharedAnswer> = shared.filter(SharedAnswer::has_several).collect();
    shared.sort_by_key(|shared| shared.decisions.first().map(|(seq, ..)| *seq));
    let kinds = kinds.into_iter().map(|(kind, decided)| (kind, Sizes::of(&decided))).collect();
    Ok(Independence { kinds, shared })
}

impl SharedAnswer {
    /// Whether the decisions are about several questions: one that was decided about twice shares nothing.
    fn has_several(&self) -> bool {
        let question = |(_, call, sample): &MadeFor| (call.clone(), *sample);
        let first = self.decisions.first().map(question);
        self.decisions.iter().any(|decision| Some(question(decision)) != first)
    }
}
