//! Decisions that no model made: a participant's opposing view and cluster, each computed from earlier answers. They are
//! computed again here, from the state that they were computed from, with the rejected possibilities and by how much they
//! lost. Nothing of that is recorded: it follows from the recorded events.
//!
//! - `p_0001/opposing`: the opposing view ([`opposing`]).
//! - `p_0001/cluster`: the cluster of similar reasons ([`cluster`]).

mod cluster;
mod opposing;

use retold::id::Seq;
use retold::run::{OutputError, Report, RunRecord, fold_facts};
use serde::Deserialize;
use serde_json::Value;

use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::state::DeliberationState;

/// How many of the possibilities are shown to people; `--json` has all.
const SHOWN_POSSIBILITIES: usize = 20;

/// The names of a run's derived decisions, by participant.
pub(super) fn names(state: &DeliberationState) -> Vec<String> {
    let of_one = state.participants.iter().flat_map(|(id, who)| {
        let opposing = who.opposition_view.is_some().then(|| format!("{id}/opposing"));
        let cluster = who.cluster_id.is_some().then(|| format!("{id}/cluster"));
        cluster.into_iter().chain(opposing)
    });
    of_one.collect()
}

/// How a derived decision came about; `None` if there is none with that name.
pub(super) fn report(
    study: &Deliberation,
    name: &str,
    record: &RunRecord<'_>,
) -> Result<Option<Report>, OutputError> {
    match name.split_once('/') {
        Some((participant, "opposing")) => opposing::opposing(study, participant, record),
        Some((participant, "cluster")) => cluster::cluster(study, participant, record),
        _ => Ok(None),
    }
}

/// The recorded facts, each with its place.
fn facts(record: &RunRecord<'_>) -> Result<Vec<(Seq, Fact)>, OutputError> {
    let facts = record.facts.iter().zip(&record.places).enumerate();
    let typed = facts.map(|(number, (fact, place))| match Fact::deserialize(fact) {
        Ok(fact) => Ok((place.seq, fact)),
        Err(e) => Err(OutputError::Fact { number, source: e.into() }),
    });
    typed.collect()
}

/// The state before the first fact that `is_it`.
fn before(
    facts: &[(Seq, Fact)],
    recorded: &[Value],
    is_it: impl Fn(&Fact) -> bool,
) -> Result<DeliberationState, OutputError> {
    let count = facts.iter().take_while(|(_, fact)| !is_it(fact)).count();
    fold_facts::<Deliberation>(recorded.get(..count).unwrap_or_default())
}

/// Where the vector of a participant's summary is.
fn vector_of(facts: &[(Seq, Fact)], participant: &str) -> Option<Seq> {
    facts.iter().find_map(|(seq, fact)| match fact {
        Fact::SummaryEmbedded { participant_id, .. } if participant_id == participant => Some(*seq),
        _ => None,
    })
}

/// Says in words if the decision computed now equals the recorded one.
fn agrees(is_same: bool) -> &'static str {
    if is_same { "computed again: the same" } else { "computed again: NOT THE SAME" }
}
