//! Answers that break the requested format.

use serde_json::{Value, json};

use super::read::Situation;
use super::words;
use retold::model::simulated::Dice;

/// Their kinds, in the order of [`ways`].
pub(super) const KINDS: [&str; 14] = [
    "copied_value", "copied_action", "list_of_actions", "invented_action", "over_the_limit",
    "no_such_agent", "no_such_resource", "cut_off", "single_quotes", "comment", "two_objects",
    "prose", "refusal", "empty",
];

/// The action, written in all ways that break the format.
pub(super) fn ways(s: &Situation, action: &Value, dice: &mut Dice) -> Vec<(&'static str, String)> {
    let whole = action.to_string();
    let half: String = whole.chars().take(whole.chars().count() / 2).collect();
    let ways = [
        // The prompt's notation, copied.
        json!({"action": "work", "work_type": "farm|generate|gather", "hours": 4}).to_string(),
        json!({"action": "vote|work", "proposal_id": 1, "vote": "yes"}).to_string(),
        json!({"action": ["work", "trade"], "hours": 4}).to_string(),
        // Actions and limits that do not exist.
        json!({"action": "build", "title": "A wall"}).to_string(),
        json!({"action": "work", "work_type": "farm", "hours": 12}).to_string(),
        json!({"action": "direct_message", "recipient_agent_id": 0, "content": "Hello"})
            .to_string(),
        json!({"action": "trade", "recipient_agent_id": 1, "resource_type": "land", "amount": 1})
            .to_string(),
        // Broken JSON, some of which can be repaired.
        half,
        whole.replace('"', "'"),
        format!("{}, // that is all", whole.trim_end_matches('}')),
        format!("{whole}\n{}", json!({"action": "idle"})),
        // No JSON.
        words::opinion(s, dice),
        "I'm sorry, but I can't help with that.".to_owned(),
        String::new(),
    ];
    KINDS.iter().copied().zip(ways).collect()
}
