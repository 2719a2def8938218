//! The facts of two runs, aligned by what caused them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::id::{CallPath, Sample, Seq};
use crate::run::RehearsedFact;

/// A fact of a run.
#[derive(Debug, Clone)]
pub struct FactRecord {
    /// Its place in the log, if it is in one.
    pub seq: Option<Seq>,
    /// The call of the first decision that caused it.
    pub cause: Option<(CallPath, Sample)>,
    /// Its canonical JSON.
    pub fact: Arc<str>,
}

impl From<RehearsedFact> for FactRecord {
    fn from(RehearsedFact { cause, fact }: RehearsedFact) -> Self {
        FactRecord { seq: None, cause, fact: fact.into() }
    }
}

/// A fact that is not the same in both runs.
#[derive(Debug, Clone, Serialize)]
pub struct FactChange {
    /// The call that caused it, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<CallPath>,
    /// Its place in the first run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    /// In the first run.
    pub one: Option<Value>,
    /// In the second run.
    pub other: Option<Value>,
    /// The kind of the fact.
    pub kind: String,
    /// The kind of the call that caused it: its path without names and numbers.
    pub phase: String,
}

/// How the facts of two runs differ.
#[derive(Debug, Clone, Default, Serialize)]
pub struct FactChanges {
    /// Facts of the first run.
    pub one: u64,
    /// Facts of the second run.
    pub other: u64,
    /// Facts that are the same in both.
    pub same: u64,
    /// By phase (the kind of call that facts rest on) and kind of fact: how many changed, are only
    /// in the first run, and are only in the second.
    pub by_phase: BTreeMap<String, BTreeMap<String, [u64; 3]>>,
    /// Every fact that is not the same, in the order of the first run.
    pub changes: Vec<FactChange>,
}

impl FactChanges {
    /// Whether all facts are the same.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

/// The name of facts that no call caused.
const WITHOUT_CALL: &str = "(no call)";

/// What identifies a fact within its run: its kind, the call that caused it (whichever of its
/// samples was usable), and which one of those it is.
type Key = (String, Option<CallPath>, usize);

/// Compares facts.
pub fn fact_changes(one: Vec<FactRecord>, other: Vec<FactRecord>) -> FactChanges {
    let mut changes =
        FactChanges { one: one.len() as u64, other: other.len() as u64, ..FactChanges::default() };
    let mut waiting: BTreeMap<Key, FactRecord> = BTreeMap::new();
    let mut order = Vec::new();
    let mut numbers = FactNumbers::default();
    for record in other {
        let key = numbers.key(&record);
        order.push(key.clone());
        waiting.insert(key, record);
    }
    numbers = FactNumbers::default();
    for record in one {
        let key = numbers.key(&record);
        match waiting.remove(&key) {
            Some(twin) if twin.fact == record.fact => changes.same += 1,
            twin => changes.add(key, Some(record), twin),
        }
    }
    for key in order {
        if let Some(record) = waiting.remove(&key) {
            changes.add(key, None, Some(record));
        }
    }
    changes
}

impl FactChanges {
    fn add(&mut self, key: Key, one: Option<FactRecord>, other: Option<FactRecord>) {
        let (kind, call, _) = key;
        let phase = call.as_ref().map_or_else(|| WITHOUT_CALL.to_owned(), CallPath::kind);
        let counts = self.by_phase.entry(phase.clone()).or_default();
        let counts = counts.entry(kind.clone()).or_default();
        match (&one, &other) {
            (Some(_), Some(_)) => counts[0] += 1,
            (Some(_), None) => counts[1] += 1,
            (None, _) => counts[2] += 1,
        }
        let seq = one.as_ref().and_then(|one| one.seq);
        let value = |record: FactRecord| serde_json::from_str(&record.fact).ok();
        let (one, other) = (one.and_then(value), other.and_then(value));
        self.changes.push(FactChange { call, seq, one, other, kind, phase });
    }
}

/// Counts the facts with one kind and one cause.
#[derive(Default)]
struct FactNumbers(BTreeMap<(String, Option<CallPath>), usize>);

impl FactNumbers {
    fn key(&mut self, record: &FactRecord) -> Key {
        let (kind, call) =
            (kind_of_fact(&record.fact), record.cause.as_ref().map(|(call, _)| call.clone()));
        let number = self.0.entry((kind.clone(), call.clone())).or_default();
        *number += 1;
        (kind, call, *number)
    }
}

/// The kind of a fact in canonical JSON: its `fact` or its `type`, the only key of an object, or
/// `fact`.
pub fn kind_of_fact(fact: &str) -> String {
    let Ok(Value::Object(object)) = serde_json::from_str(fact) else { return "fact".to_owned() };
    for tag in ["fact", "type", "kind"] {
        if let Some(Value::String(kind)) = object.get(tag) {
            return kind.clone();
        }
    }
    match object.keys().next() {
        Some(key) if object.len() == 1 => key.clone(),
        _ => "fact".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(call: Option<&str>, fact: &str) -> FactRecord {
        let cause = call.map(|call| (CallPath::new(call).unwrap(), 0));
        FactRecord { seq: Some(Seq(1)), cause, fact: fact.into() }
    }

    #[test]
    fn facts_are_aligned_by_what_caused_them() {
        let one = vec![
            record(Some("vote/p_1"), r#"{"choice":"tea","fact":"voted"}"#),
            record(Some("vote/p_2"), r#"{"choice":"tea","fact":"voted"}"#),
            record(Some("vote/p_3"), r#"{"choice":"tea","fact":"voted"}"#),
            record(None, r#"{"fact":"ended"}"#),
        ];
        let other = vec![
            record(Some("vote/p_3"), r#"{"choice":"tea","fact":"voted"}"#),
            record(Some("vote/p_2"), r#"{"choice":"coffee","fact":"voted"}"#),
            record(Some("talk/p_2/1/host"), r#"{"fact":"spoke"}"#),
            record(None, r#"{"fact":"ended"}"#),
        ];
        let changes = fact_changes(one, other);
        assert_eq!((changes.one, changes.other, changes.same), (4, 4, 2));
        assert_eq!(changes.by_phase["vote"]["voted"], [1, 1, 0]);
        assert_eq!(changes.by_phase["talk/host"]["spoke"], [0, 0, 1]);
        let calls = changes.changes.iter().map(|c| c.call.as_ref().unwrap().as_str());
        assert_eq!(calls.collect::<Vec<_>>(), ["vote/p_1", "vote/p_2", "talk/p_2/1/host"]);
    }

    #[test]
    fn kinds_are_read_from_facts_and_calls() {
        assert_eq!(kind_of_fact(r#"{"Voted":{"choice":"tea"}}"#), "Voted");
        assert_eq!(kind_of_fact(r#"{"a":1,"fact":"voted"}"#), "voted");
        assert_eq!(kind_of_fact("null"), "fact");
        assert_eq!(CallPath::new("solve/17").unwrap().kind(), "solve");
        assert_eq!(CallPath::new("17").unwrap().kind(), "17");
    }
}
