//! Calls, tokens and latency by kind of call.

use std::fmt::Write;

use retold::counted::count_of;
use retold::totals::{Calls, Counts, Latency, Tokens};

use crate::RunSummary;
use crate::html::{TABLE_END, begin_table, escape};

/// A table with a row for each kind of call.
pub(crate) fn html(summary: &RunSummary, page: &mut String) {
    page.push_str(&begin_table([
        "calls",
        "asked",
        "answered",
        "failed",
        "not answered",
        "tokens in",
        "tokens out",
        "median, ms",
        "90th percentile, ms",
        "99th percentile, ms",
    ]));
    for (kind, Counts { calls, tokens, latency_ms, .. }) in &summary.figures.kinds {
        let Calls { asked, answered, failed, open, .. } = calls;
        let latency = |of: fn(&Latency) -> u64| {
            latency_ms.as_ref().map_or_else(|| "-".to_owned(), |latency| of(latency).to_string())
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=n>{asked}</td><td class=n>{answered}</td><td class=n>{failed}</td>\
             <td class=n>{open}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td>\
             <td class=n>{}</td><td class=n>{}</td></tr>",
            escape(kind, 100),
            token_count(tokens.prompt, tokens),
            token_count(tokens.completion, tokens),
            latency(|latency| latency.p50),
            latency(|latency| latency.p90),
            latency(|latency| latency.p99)
        );
    }
    page.push_str(TABLE_END);
}

/// A number of tokens, and in how many answers none were counted.
fn token_count(number: Option<u64>, tokens: &Tokens) -> String {
    match (number, tokens.uncounted) {
        _ if tokens.counted + tokens.uncounted == 0 => "-".to_owned(),
        (None, _) => "unknown".to_owned(),
        (Some(number), 0) => number.to_string(),
        (Some(number), uncounted) => {
            format!("{number}, unknown for {}", count_of(uncounted, "answer"))
        }
    }
}
