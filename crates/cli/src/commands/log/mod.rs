//! `retold log`.

mod filter;
mod never;
mod run_table;
mod runs;
mod spending;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::again::spell_commands;
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::pager::PagerArg;
use crate::runs::continuation;
use crate::select::{RunAsOf, RunSelection};
use crate::views::event::as_json;
use crate::views::origin::origin;
use crate::views::state::{self, RunState};
use crate::{gate, search, select};
use filter::ListingFilter;
use never::{Never, never};
use retold::escaping::{excerpt, printable};
use retold::event::{AnswerReused, Event, EventWords, ResponseReceived, StoredEvent};
use retold::id::Seq;
use retold::log::{EventFilter, Filtering, Log, Reader, is_being_written};
use retold::members::Members;
use retold::model::{NOT_READ, UNENDED, is_not_read};
use retold::run::how_it_ended;
use retold_archive::RunView;

/// Events in one read.
const BATCH: usize = 1024;

/// How often a run is looked at that is followed.
const FOLLOWED: Duration = Duration::from_millis(200);

/// How often nothing may be new before it is asked whether anybody still writes the run.
const SILENT: u32 = 10;

/// List the runs of the log, or the events of one run.
///
/// A run's line has its name (that of its output folder, or the one that its program was given), how many of its calls asked
/// a model, what they cost, and the time from its first event to its last. Calls that reused a recorded answer are not
/// counted: `retold stats RUN` has both.
///
/// The list of runs names what is known to be damaged or missing without reading the events, and what
/// is met while the calls of the newest runs are counted (exit code 1); `retold verify` checks every
/// event.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A run (first digits of its id, its name, or `latest`) or a recording's file: list its events.
    run: Option<String>,
    /// Start after this seq.
    #[arg(long, value_name = "SEQ", default_value_t = 0)]
    after: u64,
    /// The most events to list; if there are more, the output says where to continue (with --json:
    /// more, next).
    #[arg(long, value_name = "N", default_value_t = 1000)]
    most: usize,
    /// List the run as it was after this event, followed by the study's state there.
    #[arg(long, value_name = "SEQ", requires = "run", conflicts_with = "follow")]
    at: Option<u64>,
    #[command(flatten)]
    filter: ListingFilter,
    /// Only questions and answers that have all of these words; words in quotes must follow each
    /// other. A question is found by the words that it adds to earlier prompts. The words are indexed
    /// once, in LOG-search or in the user's cache.
    #[arg(long, value_name = "TEXT", requires = "run", conflicts_with = "follow")]
    search: Option<String>,
    /// Keep listing events as they are added, until the run is finished or abandoned. If no process
    /// writes it any more, this is reported once. With --json, a line each.
    #[arg(long, requires = "run", conflicts_with = "most")]
    follow: bool,
    #[command(flatten)]
    pager: PagerArg,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    if !args.follow {
        output.use_pager(args.pager);
    }
    match &args.run {
        None => runs::list(&select::open_to_read_silently(global)?, global, output),
        Some(name) => {
            let selected = select::to_read(global, name)?;
            let can_grow = !select::names_a_file(global, name);
            gate::show_run(&selected, output, |view| match args.follow {
                true => follow(view, can_grow, &args, global, output),
                false => list(view, &args, global, output),
            })
        }
    }
}

/// Lists events: those that were searched for, or those up to an event, followed by the state there.
fn list(view: &RunView, args: &Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let found = args.search.as_deref().map(|text| search::find(view, text, global)).transpose()?;
    let selected = RunSelection::before_damage(view);
    let until = args.at.map(|at| selected.as_of(at, view.damage())).transpose()?;
    let state = match &until {
        Some(RunAsOf { selected, at, end }) => {
            let mut checked = selected.checked_reader()?;
            Some(state::of(global.studies, &mut checked, view.run(), (*at, *end))?)
        }
        None => None,
    };
    let log = until.map_or(selected.log, |until| until.selected.log);
    events(&log, view, args, found.as_ref(), state.as_ref(), output)
}

