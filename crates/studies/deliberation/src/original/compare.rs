//! Compares our outputs with those of the original.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Value, json};

use super::files::{ClusterRow, Files, ParticipantEntry};
use retold::escaping::printable;
use retold_study::original::{OriginalComparison, Outputs};

/// The longest excerpt of a differing value.
const SHOWN: usize = 60;

/// Compares `summary.json` and `participants.json` field by field, and the clusters of each option
/// with their descriptions and vectors, ignoring their order.
pub(super) fn compare(files: &Files, ours: Outputs<'_>) -> OriginalComparison {
    let mut comparison =
        OriginalComparison { not_compared: not_compared(files), ..OriginalComparison::default() };
    let mut missing = Missing::default();
    let mut read = |name: &str| comparison.read(ours.json(name));
    let (summary, participants) = (read("summary.json"), read("participants.json"));
    let clusters = if files.has_summaries() { read("cluster_embeddings.json") } else { None };
    if let Some(summary) = summary {
        fields(&mut comparison, &mut missing, "summary.json", &files.summary, &summary);
    }
    if let Some(file) = participants {
        for (number, (row, keys)) in files.participants.iter().zip(&files.keys).enumerate() {
            participant(&mut comparison, &mut missing, row, keys, &file["participants"][number]);
        }
    }
    if let Some(file) = clusters {
        groups(&mut comparison, files, &file["clusters"]);
    }
    comparison.not_compared.extend(missing.lines());
    comparison
}

/// What our outputs have but the original's do not.
#[derive(Default)]
struct Missing {
    /// Keys in the summary, with their places.
    of_summary: Vec<String>,
    /// Keys of participants, and how many lack them.
    of_participants: BTreeMap<String, u32>,
    /// Conditions without second votes: the original has a rate of 0 for them.
    without_second_votes: u32,
}

impl Missing {
    fn lines(self) -> Vec<String> {
        let Missing { of_summary, of_participants, without_second_votes } = self;
        let mut lines: Vec<String> =
            of_summary.iter().map(|place| format!("{place}: not in the original")).collect();
        lines.extend(of_participants.iter().map(|(key, people)| {
            format!("{} of {people} participants: not in the original", printable(key, SHOWN))
        }));
        if without_second_votes > 0 {
            lines.push(format!(
                "{RATE} of {without_second_votes} conditions in which nobody voted twice: 0 in the original, null here"
            ));
        }
        lines
    }
}

/// The share of participants who changed their position.
const RATE: &str = "position_changed_rate";

/// The keys in the summary that count options: an option is included only if it has votes.
const COUNTED: [&str; 2] = ["initial_vote_distribution", "final_vote_distribution"];

/// The parts of the files that are not compared.
fn not_compared(files: &Files) -> Vec<String> {
    let mut left = vec!["times".to_owned()];
    if files.has_summaries() {
        left.push(
            "the numbers in the ids of clusters, which may count in another order".to_owned(),
        );
    }
    let failed = files.participants.iter().filter(|p| p.error_message.is_some()).count();
    if failed > 0 {
        left.push(format!("the error_message of {failed}: ours begins with the call"));
    }
    let mut unknown: BTreeMap<&str, u32> = BTreeMap::new();
    let keys = files.participants.iter().flat_map(|p| p.unknown.keys());
    keys.for_each(|key| *unknown.entry(key).or_default() += 1);
    left.extend(unknown.iter().map(|(key, people)| {
        format!(
            "{} of {people} participants, which this program does not recognise",
            printable(key, SHOWN)
        )
    }));
    left
}

/// Compares every field of theirs. Fields that only ours has are reported; an option counted by
/// only one side is a difference.
fn fields(
    comparison: &mut OriginalComparison,
    missing: &mut Missing,
    place: &str,
    theirs: &Value,
    ours: &Value,
) {
    let (Value::Object(their_map), Value::Object(our_map)) = (theirs, ours) else {
        return same(comparison, place, theirs, ours);
    };
    let is_counted = COUNTED.iter().any(|key| place.ends_with(key));
    let nobody = theirs["final_vote_distribution"] == json!({}) && ours[RATE].is_null();
    for (key, value) in their_map {
        if nobody && key == RATE && value.as_f64() == Some(0.0) {
            missing.without_second_votes += 1;
            continue;
        }
        let own = our_map.get(key).unwrap_or(&Value::Null);
        fields(comparison, missing, &format!("{place} {key}"), value, own);
    }
    for (key, value) in our_map.iter().filter(|(key, _)| !their_map.contains_key(*key)) {
        let place = format!("{place} {key}");
        if is_counted {
            same(comparison, &place, &Value::Null, value)
        } else {
            missing.of_summary.push(place)
        }
    }
}

