//! Spans of time, as pages show them.

use retold::id::Time;

/// A span of time in UTC, to the second: `2026-03-05 12:00:01 to 12:07:10 UTC`.
pub(crate) fn between(began: Time, ended: Time) -> String {
    let [began, ended] = [began, ended].map(|time| time.to_string());
    match (began.split_once('T'), ended.split_once('T')) {
        (Some((day, from)), Some((last, to))) => {
            let [from, to] = [from, to].map(|time| time.get(..8).unwrap_or(time).to_owned());
            match (day == last, from == to) {
                (true, true) => format!("{day} {from} UTC"),
                (true, false) => format!("{day} {from} to {to} UTC"),
                (false, _) => format!("{day} {from} to {last} {to} UTC"),
            }
        }
        // A time beyond the calendar.
        _ => format!("{began} to {ended}"),
    }
}