fn events(
    log: &Log,
    view: &RunView,
    args: &Args,
    only: Option<&BTreeSet<Seq>>,
    state: Option<&RunState>,
    output: &Output,
) -> Result<Status, CliError> {
    let run = view.run();
    let mut reader = log.reader()?;
    let reader = reader.as_mut();
    let mut listed = log.checked_reader()?;
    let is_on = EventFilter::from(&args.filter).is_on() || only.is_some();
    let (mut after, mut left) = (Seq(args.after), args.most);
    let mut list: Vec<Value> = Vec::new();
    let (mut text, mut checked) = (String::new(), 0);
    let filter = EventFilter::from(&args.filter);
    let mut filtering = Filtering::by(&filter);
    'all: while left > 0 {
        // With a filter, it is not known how many have to be read.
        let most = if is_on { BATCH } else { left.min(BATCH) };
        let batch = listed.events(run, after, most)?;
        if batch.is_empty() {
            break;
        }
        checked += batch.len() as u64;
        for event in &batch {
            if left == 0 {
                break 'all;
            }
            after = event.seq;
            let is_found = only.is_none_or(|only| only.contains(&event.seq));
            if !filtering.lists(reader, event)? || !is_found {
                continue;
            }
            left -= 1;
            match output.is_json() {
                true => list.push(as_json(event)),
                false => text.push_str(&as_line(event)),
            }
        }
    }
    let more = left == 0 && !listed.events(run, after, 1)?.is_empty();
    let has_none = text.is_empty() && list.is_empty();
    let may_be_misspelt = is_on && !more && (has_none || filter.kinds.len() > 1);
    let never = if may_be_misspelt { never(reader, run, &filter)? } else { Vec::new() };
    let end = reader.runs()?.into_iter().find(|head| head.run == run).map(|head| head.head.seq);
    // A value that the run never has says why.
    if has_none && is_on && !more && never.is_empty() {
        text.push_str("no event matches\n");
    }
    if let Some(end) = end.filter(|end| has_none && args.after >= end.0 && args.after > 0) {
        // With --at, these are the events up to there.
        let until = if args.at.is_some() { " up to there" } else { "" };
        let events = count_of(end.0, "event");
        let _ = writeln!(text, "no event is after {}: the run has {events}{until}", args.after);
    }
    never.iter().for_each(|never| text.push_str(&never.text()));
    if output.is_json() {
        let next = more.then_some(after);
        let mut object =
            json!({"run": run, "events": list, "more": more, "next": next, "end": end});
        if !never.is_empty() {
            object.set("never", never.iter().map(Never::json).collect());
        }
        object.set("checked_events", checked.into());
        if let Some(state) = state {
            state.add_to(&mut object);
        }
        output.object(&object)?;
    } else {
        if more {
            let at = args.at.map_or_else(String::new, |at| format!("--at {at} "));
            let _ = writeln!(text, "more events follow: {at}--after {after}");
        }
        if let Some(state) = state {
            let _ = write!(text, "\n{}", state.text());
        }
        output.text(&text)?;
    }
    Ok(Status::Fine)
}

/// Lists events until the run ends: finished, abandoned, or damaged.
fn follow(
    view: &RunView,
    can_grow: bool,
    args: &Args,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let (log, run) = (view.log(), view.run());
    let readers = || -> Result<_, CliError> { Ok((log.reader()?, log.checked_reader()?)) };
    let (mut reader, mut listed) = readers()?;
    let mut silent = 0;
    let mut after = Seq(args.after);
    let filter = EventFilter::from(&args.filter);
    let mut filtering = Filtering::by(&filter);
    loop {
        let batch = listed.events(run, after, BATCH)?;
        let mut text = String::new();
        for event in &batch {
            after = event.seq;
            if filtering.lists(reader.as_mut(), event)? {
                match output.is_json() {
                    true => output.object(&as_json(event))?,
                    false => text.push_str(&as_line(event)),
                }
            }
            if matches!(event.event(), Ok(Event::RunFinished(_))) {
                output.text(&text)?;
                return Ok(Status::Fine);
            }
        }
        output.text(&text)?;
        if !batch.is_empty() {
            silent = 0;
            continue;
        }
        // The end may be before the place from which on events are listed.
        if !can_grow || how_it_ended(reader.as_mut(), run)?.is_some() {
            return Ok(Status::Fine);
        }
        silent += 1;
        if silent == SILENT && !is_being_written(&global.log, run) {
            let started = select::run_start(reader.as_mut(), run)?;
            let (name, next) = (run.short(8), continuation::of_any(global.studies, &started, run));
            write_err(&spell_commands(&format!(
                "nobody is writing run {name} any more, and it is unfinished: `retold {next}` continues it; still waiting (Ctrl-C ends this)\n"
            )));
        }
        std::thread::sleep(FOLLOWED);
        // A reader that was opened while nobody wrote to the log does not see new events.
        (reader, listed) = readers()?;
    }
}

/// Whether an answer is a stream that was closed before its end.
fn is_unended(event: &StoredEvent) -> bool {
    event.is_answer()
        && match event.event() {
            Ok(Event::ResponseReceived(received)) => received.details.extra.contains_key(UNENDED),
            Ok(Event::AnswerReused(reused)) => reused.details.extra.contains_key(UNENDED),
            _ => false,
        }
}

/// Whether an answer is not read.
fn is_an_answer_not_read(event: &StoredEvent) -> bool {
    event.is_answer()
        && match event.event() {
            Ok(Event::ResponseReceived(ResponseReceived { content, details, .. }))
            | Ok(Event::AnswerReused(AnswerReused { content, details, .. })) => {
                is_not_read(&content, &details.extra)
            }
            _ => false,
        }
}

/// An event in a line, in words.
fn as_line(event: &StoredEvent) -> String {
    let EventWords { kind, subject, text } = EventWords::new(event);
    let mut line = format!("{:>7}  {}  {kind:<14}", event.seq, event.time);
    if let Some(subject) = subject {
        let _ = write!(line, " {}", printable(&subject, 60));
    }
    if let Some(cause) = event.cause {
        let _ = write!(line, " <- {cause}");
    }
    let text = match event.event() {
        Ok(Event::RunStarted(started)) => match origin(&started) {
            Some(origin) => format!("{text}, {origin}"),
            None => text,
        },
        Ok(Event::DecisionMade(made)) => {
            let value = excerpt(&format!("{} = {text}", made.by.decides()), 80);
            format!("{value} by {}", made.by.method)
        }
        _ => text,
    };
    if !text.is_empty() {
        let _ = write!(line, " {}", excerpt(&text, 120));
    }
    if is_unended(event) {
        line.push_str(" (without its end)");
    }
    if is_an_answer_not_read(event) {
        // Writing to a string cannot fail.
        let _ = write!(line, " ({NOT_READ})");
    }
    line.push('\n');
    line
}