fn participant(
    comparison: &mut OriginalComparison,
    missing: &mut Missing,
    row: &ParticipantEntry,
    keys: &BTreeSet<String>,
    ours: &Value,
) {
    if ours.is_null() {
        comparison.differences.push(format!("{}: missing here", row.participant_id));
        return;
    }
    let theirs = json!({
        "participant_id": row.participant_id,
        "condition": row.condition,
        "base_persona": row.base_persona,
        "demographics": row.demographics,
        "enriched_persona": row.enriched_persona,
        "initial_choice": row.initial_choice,
        "initial_explanation": row.initial_explanation,
        "final_choice": row.final_choice,
        "position_changed": row.position_changed,
        "clarification_transcript": row.clarification_transcript,
        "adversarial_transcript": row.adversarial_transcript,
        "individual_summary": row.individual_summary,
        "opposition_view": row.opposition_view,
        "cross_pollination_content": row.cross_pollination_content,
        "status": row.status,
    });
    let id = &row.participant_id;
    for (key, value) in theirs.as_object().into_iter().flatten() {
        if !keys.contains(key) {
            *missing.of_participants.entry(key.clone()).or_default() += 1;
            continue;
        }
        same(comparison, &format!("{id} {key}"), value, &ours[key]);
    }
    if let Some(vector) = &row.individual_summary_embedding {
        let own: Option<Vec<f32>> =
            serde_json::from_value(ours["individual_summary_embedding"].clone()).ok();
        let place = format!("{id} individual_summary_embedding");
        vectors(comparison, &place, vector, own.as_ref());
    }
}

/// Compares the members of each option's clusters, and the description and vector of each of
/// theirs.
fn groups(comparison: &mut OriginalComparison, files: &Files, ours: &Value) {
    type Groups<'a> = BTreeMap<&'a str, BTreeMap<Vec<&'a str>, &'a ClusterRow>>;
    fn by_option(clusters: &[ClusterRow]) -> Groups<'_> {
        let mut groups = Groups::new();
        for cluster in clusters {
            let mut ids: Vec<&str> = cluster.member_ids.iter().map(String::as_str).collect();
            ids.sort_unstable();
            groups.entry(&cluster.option).or_default().insert(ids, cluster);
        }
        groups
    }
    // A cluster of ours without a description does not count: theirs all have one.
    let own = ours.as_array().into_iter().flatten();
    let own: Vec<ClusterRow> = own.filter_map(|c| ClusterRow::deserialize(c).ok()).collect();
    let (theirs, own) = (by_option(&files.clusters), by_option(&own));
    for option in &files.config.topic.options {
        let (theirs, own) = (theirs.get(option.as_str()), own.get(option.as_str()));
        let members = |groups: Option<&BTreeMap<Vec<&str>, &ClusterRow>>| {
            json!(groups.map(|groups| groups.keys().collect::<Vec<_>>()))
        };
        let place = format!("clusters of {}", printable(option, SHOWN));
        same(comparison, &place, &members(theirs), &members(own));
        for (ids, their) in theirs.into_iter().flatten() {
            let Some(own) = own.and_then(|own| own.get(ids)) else { continue };
            let place = format!("cluster of {}", ids.join(", "));
            let description = format!("{place} description");
            same(comparison, &description, &json!(their.description), &json!(own.description));
            vectors(comparison, &place, &their.embedding, Some(&own.embedding));
        }
    }
}

fn vectors(
    comparison: &mut OriginalComparison,
    place: &str,
    theirs: &[f32],
    ours: Option<&Vec<f32>>,
) {
    let is_same = ours.map(Vec::as_slice) == Some(theirs);
    comparison.value(is_same, || format!("{place}: another vector here"));
}

fn same(comparison: &mut OriginalComparison, place: &str, theirs: &Value, ours: &Value) {
    comparison.value(theirs == ours, || {
        let (theirs, ours) = (theirs.to_string(), ours.to_string());
        let alike = theirs.chars().zip(ours.chars()).take_while(|(a, b)| a == b).count();
        let shown = |value: &str| from(value, alike.saturating_sub(SHOWN / 3));
        format!("{place}: {} there, {} here", shown(&theirs), shown(&ours))
    });
}

/// The part of a text from a character on.
fn from(text: &str, start: usize) -> String {
    let rest: String = text.chars().skip(start).collect();
    let before = if start > 0 { "…" } else { "" };
    format!("{before}{}", printable(&rest, SHOWN))
}
