//! Digests of an experiment's state, computed at its marks and at its end, and recorded or
//! compared.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Serialize, Serializer};

use super::divergence::Divergence;
use super::state_difference::StateDifference;
use super::stop::Stop;
use crate::event::{FoldedState, StateEntries, StateMark};
use crate::id::StateDigest;
use crate::prompt::{canonical, hash_of};

/// The name of the single entry for a state that is not a JSON object.
const WHOLE: &str = "state";

/// The digests of a run's state so far.
#[derive(Debug, Default)]
pub(super) struct States {
    /// The recorded digests to compare with, if the run has them.
    recorded: Option<FoldedState>,
    /// The digests computed so far; `None` if they are not needed.
    taken: Option<RefCell<FoldedState>>,
}

impl States {
    /// For a run whose end will be written in this execution.
    pub(super) fn to_record() -> Self {
        States { recorded: None, taken: Some(RefCell::default()) }
    }

    /// For a run that has ended, with its recorded digests. If there are none, none are computed.
    pub(super) fn to_compare(recorded: Option<FoldedState>) -> Self {
        let taken = recorded.as_ref().map(|_| RefCell::default());
        States { recorded, taken }
    }

    /// Computes the digest at a point that the experiment names.
    pub(super) fn mark(&self, name: &str, state: &impl Serialize) -> Result<(), Stop> {
        if let Some(taken) = &self.taken {
            let mark = StateMark { entries: entries(state)?, name: name.to_owned() };
            taken.borrow_mut().marks.push(mark);
        }
        Ok(())
    }

    /// Computes the digest at the end.
    pub(super) fn end(&self, state: &impl Serialize) -> Result<(), Stop> {
        if let Some(taken) = &self.taken {
            taken.borrow_mut().end = entries(state)?;
        }
        Ok(())
    }

    /// The digests to be recorded.
    pub(super) fn digests(&self) -> Option<FoldedState> {
        self.taken.as_ref().map(|taken| taken.borrow().clone())
    }

    /// Compares the computed digests with the record; false if there is no record.
    ///
    /// # Errors
    /// A [`Divergence`] that names what differs.
    pub(super) fn compare(&self) -> Result<bool, Stop> {
        let (Some(recorded), Some(taken)) = (&self.recorded, &self.taken) else {
            return Ok(false);
        };
        let differences = state_differences(recorded, &taken.borrow());
        if differences.is_empty() { Ok(true) } else { Err(Divergence::state(differences).into()) }
    }
}

/// Serialises a map as a list of pairs, for `#[serde(serialize_with = "as_pairs")]`: in JSON, only
/// texts and numbers can be keys.
///
/// # Errors
/// Any error of the serializer.
pub fn as_pairs<K: Serialize, V: Serialize, S: Serializer>(
    map: &BTreeMap<K, V>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(map)
}

/// The digest of each top-level entry of a state.
fn entries(state: &impl Serialize) -> Result<StateEntries, Stop> {
    let text = canonical(state).map_err(|e| Stop::invalid("state", e))?;
    let digest = |value: &str| StateDigest(hash_of(value.as_bytes()));
    let Some(mut rest) = text.strip_prefix('{') else {
        return Ok([(WHOLE.to_owned(), digest(&text))].into());
    };
    let mut entries = StateEntries::new();
    while rest != "}" {
        let (key, after) = rest.split_at(value_end(rest));
        let after = after.strip_prefix(':').unwrap_or(after);
        let (value, after) = after.split_at(value_end(after));
        let key = serde_json::from_str(key).map_err(|e| Stop::invalid("state", e))?;
        entries.insert(key, digest(value));
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    Ok(entries)
}

/// Where the value at the beginning of a canonical text ends.
fn value_end(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match (quoted, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => quoted = !quoted,
            (true, _) => {}
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']' | b',' | b':') if depth == 0 => return at,
            (false, b'}' | b']') => depth -= 1,
            (false, _) => {}
        }
    }
    text.len()
}

