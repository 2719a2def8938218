//! The event logs of a real society of 12 agents. Needs `../shared/data`.
//!
//! Their world has other actions (speak, whisper, move, support) and logs no raw answers, only the
//! fields of each answer. From these, the answer is put together as the agent must have given it.
//! Actions with a counterpart in our world are also translated, to check that those that fit are
//! accepted.

use std::collections::BTreeMap;

use retold::parse::Parser;
use retold_society::parse::{Action, ActionParams, parser};
use serde_json::{Value, json};

use crate::support::data::rows;

fn logs() -> impl Iterator<Item = Value> {
    ["haiku", "mistral"]
        .into_iter()
        .flat_map(|model| rows("society", &format!("{model}_en_simulation_log.jsonl.gz")))
}

/// The answer as the agent gave it.
fn answer(row: &Value) -> String {
    json!({ "action": row["action_type"], "target": row["target"], "content": row["content"],
        "thought": row["thought"] })
    .to_string()
}

/// Why an answer is rejected, by kind.
fn class(reason: &str) -> &'static str {
    let classes = ["prompt's notation or a list", "not one name", "there is no action", "missing"];
    classes.into_iter().find(|class| reason.contains(class)).unwrap_or("other")
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn every_action_that_the_real_society_rejected_is_rejected_with_a_reason() {
    let parser = parser(2, ActionParams::default()).unwrap();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for row in logs().filter(|row| row["success"] == false) {
        let parsed = parser.parse(&answer(&row));
        let Action::Rejected { reason, stated } = parsed.value else {
            panic!("accepted: {row}");
        };
        let carried = stated.map(|stated| stated["action"].clone());
        assert_eq!(carried.as_ref(), Some(&row["action_type"]), "{row}");
        assert!(!reason.is_empty());
        assert_eq!(parsed.method, "rejected");
        *reasons.entry(class(&reason)).or_default() += 1;
    }
    // 382 in all. Version 1 makes each of them idle as well, with another reason.
    let expected = BTreeMap::from([
        ("missing", 14),
        ("not one name", 1),
        ("prompt's notation or a list", 265),
        ("there is no action", 102),
    ]);
    assert_eq!(reasons, expected);
}

/// Copied notation, the fault of one of the two models, is distinguished from a wrong choice.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn copied_notation_in_the_real_society_is_named_as_such() {
    let parser = parser(2, ActionParams::default()).unwrap();
    let mut count = 0;
    for row in logs() {
        let written = row["action_type"].as_str().unwrap_or_default();
        if !written.contains(['|', ',', '<']) {
            continue;
        }
        let Action::Rejected { reason, .. } = parser.parse(&answer(&row)).value else {
            panic!("accepted: {row}");
        };
        assert!(reason.contains("prompt's notation or a list"), "{reason}");
        assert_eq!(row["success"], false);
        count += 1;
    }
    assert_eq!(count, 265);
}

/// What version 1 makes of posts and of doing nothing, and how many of each it loses; then the
/// number of posts that are longer than the document allows.
const LOST: (usize, usize, usize, usize) = (996, 143, 171, 2);

/// Actions that their world accepted and ours has are accepted: talk as posts, and doing nothing.
/// Version 1 loses each text with a brace in it, because it supports only flat braces.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn what_the_real_society_accepted_is_accepted_in_translation() {
    let all = (996, 314, 0, 2);
    for (version, expected) in [(1, LOST), (2, all)] {
        let parser = parser(version, ActionParams::default()).unwrap();
        let (mut posts, mut idle, mut lost, mut long) = (0, 0, 0, 0);
        for row in logs().filter(|row| row["success"] == true) {
            let answer = match row["action_type"].as_str().unwrap() {
                "speak" => json!({ "action": "forum_post", "content": row["content"] }),
                "idle" => json!({ "action": "idle", "reasoning": row["thought"] }),
                _ => continue,
            };
            let parsed = parser.parse(&answer.to_string());
            if row["content"].as_str().is_some_and(|c| c.chars().nth(2_000).is_some()) {
                assert!(matches!(parsed.method, "idle_invalid_data" | "rejected"));
                long += 1;
                continue;
            }
            match parsed.value {
                Action::Idle { .. } if parsed.method == "idle_unparsable" => {
                    assert!(answer.to_string().matches('{').count() > 1);
                    lost += 1;
                }
                Action::ForumPost { content } => {
                    assert_eq!(content, row["content"]);
                    posts += 1;
                }
                Action::Idle { reasoning } => {
                    assert_eq!(json!(reasoning), row["thought"]);
                    idle += 1;
                }
                other => panic!("{other:?} from {row}"),
            }
        }
        assert_eq!((posts, idle, lost, long), expected);
    }
}
