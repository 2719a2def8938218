//! Why a participant is in a cluster: how far the vector of the participant's summary is from the mean of each cluster of
//! the chosen option.

use std::fmt::Write;

use retold::counted::count_of;
use retold::escaping::printable;
use retold::run::{OutputError, Report, RunRecord};
use retold_stats::{Point, silhouette, squared_distance, weighted_mean};
use serde_json::json;

use super::{SHOWN_POSSIBILITIES, agrees, before, facts, vector_of};
use crate::experiment::Deliberation;
use crate::facts::Fact;
use crate::grouping::NewCluster;

/// A cluster, and how far a participant is from its mean.
struct ClusterDistance {
    cluster_id: String,
    members: usize,
    is_own: bool,
    distance: f64,
}

/// See the module.
pub(super) fn cluster(
    study: &Deliberation,
    participant: &str,
    record: &RunRecord<'_>,
) -> Result<Option<Report>, OutputError> {
    let facts = facts(record)?;
    let own = facts.iter().find_map(|(seq, fact)| match fact {
        Fact::ClusterFormed { cluster_id, option, member_ids }
            if member_ids.iter().any(|id| id == participant) =>
        {
            Some((*seq, cluster_id, option, member_ids))
        }
        _ => None,
    });
    let Some((seq, cluster_id, option, member_ids)) = own else { return Ok(None) };
    let state = before(&facts, &record.facts, |fact| matches!(fact, Fact::ClusterFormed { .. }))?;
    let (members, formed) = study.clusters_of(&state, option);
    let is_same =
        formed.iter().any(|it| it.cluster_id == *cluster_id && it.member_ids == *member_ids);
    let distances = distances(participant, &members, &formed);
    let score = score(&members, &formed);
    let algorithm = json!(study.config.clustering_algorithm);
    let algorithm = algorithm.as_str().unwrap_or_default();
    let vector = vector_of(&facts, participant);
    let mut text = format!("derived decision {participant}/cluster\n");
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "cluster    {}  seq {seq}", printable(cluster_id, 80));
    let _ = writeln!(text, "option     {}", printable(option, 80));
    let _ = writeln!(
        text,
        "method     {algorithm}, {} of {}",
        count_of(formed.len() as u64, "cluster"),
        if members.len() == 1 {
            "1 summary".to_owned()
        } else {
            format!("{} summaries", members.len())
        }
    );
    if let Some(score) = score {
        let _ =
            writeln!(text, "silhouette {score:.4}, the highest of the numbers of clusters tried");
    }
    if let Some(vector) = vector {
        let _ = writeln!(text, "made from  the vector of the participant's summary, seq {vector}");
    }
    let _ = writeln!(text, "{}", agrees(is_same));
    text.push_str(
        "\nEuclidean distance to the mean of each cluster of this option, the nearest first:\n",
    );
    for it in distances.iter().take(SHOWN_POSSIBILITIES) {
        let mark = if it.is_own { "  the participant's" } else { "" };
        let (id, members) = (printable(&it.cluster_id, 80), it.members);
        let s = if members == 1 { "" } else { "s" };
        let _ = writeln!(text, "  {:>9.4}  {id}  {members} member{s}{mark}", it.distance);
    }
    let json = json!({
        "derived": format!("{participant}/cluster"),
        "seq": seq,
        "value": cluster_id,
        "option": option,
        "method": algorithm,
        "silhouette": score,
        "computed_again": if is_same { "same" } else { "different" },
        "measure": "Euclidean distance",
        "possibilities": distances.iter().map(|it| {
            json!({"cluster": it.cluster_id, "members": it.members, "value": it.distance})
        }).collect::<Vec<_>>(),
        "made_from": vector,
    });
    Ok(Some(Report { json, text, ..Report::default() }))
}

/// The clusters, the nearest first.
fn distances(
    participant: &str,
    members: &[(String, Point)],
    formed: &[NewCluster],
) -> Vec<ClusterDistance> {
    let Some((_, own)) = members.iter().find(|(id, _)| id == participant) else {
        return Vec::new();
    };
    let distance = |it: &NewCluster| {
        let points = members.iter().filter(|(id, _)| it.member_ids.contains(id));
        let mean = weighted_mean(points.map(|(_, point)| (point.as_slice(), 1.0)))?;
        Some(ClusterDistance {
            cluster_id: it.cluster_id.clone(),
            members: it.member_ids.len(),
            is_own: it.member_ids.iter().any(|id| id == participant),
            distance: squared_distance(own, &mean).sqrt(),
        })
    };
    let mut all: Vec<ClusterDistance> = formed.iter().filter_map(distance).collect();
    all.sort_by(|one, other| one.distance.total_cmp(&other.distance));
    all
}

/// The silhouette score of the clusters, if there are several.
fn score(members: &[(String, Point)], formed: &[NewCluster]) -> Option<f64> {
    let label = |id: &String| formed.iter().position(|it| it.member_ids.contains(id));
    let labels: Option<Vec<usize>> = members.iter().map(|(id, _)| label(id)).collect();
    let points: Vec<Point> = members.iter().map(|(_, point)| point.clone()).collect();
    silhouette(&points, &labels?)
}
