//! Shows the readable rest of a damaged run.

use std::fmt::Write;

use serde_json::json;

use crate::again::spell_commands;
use crate::error::{ANOTHER_COPY, CliError, NAMES_DAMAGE, Status, is_of_recording};
use crate::output::{Output, count_of};
use crate::views::event::as_json;
use retold::audit::Target;
use retold_archive::{Damage, ReadableRest, RunView, readable_rest};

/// Shows the readable rest of a damaged run, and the event that was asked for if it can be read.
pub(crate) fn show(
    view: &RunView,
    damage: &Damage,
    part: Option<&Target>,
    output: &Output,
) -> Result<Status, CliError> {
    let seq = match part {
        Some(Target::Seq(seq)) => Some(*seq),
        _ => None,
    };
    let run = view.run();
    let ReadableRest { damage, counted: left, event } =
        readable_rest(view.untrusted_log().as_ref(), run, damage.clone(), seq)?;
    // All events before the first that is damaged are there.
    let before = left.as_ref().map_or(damage.seq.0 - 1, |left| left.trusted.values().sum());
    if output.is_json() {
        let (kinds, after) = (left.as_ref().map(|left| &left.trusted), left.as_ref());
        output.object(&json!({
            "run": run, "trusted": {"events": before, "kinds": kinds},
            "events_after": after.map(|left| left.after), "event": event.as_ref().map(as_json),
        }))?;
        return Ok(Status::Difference);
    }
    let mut text = format!("run {run}\n");
    let sound = match before {
        1 => "1 event that matches its hash".to_owned(),
        n => format!("{} that match their hashes", count_of(n, "event")),
    };
    let kinds = left.iter().flat_map(|left| &left.trusted);
    let kinds: Vec<String> = kinds.map(|(kind, n)| format!("{n} {kind}")).collect();
    let kinds = if kinds.is_empty() { String::new() } else { format!(" ({})", kinds.join(", ")) };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "before it: {sound}{kinds}");
    let _ = match &left {
        Some(left) => {
            writeln!(text, "from it on: {} can still be read", count_of(left.after, "event"))
        }
        None => {
            writeln!(text, "from it on: in a run as long as this, what can be read is not counted")
        }
    };
    if let Some(event) = event {
        text.push('\n');
        for (key, value) in as_json(&event).as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(text, "{key}: {value}");
        }
    }
    let hint = match is_of_recording(&damage.fault) {
        true => format!("`retold serve FILE` shows what can be read; {ANOTHER_COPY}"),
        false => format!("`retold serve` shows what can be read; {NAMES_DAMAGE}"),
    };
    let _ = writeln!(text, "{}", spell_commands(&hint));
    output.text(&text)?;
    Ok(Status::Difference)
}
