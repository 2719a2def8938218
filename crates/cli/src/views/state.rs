//! The state of a run as of one of its events.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::error::{CliError, Status};
use crate::output::group_digits;
use crate::runs::settings::settings_of;
use crate::select;
use retold::escaping::printable;
use retold::event::PLAN;
use retold::exchange::{DECISIONS, EXCHANGES};
use retold::id::{RunId, Seq};
use retold::log::Reader;
use retold::members::Members;
use retold_serve::{AsOf, StateError, TreeNode, as_of};
use retold_study::studies::Studies;
use retold_wire::PROGRAM;

/// The most lines of a state that are printed.
const MOST_LINES: usize = 200;

/// The most entries of a list or an object that are printed, besides changed ones.
const MOST_ENTRIES: usize = 12;

/// The state of a run as of an event.
pub(crate) struct RunState {
    at: Seq,
    /// The last event of the run.
    end: Seq,
    found: StateView,
}

/// A state, or why there is none.
enum StateView {
    Of(Box<AsOf>),
    None(String),
}

/// The state of a run as of an event.
pub(crate) fn of(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
    (at, end): (Seq, Seq),
) -> Result<RunState, CliError> {
    let found = find(studies, reader, run, at)?;
    Ok(RunState { at, end, found })
}

fn find(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
    at: Seq,
) -> Result<StateView, CliError> {
    let started = select::run_start(reader, run)?;
    let none = match started.experiment.as_str() {
        PROGRAM => {
            Some("what a program knew is in the program; its run has the facts that it reported")
        }
        EXCHANGES => Some("exchanges belong to no experiment"),
        DECISIONS => Some("accepted decisions are about another run, which may have one"),
        PLAN => Some("nothing happens in a plan"),
        _ => None,
    };
    if let Some(why) = none {
        return Ok(StateView::None(why.to_owned()));
    }
    let settings = match settings_of(studies, &started) {
        Ok(settings) => settings,
        Err(error) => return Ok(StateView::None(error.message)),
    };
    let made = match studies.build(&started.experiment, &settings.experiment) {
        Ok(made) => made,
        Err(error) => return Ok(StateView::None(error.to_string())),
    };
    match as_of(reader, run, made.folding(), at) {
        Ok(found) => Ok(StateView::Of(Box::new(found))),
        Err(StateError::Log(error)) => Err(error.into()),
        Err(error) => Err(CliError::new(Status::Usage, error.to_string())),
    }
}

impl RunState {
    /// Adds it to an object: `as_of`, `state`, and `no_state` if there is none.
    pub(crate) fn add_to(&self, object: &mut Value) {
        let RunState { at, end, found } = self;
        match found {
            StateView::Of(found) => {
                let AsOf { facts, last, state, .. } = &**found;
                object.set(
                    "as_of",
                    json!({"event": at, "of": end, "facts": facts, "last_fact": last}),
                );
                object.set("state", state.clone());
            }
            StateView::None(why) => {
                object.set("as_of", json!({"event": at, "of": end}));
                object.set("state", Value::Null);
                object.set("no_state", why.as_str().into());
            }
        }
    }

    /// The state as lines, with an asterisk at each value that the last fact changed.
    pub(crate) fn text(&self) -> String {
        let at = self.at;
        let AsOf { facts, last, tree, .. } = match &self.found {
            StateView::Of(found) => &**found,
            StateView::None(why) => return format!("this run has no state: {why}\n"),
        };
        let facts = group_digits(*facts as u64);
        let mut text = match last {
            Some(last) => format!(
                "state after event {at}: {facts} facts, * changed by the last of them (event {last})\n"
            ),
            None => format!("state after event {at}: before the first fact\n"),
        };
        let mut left = MOST_LINES;
        for entry in &tree.entries {
            lines(entry, 1, &mut left, &mut text);
        }
        if left == 0 || tree.more > 0 {
            text.push_str("  … with --json, all of it\n");
        }
        text
    }
}

fn lines(node: &TreeNode, depth: usize, left: &mut usize, text: &mut String) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    let mark = if node.changed { "*" } else { " " };
    let indent = "  ".repeat(depth - 1);
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{mark} {indent}{}: {}",
        printable(&node.key, 60),
        printable(&node.text, 100)
    );
    let mut more = node.more;
    for (n, entry) in node.entries.iter().enumerate() {
        // What changed is what one looks for.
        if n < MOST_ENTRIES || entry.changed {
            lines(entry, depth + 1, left, text);
        } else {
            more += 1;
        }
    }
    if more > 0 && *left > 0 {
        *left -= 1;
        let _ = writeln!(text, "  {indent}  … {} more", group_digits(more as u64));
    }
}
