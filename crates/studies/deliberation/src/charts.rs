//! The plots of a report.

use std::collections::BTreeMap;

use super::conditions::Condition;
use super::experiment::Deliberation;
use super::state::{DeliberationState, Participant, ParticipantStatus};
use super::transcript::Transcript;
use retold::counted::count_of;
use retold::run::fold_facts;
use retold_stats::{Point, in_a_plane, point};
use retold_study::charts::{Chart, ChartData};
use retold_study::error::BoxError;
use serde_json::Value;

/// A dialogue of a participant.
type Dialogue = fn(&Participant) -> Option<&Transcript>;

/// Votes from first to final by condition, the clusters of reasons in a plane, and the
/// lengths of dialogues.
pub(crate) fn charts(facts: &[Value]) -> Result<Vec<Chart>, BoxError> {
    let state: DeliberationState = fold_facts::<Deliberation>(facts)?;
    let conditions = Condition::ALL.into_iter();
    let mut charts: Vec<Chart> =
        conditions.filter_map(|condition| flow(&state, condition)).collect();
    charts.extend(clusters(&state));
    let dialogues: [(&str, &str, Dialogue); 2] = [
        ("clarification", "Turns of the clarifications", |p| p.clarification_transcript.as_ref()),
        ("challenge", "Turns of the challenges", |p| p.adversarial_transcript.as_ref()),
    ];
    for (name, title, of) in dialogues {
        let mut lengths: BTreeMap<usize, u32> = BTreeMap::new();
        for transcript in state.participants.values().filter_map(of) {
            *lengths.entry(transcript.len()).or_default() += 1;
        }
        if !lengths.is_empty() {
            let bar = |(turns, n): (usize, u32)| (count_of(turns as u64, "turn"), f64::from(n));
            let bars = lengths.into_iter().map(bar).collect();
            charts.push(Chart {
                name: format!("{name}_lengths"),
                title: title.to_owned(),
                data: ChartData::Bars { axis: "dialogues".to_owned(), bars },
            });
        }
    }
    Ok(charts)
}

/// Votes of one condition, from first to final; `None` if nobody voted twice.
fn flow(state: &DeliberationState, condition: Condition) -> Option<Chart> {
    let mut links: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    let complete =
        |p: &&Participant| p.condition == condition && p.status == ParticipantStatus::Complete;
    for participant in state.participants.values().filter(complete) {
        let votes = (participant.initial_choice.as_deref(), participant.final_choice.as_deref());
        if let (Some(first), Some(last)) = votes {
            *links.entry((first, last)).or_default() += 1;
        }
    }
    let name = condition.as_str();
    (!links.is_empty()).then(|| Chart {
        name: format!("votes_{name}"),
        title: format!("Participants by their first and final vote, {name}"),
        data: ChartData::Flow {
            from: "first vote".to_owned(),
            to: "final vote".to_owned(),
            links: links.into_iter().map(|((a, b), n)| (a.to_owned(), b.to_owned(), n)).collect(),
        },
    })
}

/// The summaries of participants in the plane in which they differ most, by the option that they
/// chose; `None` if nobody's has a vector.
fn clusters(state: &DeliberationState) -> Option<Chart> {
    let vectors = &state.vectors.summaries;
    let known: Vec<(&str, Point)> = state
        .clusters
        .iter()
        .flat_map(|cluster| cluster.member_ids.iter().map(|id| (cluster.cluster_id.as_str(), id)))
        .filter_map(|(cluster, id)| Some((cluster, point(vectors.get(id)?.floats()))))
        .collect();
    let points: Vec<Point> = known.iter().map(|(_, point)| point.clone()).collect();
    let mut groups: BTreeMap<&str, Vec<[f64; 2]>> = BTreeMap::new();
    for ((cluster, _), place) in known.iter().zip(in_a_plane(&points)) {
        groups.entry(cluster).or_default().push(place);
    }
    (!groups.is_empty()).then(|| Chart {
        name: "clusters".to_owned(),
        title: "Reasons in the plane in which they differ most, by cluster".to_owned(),
        data: ChartData::Points {
            x: "first principal component".to_owned(),
            y: "second principal component".to_owned(),
            groups: groups.into_iter().map(|(name, points)| (name.to_owned(), points)).collect(),
        },
    })
}
