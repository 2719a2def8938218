//! The first call of each lane whose prompt differs from the recorded one.

use serde_json::{Value, json};

use super::alike::{alike, and_others, shorten};
use crate::output::count_of;
use retold::run::Departure;

/// As JSON: one object per lane.
pub(crate) fn departures_json(departures: &[Departure]) -> Vec<Value> {
    let lane = |departure: &Departure| {
        let Departure { lane, call, sample, request, recorded, difference } = departure;
        let diff = difference.as_ref().map(|difference| difference.diff());
        json!({"lane": lane, "call": call, "sample": sample, "prompt_hash": request.hash(),
            "recorded_hash": recorded, "diff": diff})
    };
    departures.iter().map(lane).collect()
}

/// As text: those in which the same lines differ together. Empty if there are none.
pub(crate) fn departures_text(departures: &[Departure]) -> String {
    if departures.is_empty() {
        return String::new();
    }
    let lanes = count_of(departures.len() as u64, "lane");
    let mut text = format!("\n{lanes} with a change, the first call of each:\n");
    let diff = |departure: &Departure| {
        departure.difference.as_ref().map_or_else(String::new, |difference| difference.diff())
    };
    for alike in alike(departures, diff) {
        text.push_str(&describe(&alike));
    }
    text
}

fn describe(alike: &[&Departure]) -> String {
    let Some((first, others)) = alike.split_first() else { return String::new() };
    let Departure { lane, call, sample, request, recorded, difference } = first;
    let now = request.hash().short(12);
    let mut text = match recorded {
        Some(recorded) => {
            let was = recorded.short(12);
            format!(
                "\nlane {lane}: {call}#{sample} has a different prompt ({now}) than recorded ({was})\n"
            )
        }
        None => format!("\nlane {lane}: {call}#{sample} (prompt {now}) was never recorded\n"),
    };
    if let Some(difference) = difference {
        text.push_str(&shorten(&difference.diff()));
    }
    let others: Vec<String> = others.iter().map(|d| format!("{}#{}", d.call, d.sample)).collect();
    text.push_str(&and_others(&others));
    text
}
