//! What is left of a damaged run.

use std::fmt::Write;

use serde_json::json;

use crate::again::typed;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::output::{Output, counted};
use crate::select::{self, Selected};
use crate::views::event::as_json;
use retold::audit::Target;
use retold::id::Seq;
use retold_serve::{Careful, Damage, Remains, Source, remains};

/// The longest run that is checked as a whole before a part of it is shown, in events: this takes a
/// fifth of a second.
const MOST_CHECKED: u64 = 20_000;

/// The first event of a run that cannot be trusted, if the run is short enough to be checked.
pub(crate) fn first(selected: &Selected) -> Result<Option<Damage>, CliError> {
    let run = selected.run;
    let head = selected.log.reader()?.runs()?.into_iter().find(|head| head.run == run);
    if head.is_none_or(|head| head.head.seq.0 > MOST_CHECKED) {
        return Ok(None);
    }
    let mut reader = Careful::new(selected.log.reader()?, selected.log.reader()?);
    let mut after = Seq(0);
    loop {
        let (events, damage) = reader.events(run, after, 1024)?;
        if damage.is_some() {
            return Ok(damage);
        }
        let Some(last) = events.last() else { return Ok(None) };
        after = last.seq;
    }
}

/// Shows what is left of a run in the log, with the first event that cannot be trusted; `None` if
/// there is no such run, it is not damaged, or nothing of it can be read.
pub(crate) fn show(
    name: &str,
    part: Option<&Target>,
    global: &Global,
    output: &Output,
) -> Result<Option<Status>, CliError> {
    if select::looks_like_a_file(name) {
        return Ok(None);
    }
    let seq = match part {
        Some(Target::Seq(seq)) => Some(*seq),
        _ => None,
    };
    let found =
        Source::file(&global.log, global.sqlite()).and_then(|source| remains(&source, name, seq));
    let Ok(Some(Remains { run, note, from, what, trusted, after, event })) = found else {
        return Ok(None);
    };
    let events: u64 = trusted.values().sum();
    output.damaged(from, &what)?;
    if output.is_json() {
        output.object(&json!({
            "run": run, "note": note,
            "trusted": {"events": events, "kinds": trusted}, "events_after": after,
            "event": event.as_ref().map(as_json),
        }))?;
        return Ok(Some(Status::Difference));
    }
    let mut text = format!("run {run}\n");
    // Writing to a string cannot fail.
    if let Some(note) = note {
        let _ = writeln!(text, "{note}");
    }
    let kinds: Vec<String> = trusted.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    let before = counted(events, "event");
    let _ = writeln!(text, "before it: {before} that match their hashes ({})", kinds.join(", "));
    let _ = writeln!(text, "after it: {} can still be read", counted(after, "event"));
    if let Some(event) = event {
        text.push('\n');
        for (key, value) in as_json(&event).as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(text, "{key}: {value}");
        }
    }
    let hint =
        "`retold serve` shows what can be read; `retold verify` names everything that is damaged";
    let _ = writeln!(text, "{}", typed(hint));
    output.text(&text)?;
    Ok(Some(Status::Difference))
}
