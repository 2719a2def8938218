//! Our outputs against those of the original.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::files::{Files, Row};
use crate::experiments::reenact::Comparison;
use crate::inert::inert;
use crate::run::OutputFile;

/// The longest value shown of a difference.
const SHOWN: usize = 60;

/// Compares `summary.json` and `participants.json` field by field, and the clusters of each option up
/// to their order.
pub(super) fn compare(files: &Files, ours: &[OutputFile]) -> Comparison {
    let mut comparison = Comparison::default();
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

fn output(ours: &[OutputFile], name: &str) -> Result<Value, String> {
    let file = ours.iter().find(|file| file.name == name).ok_or("our run writes none")?;
    serde_json::from_slice(&file.bytes).map_err(|e| format!("ours is no JSON: {e}"))
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
        comparison.compared += 1;
        if own.as_ref() != Some(vector) {
            let difference = format!("{id} individual_summary_embedding: another vector here");
            comparison.differences.push(difference);
        }
    }
}

/// The members of the clusters of each option.
fn groups(comparison: &mut Comparison, files: &Files, ours: &Value) {
    type Groups = BTreeMap<String, BTreeSet<Vec<String>>>;
    let (mut theirs, mut own) = (Groups::new(), Groups::new());
    for cluster in &files.clusters {
        let mut ids = cluster.member_ids.clone();
        ids.sort();
        theirs.entry(cluster.option.clone()).or_default().insert(ids);
    }
    for cluster in ours.as_array().into_iter().flatten() {
        let option = cluster["option"].as_str().unwrap_or_default().to_owned();
        let ids = cluster["member_ids"].as_array().into_iter().flatten();
        let mut ids: Vec<String> = ids.filter_map(|id| Some(id.as_str()?.to_owned())).collect();
        ids.sort();
        own.entry(option).or_default().insert(ids);
    }
    for option in &files.config.topic.options {
        let place = format!("clusters of {}", inert(option, SHOWN));
        same(comparison, &place, &json!(theirs.get(option)), &json!(own.get(option)));
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
