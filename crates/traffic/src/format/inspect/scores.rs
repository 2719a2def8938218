//! The scores of a sample, as decisions about its last answer: `scores`, by the name of their scorer
//! (`scorer/_metric.py`), or `score` alone in the first releases.

use retold::escaping::printable;
use serde_json::Value;

use crate::exchange::{TrafficDecision, TrafficExchange};
use crate::notes::Notes;

/// The fields of a score that a decision has no place for.
const LEFT_OUT: [&str; 3] = ["answer", "metadata", "history"];

/// Gives the scores of a sample to its last answer.
pub(super) fn add_scores(
    sample: &Value,
    log: &Value,
    exchanges: &mut [TrafficExchange],
    place: &str,
    notes: &mut Notes,
) {
    let alone = || {
        let score = sample.get("score").filter(|score| score.is_object())?;
        // Results had one scorer as well.
        let results = &log["results"];
        let name = results["scores"][0]["scorer"].as_str().or(results["scorer"]["name"].as_str());
        Some((name.unwrap_or("score").to_owned(), score))
    };
    let scores = sample["scores"].as_object().into_iter().flatten();
    let mut decisions = Vec::new();
    for (scorer, score) in scores.map(|(name, score)| (name.clone(), score)).chain(alone()) {
        for field in LEFT_OUT {
            let is_empty = |value: &Value| {
                value.is_null()
                    || value.as_array().is_some_and(Vec::is_empty)
                    || value.as_object().is_some_and(serde_json::Map::is_empty)
            };
            if score.get(field).is_some_and(|value| !is_empty(value)) {
                notes.add(&format!("the {field} of a score"), place);
            }
        }
        decisions.push(TrafficDecision {
            name: printable(&scorer, 200),
            value: score["value"].clone(),
            reasoning: score["explanation"].as_str().map(str::to_owned),
        });
    }
    let last = exchanges.iter_mut().rev().find(|exchange| exchange.has_answer());
    match last {
        Some(exchange) => exchange.decisions = decisions,
        None if decisions.is_empty() => {}
        None => notes.add("the scores of a sample without an answer", place),
    }
}
