//! Our outputs against those of the original.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};

use super::files::{ClusterRow, Files, Row};
use crate::experiments::reenact::Comparison;
use crate::inert::inert;
use crate::run::OutputFile;

/// The longest value shown of a difference.
const SHOWN: usize = 60;

/// Compares `summary.json` and `participants.json` field by field, and the clusters of each option, their
/// descriptions and vectors, up to their order.
pub(super) fn compare(files: &Files, ours: &[OutputFile]) -> Comparison {
    let mut comparison = Comparison { not_compared: not_compared(files), ..Comparison::default() };
    let mut read = |name: &str| match output(ours, name) {
        Ok(value) => Some(value),
        Err(reason) => {
            comparison.differences.push(format!("{name}: {reason}"));
            None
        }
    };
    let (summary, participants) = (read("summary.json"), read("participants.json"));
    let clusters = match files.has_summaries() {
        true => read("cluster_embeddings.json"),
        false => None,
    };
    if let Some(summary) = summary {
        fields(&mut comparison, "summary.json", &files.summary, &summary);
    }
    if let Some(file) = participants {
        for (number, row) in files.participants.iter().enumerate() {
            participant(&mut comparison, row, &file["participants"][number]);
        }
    }
    if let Some(file) = clusters {
        groups(&mut comparison, files, &file["clusters"]);
    }
    comparison
}

/// What the files hold that is not compared.
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
        format!("{} of {people} participants, which this program does not know", inert(key, SHOWN))
    }));
    left
}

fn output(ours: &[OutputFile], name: &str) -> Result<Value, String> {
    let file = ours.iter().find(|file| file.name == name).ok_or("our run writes none")?;
    let bytes = file.content.bytes().map_err(|e| format!("ours cannot be read: {e}"))?;
    serde_json::from_slice(&bytes).map_err(|e| format!("ours is no JSON: {e}"))
}

/// Every field of theirs; ours may have more, as long as they are empty.
fn fields(comparison: &mut Comparison, place: &str, theirs: &Value, ours: &Value) {
    let (Value::Object(their_map), Value::Object(our_map)) = (theirs, ours) else {
        return same(comparison, place, theirs, ours);
    };
    for (key, value) in their_map {
        let own = our_map.get(key).unwrap_or(&Value::Null);
        fields(comparison, &format!("{place} {key}"), value, own);
    }
    for (key, value) in our_map.iter().filter(|(key, _)| !their_map.contains_key(*key)) {
        same(comparison, &format!("{place} {key}"), &Value::Null, value);
    }
}

fn participant(comparison: &mut Comparison, row: &Row, ours: &Value) {
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
        same(comparison, &format!("{id} {key}"), value, &ours[key]);
    }
    if let Some(vector) = &row.individual_summary_embedding {
        let own: Option<Vec<f32>> =
            serde_json::from_value(ours["individual_summary_embedding"].clone()).ok();
        let place = format!("{id} individual_summary_embedding");
        vectors(comparison, &place, vector, own.as_ref());
    }
}

/// The members of the clusters of each option; of each of theirs the description and the vector, too.
fn groups(comparison: &mut Comparison, files: &Files, ours: &Value) {
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
    // Ours without a description is none: theirs all have one.
    let own = ours.as_array().into_iter().flatten();
    let own: Vec<ClusterRow> = own.filter_map(|c| ClusterRow::deserialize(c).ok()).collect();
    let (theirs, own) = (by_option(&files.clusters), by_option(&own));
    for option in &files.config.topic.options {
        let (theirs, own) = (theirs.get(option.as_str()), own.get(option.as_str()));
        let members = |groups: Option<&BTreeMap<Vec<&str>, &ClusterRow>>| {
            json!(groups.map(|groups| groups.keys().collect::<Vec<_>>()))
        };
        let place = format!("clusters of {}", inert(option, SHOWN));
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

fn vectors(comparison: &mut Comparison, place: &str, theirs: &[f32], ours: Option<&Vec<f32>>) {
    comparison.compared += 1;
    if ours.map(Vec::as_slice) != Some(theirs) {
        comparison.differences.push(format!("{place}: another vector here"));
    }
}

fn same(comparison: &mut Comparison, place: &str, theirs: &Value, ours: &Value) {
    comparison.compared += 1;
    if theirs != ours {
        let (theirs, ours) = (theirs.to_string(), ours.to_string());
        let alike = theirs.chars().zip(ours.chars()).take_while(|(a, b)| a == b).count();
        let shown = |value: &str| from(value, alike.saturating_sub(SHOWN / 3));
        let (theirs, ours) = (shown(&theirs), shown(&ours));
        comparison.differences.push(format!("{place}: {theirs} there, {ours} here"));
    }
}

/// A text from a character on.
fn from(text: &str, start: usize) -> String {
    let rest: String = text.chars().skip(start).collect();
    let before = if start > 0 { "…" } else { "" };
    format!("{before}{}", inert(&rest, SHOWN))
}