/// The differences between two states. Each entry once: an entry that is wrong at a mark is often
/// wrong from then on.
pub fn state_differences(recorded: &FoldedState, now: &FoldedState) -> Vec<StateDifference> {
    let (mut found, mut known) = (Vec::new(), BTreeSet::new());
    let mut compare = |mark: Option<&str>, left: &StateEntries, right: &StateEntries| {
        let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
        for name in names {
            let (recorded, now) = (left.get(name).copied(), right.get(name).copied());
            if recorded != now && known.insert(name.clone()) {
                let (mark, entry) = (mark.map(str::to_owned), Some(name.clone()));
                found.push(StateDifference { mark, entry, recorded, now });
            }
        }
    };
    let mut missing = Vec::new();
    for at in 0..recorded.marks.len().max(now.marks.len()) {
        match (recorded.marks.get(at), now.marks.get(at)) {
            (Some(left), Some(right)) if left.name == right.name => {
                compare(Some(&left.name), &left.entries, &right.entries);
            }
            (left, right) => {
                let mark = left.or(right).map(|mark| mark.name.clone());
                missing.push(StateDifference { mark, entry: None, recorded: None, now: None });
                // After a missing mark, there is nothing to compare with.
                break;
            }
        }
    }
    compare(None, &recorded.end, &now.end);
    found.extend(missing);
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn folded(end: &Value, marks: &[(&str, Value)]) -> FoldedState {
        let states = States::to_record();
        for (name, state) in marks {
            states.mark(name, state).unwrap();
        }
        states.end(end).unwrap();
        states.digests().unwrap()
    }

    fn said(recorded: &FoldedState, now: &FoldedState) -> Vec<String> {
        state_differences(recorded, now).iter().map(|d| without_digests(&d.to_string())).collect()
    }

    /// A sentence without its digests.
    fn without_digests(text: &str) -> String {
        let word = |word: &str| match word.trim_end_matches(',') {
            hex if hex.len() == 12 && hex.chars().all(|c| c.is_ascii_hexdigit()) => {
                word.replace(hex, "#")
            }
            _ => word.to_owned(),
        };
        text.split(' ').map(word).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_top_level_entry_has_the_digest_of_its_canonical_json() {
        let state = json!({
            "votes": {"b": 1, "a": [1.0, "}\",{"]}, "a\"b": null, "k:,": {"x": {"y": []}},
            "text": "x\\\"", "": {}, "n": -1.5e-7,
        });
        let taken = entries(&state).unwrap();
        let expected: BTreeMap<String, StateDigest> = state
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| {
                (key.clone(), StateDigest(hash_of(canonical(value).unwrap().as_bytes())))
            })
            .collect();
        assert_eq!(taken, expected);
        assert_eq!(entries(&json!({})).unwrap(), StateEntries::new());
        assert_eq!(entries(&json!([1])).unwrap().keys().collect::<Vec<_>>(), ["state"]);
    }

    #[test]
    fn an_entry_is_named_where_it_first_differs() {
        let was =
            folded(&json!({"a": 1, "b": 2}), &[("one", json!({"a": 0})), ("two", json!({"a": 1}))]);
        assert_eq!(said(&was, &was), Vec::<String>::new());
        let now =
            folded(&json!({"a": 2, "b": 3}), &[("one", json!({"a": 0})), ("two", json!({"a": 2}))]);
        assert_eq!(
            said(&was, &now),
            ["mark two, entry a: recorded #, now #", "at the end, entry b: recorded #, now #"]
        );
        let now = folded(&json!({"a": 1, "c": 2}), &[("one", json!({"a": 0}))]);
        assert_eq!(
            said(&was, &now),
            [
                "at the end, entry b: recorded, and missing now",
                "at the end, entry c: not recorded",
                "mark two: only one of record and re-execution has it",
            ]
        );
    }

    #[test]
    fn a_state_without_a_json_form_is_refused() {
        let state = BTreeMap::from([((1, 2), 3)]);
        let Err(Stop::Invalid { what, .. }) = entries(&state) else { panic!("a pair is no key") };
        assert_eq!(what, "state");
    }
}
