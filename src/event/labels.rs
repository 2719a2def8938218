//! What calls belong to, as whoever asks says it. Nothing is guessed from the form of a call's name.

use std::collections::BTreeMap;

use crate::id::CallPath;

/// The labels of a call, such as its participant or its condition: values by name, as the caller gives them. They are part
/// of the chain, but not of the prompt: no model sees them.
pub type Labels = BTreeMap<String, String>;

/// Names of labels whose values are independent of each other: events in one game say nothing about another. The first that
/// a call has counts.
pub const CLUSTERS: [&str; 6] = ["cluster", "game", "pair", "dialogue", "group", "puzzle"];

/// Names of labels that say who is asked. The first that a call has counts.
pub const PARTICIPANTS: [&str; 4] = ["participant", "agent", "player", "person"];

/// Names of labels that give the phase of the experiment, and so the kind of call.
const ASKED_FOR: [&str; 2] = ["phase", "stage"];

/// The name and the value of the first of these labels that a call has.
fn first<'a>(labels: &'a Labels, names: &[&str]) -> Option<(&'a str, &'a str)> {
    let found = names.iter().find_map(|name| labels.get_key_value(*name));
    found.map(|(name, value)| (name.as_str(), value.as_str()))
}

/// The phase of a call: its label `phase` or `stage`.
pub fn asked_for(labels: &Labels) -> Option<(&str, &str)> {
    first(labels, &ASKED_FOR)
}

/// The declared cluster of a call: its label with one of the names of [`CLUSTERS`].
pub fn cluster_of(labels: &Labels) -> Option<(&str, &str)> {
    first(labels, &CLUSTERS)
}

/// Who is asked: the label with one of the names of [`PARTICIPANTS`].
pub fn participant_of(labels: &Labels) -> Option<(&str, &str)> {
    first(labels, &PARTICIPANTS)
}

/// The lane that labels name: the cluster, or else the participant.
pub(crate) fn named_lane(labels: &Labels) -> Option<String> {
    let (name, value) = cluster_of(labels).or_else(|| participant_of(labels))?;
    // A number alone says nothing.
    let is_number = !value.contains(char::is_alphabetic);
    Some(if is_number { format!("{name} {value}") } else { value.to_owned() })
}

/// The lane of a call: all calls that build on each other's answers have the same. It is the call's cluster, or
/// else its participant; a call with neither is a lane of its own.
pub fn call_lane(labels: &Labels, call: &CallPath) -> String {
    named_lane(labels).unwrap_or_else(|| call.to_string())
}

/// The kind of a call, a heading for lists: its name without the parts that are values of its labels, and without those that
/// have digits in them; the whole name if nothing else is left. A `phase` or `stage` label leaves its value in the name. No
/// number depends on it but those under the heading.
pub fn call_kind(labels: &Labels, call: &CallPath) -> String {
    if labels.is_empty() {
        return call.kind();
    }
    let others = || labels.iter().filter(|(name, _)| !ASKED_FOR.contains(&name.as_str()));
    let is_value = |part: &str| others().any(|(_, value)| value == part);
    let has_digit = |part: &str| part.contains(|c: char| c.is_ascii_digit());
    let parts = call.as_str().split('/').filter(|part| !is_value(part) && !has_digit(part));
    let parts: Vec<&str> = parts.collect();
    if parts.is_empty() { call.kind() } else { parts.join("/") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lane(labels: &[(&str, &str)]) -> String {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        call_lane(&labels.collect(), &CallPath::new("vote/p_0007/2").unwrap())
    }

    #[test]
    fn the_call_lane_a_call_is_its_cluster_or_its_participant_or_itself() {
        assert_eq!(lane(&[("participant", "p_0007"), ("condition", "acp")]), "p_0007");
        assert_eq!(lane(&[("agent", "3"), ("day", "2")]), "agent 3");
        assert_eq!(lane(&[("agent", "3"), ("game", "2")]), "game 2");
        assert_eq!(lane(&[("day", "2")]), "vote/p_0007/2", "not the second part of its name");
    }

    #[test]
    fn the_kind_of_a_call_has_no_value_of_a_label() {
        let kind = |call: &str, labels: &[(&str, &str)]| {
            let labels =
                labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            call_kind(&labels.collect(), &CallPath::new(call).unwrap())
        };
        let labels = [("participant", "Ada"), ("condition", "plain")];
        assert_eq!(kind("vote/Ada/plain", &labels), "vote");
        assert_eq!(kind("vote/Ada/plain", &[]), "vote/Ada/plain");
        assert_eq!(kind("Ada/plain", &labels), "Ada/plain");
        assert_eq!(kind("vote/p_0007/2", &labels), "vote");
        assert_eq!(kind("vote/Ada", &[("phase", "vote"), ("participant", "Ada")]), "vote");
    }
}
