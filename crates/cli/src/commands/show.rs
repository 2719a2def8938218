//! `retold show`.

use std::fmt::Write;
use std::path::Path;

use serde_json::json;

use crate::again::{begins, file_of, spell_commands};
use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::pager::PagerArg;
use crate::runs::settings::experiment_of;
use crate::runs::shards::{LISTED, merge_command, shard_of};
use crate::runs::unfinished_shards::unfinished_shards;
use crate::runs::{continuation, effective};
use crate::select::{self, RunAsOf, RunSelection};
use crate::views::event::as_json;
use crate::views::origin::{lost_text, origin};
use crate::views::{audit, labelled, last_writer, program, state};
use retold::audit::Target;
use retold::effective::EffectiveDecisions;
use retold::escaping::printable;
use retold::event::RunFinished;
use retold::exchange::lost_events;
use retold::id::{RunId, Seq};
use retold::log::{CheckedReader, Reader};
use retold::members::Members;
use retold::model::NOT_READ;
use retold::prompt::Request;
use retold::run::{Report, RunRecord, Shortcomings};
use retold_archive::{RunView, without_end};
use retold_plan::{NamedPlan, RegisteredPlan};
use retold_study::studies::Studies;
use retold_wire::PROGRAM;

/// The longest run of which `show RUN` reads each answer, in events. What names one thing must
/// answer at once.
const MOST_COUNTED: u64 = 100_000;

/// Show a run, a participant, a call, an event, or a prompt by its hash.
///
/// `retold show latest p_0007` prints a participant's whole story, with the exchanges of each step.
/// In other studies, write `game1/agent_0` (public goods), `agent/12` (society) or `game/1`
/// (adventure). `game1/r01/contribution` (public goods) prints the reasons of all players in one
/// situation, one after another. In a program's run, write the value of a label, such as a person's name: all calls that have
/// it, one after another, each with its answer and what was decided.
///
/// A run that is damaged is shown as far as it can be read, with the first event that cannot be
/// trusted (exit code 1).
///
/// With `--at SEQ`, a run is shown as it was after that event, with the study's state; what the last
/// fact changed is marked.
///
/// `retold show HASH --canonical | b3sum` prints the hash again.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A run (first digits of its id, its name, or `latest`), a recording's file, or the first 6 or more
    /// digits of a prompt hash.
    #[arg(default_value = "latest")]
    what: String,
    /// For a run: a participant (or another part that the experiment can show), a call,
    /// CALL#SAMPLE, a seq, or the value of a label.
    part: Option<Target>,
    /// Show the run as it was after this event.
    #[arg(long, value_name = "SEQ", conflicts_with = "canonical")]
    at: Option<u64>,
    /// For a prompt: print the canonical request, exactly the bytes that were hashed.
    #[arg(long)]
    canonical: bool,
    #[command(flatten)]
    pager: PagerArg,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { what, part, at, canonical, pager } = args;
    if canonical && part.is_some() {
        let message = "--canonical prints a prompt by its hash, not by its run and call";
        return Err(
            CliError::usage(message).hint("without --canonical, the hash of its prompt is printed")
        );
    }
    if canonical {
        let log = select::open_to_read(global)?;
        let request = prompt(log.reader()?.as_mut(), &what, &global.log)?;
        output.raw(request.canonical())?;
        return Ok(Status::Fine);
    }
    output.use_pager(pager);
    let selected = match select::to_read(global, &what) {
        Ok(selected) => selected,
        // No run has such an id, but a prompt might.
        Err(e) if e.status == Status::Usage && part.is_none() && at.is_none() && is_hash(&what) => {
            let log = select::open_to_read(global)?;
            return match prompt(log.reader()?.as_mut(), &what, &global.log) {
                Ok(request) => show_prompt(&request, output),
                Err(_) => Err(e),
            };
        }
        Err(e) => return Err(e),
    };
    gate::show_run(&selected, output, |view| show(view, part.as_ref(), at, global, output))
}

/// Shows a run, or a part of it as it was before any damage.
fn show(
    view: &RunView,
    part: Option<&Target>,
    at: Option<u64>,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let (selected, damage) = (&RunSelection::before_damage(view), view.damage());
    let until = at.map(|at| selected.as_of(at, damage)).transpose()?;
    let (selected, until) = match &until {
        Some(RunAsOf { selected, at, end }) => (selected, Some((*at, *end))),
        None => (selected, None),
    };
    match part {
        None => {
            let in_force = effective::of(selected)?;
            show_run(global.studies, selected, until, &in_force, output)
        }
        Some(Target::Seq(seq)) => {
            let in_force = effective::of(selected)?;
            show_event(&mut selected.checked_reader()?, selected.run, *seq, &in_force, output)
        }
        Some(target) => {
            let mut reader = selected.checked_reader()?;
            // A part of the experiment's state takes precedence over a call with the same name.
            if let Target::Call(name, None) = target
                && may_have_part(global.studies, &mut reader, selected.run, name.as_str())?
                && let Some((story, simulated)) =
                    story(global.studies, &mut reader, selected.run, name.as_str())?
            {
                let in_force = effective::of(selected)?;
                return show_story(&reader, selected.run, story, simulated, &in_force, output);
            }
            drop(reader);
            let end = damage.map(|damage| damage.seq);
            let error = match audit::read(selected, target, global) {
                Ok(found) => return found.before(end).show(output),
                Err(error) => error,
            };
            // No call has this name, but a label of calls may have it as a value.
            let Target::Call(name, None) = target else { return Err(error) };
            if error.status != Status::Usage {
                return Err(error);
            }
            match labelled::read(selected, name.as_str())? {
                Some(calls) => calls.show(output),
                None => Err(match labelled::people(selected)? {
                    Some(people) => error.hint(format!("its calls are of {people}")),
                    None => error,
                }),
            }
        }
    }
}

/// `60 decisions`. Others may have been accepted about the answers of the run.
fn own_decisions(decisions: u64, in_force: &EffectiveDecisions) -> String {
    let of_its_own = if in_force.accepted.is_empty() { "" } else { " of its own" };
    format!("{}{of_its_own}", count_of(decisions, "decision"))
}

fn is_hash(text: &str) -> bool {
    (6..=64).contains(&text.len()) && text.chars().all(|c| c.is_ascii_hexdigit())
}

/// The only stored prompt whose hash begins with these digits.
fn prompt(reader: &mut dyn Reader, prefix: &str, log: &Path) -> Result<Request, CliError> {
    if !is_hash(prefix) {
        return Err(CliError::usage(format!(
            "{prefix:?} is not a prompt hash: give 6 or more digits"
        )));
    }
    let found = reader.prompts(&prefix.to_ascii_lowercase(), 2)?;
    let hash = match found.as_slice() {
        [hash] => *hash,
        [] => {
            let message = format!("there is no prompt {prefix} in {}", log.display());
            return Err(CliError::usage(message));
        }
        _ => {
            let message = format!("several prompts begin with {prefix}");
            return Err(CliError::usage(message).hint("give more digits"));
        }
    };
    let missing = || CliError::usage(format!("there is no prompt {hash}"));
    reader.request(hash)?.ok_or_else(missing)
}

fn show_prompt(request: &Request, output: &Output) -> Result<Status, CliError> {
    if output.is_json() {
        output.object(&json!({"prompt_hash": request.hash(), "request": request.body()}))?;
        return Ok(Status::Fine);
    }
    let mut text = format!("prompt {}\n", request.hash());
    let body = request.body().as_object();
    for (key, value) in body.into_iter().flatten().filter(|(key, _)| *key != "messages") {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{key}: {value}");
    }
    for (role, message) in request.messages() {
        let _ = writeln!(text, "\n{role}:\n{message}");
    }
    output.text(&text)?;
    Ok(Status::Fine)
}

fn show_event(
    reader: &mut CheckedReader,
    run: RunId,
    seq: Seq,
    in_force: &EffectiveDecisions,
    output: &Output,
) -> Result<Status, CliError> {
    let events = reader.events(run, Seq(seq.0.saturating_sub(1)), 1)?;
    let Some(event) = events.first().filter(|e| e.seq == seq) else {
        return Err(CliError::usage(format!("run {run} has no seq {seq}")));
    };
    let mut object = as_json(event);
    // Only a decision may have been replaced.
    let in_force = Some(in_force).filter(|found| !found.is_plain() && event.kind == "DecisionMade");
    if output.is_json() {
        if let Some(in_force) = in_force {
            object.set("decisions_in_force", json!(in_force));
        }
        object.set("checked_events", reader.checked_events().into());
        output.object(&object)?;
    } else {
        let mut text = String::new();
        for (key, value) in object.as_object().into_iter().flatten() {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let _ = writeln!(text, "{key}: {value}");
        }
        text.push_str(&in_force.map(effective::text).unwrap_or_default());
        text.push_str(&select::checked_line(reader.checked_events(), run));
        output.text(&text)?;
    }
    Ok(Status::Fine)
}

fn show_run(
    studies: &Studies,
    selected: &RunSelection,
    until: Option<(Seq, Seq)>,
    in_force: &EffectiveDecisions,
    output: &Output,
) -> Result<Status, CliError> {
    let (reader, run) = (&mut selected.checked_reader()?, selected.run);
    let mut record = RunRecord::read(reader, run)?;
    let lacking = if record.events <= MOST_COUNTED { Some(record.shortcomings()?) } else { None };
    let folded = if record.started.experiment == retold::exchange::EXCHANGES {
        Ok(Report::default())
    } else if let Some(plan) = RegisteredPlan::of(&record.started) {
        Ok(Report { json: json!(plan), text: plan.text(), ..Report::default() })
    } else if record.started.experiment == PROGRAM {
        Ok(program::report(&record.started))
    } else {
        experiment_of(studies, &record).and_then(|made| Ok(made.fold(&record.facts)?))
    };
    // The log's contents are shown even if this release cannot interpret them.
    let (report, unusable) = match folded {
        Ok(report) => (report, None),
        Err(e) => (Report::default(), Some(e.message)),
    };
    let RunRecord {
        started, finished, answers, reused, decisions, failed_attempts, events, ..
    } = record;
    let state = until.map(|until| state::of(studies, reader, run, until)).transpose()?;
    let lost = lost_events(reader, run)?;
    let checked_events = reader.checked_events();
    let (parent, shards) = (started.forked_from, &started.merged_from);
    let log = selected.log.backend().as_ref();
    let is_running = finished.is_none() && without_end(log, run, None) == "running";
    if output.is_json() {
        let mut object = json!({
            "run": run,
            "forked_from": parent,
            "experiment": started.experiment,
            "seed": started.drawn_from(),
            "model": started.model,
            "simulated": started.is_simulated(),
            "program": started.program,
            "outcome": finished.as_ref().map(|f| &f.outcome),
            "running": is_running,
            "outcome_digest": finished.as_ref().and_then(RunFinished::digest),
            "exchanges": answers,
            "reused_answers": reused,
            "decisions": decisions,
            "failed_attempts": failed_attempts,
            "blank_answers": lacking.map(|lacking| lacking.blank),
            "refused_answers": lacking.map(|lacking| lacking.refused),
            "cut_off_answers": lacking.map(|lacking| lacking.cut_off),
            "unended_answers": lacking.map(|lacking| lacking.unended),
            "unreadable_answers": lacking.map(|lacking| lacking.unreadable),
            "answers_not_read": lacking.map(|lacking| lacking.not_read),
            "events": events,
            "decisions_in_force": in_force,
            "report": report.json,
            "unusable": unusable,
            "checked_events": checked_events,
        });
        if !shards.is_empty() {
            object.set("merged_from", json!(shards));
        }
        if let Some(plan) = NamedPlan::of(&started) {
            object.set("plan", json!(plan.run));
        }
        if let Some(lost) = &lost {
            object.set("lost", json!(lost));
        }
        if let Some(shard) = shard_of(&started) {
            object.set("shard", shard.to_string().into());
        }
        if let Some(state) = &state {
            state.add_to(&mut object);
        }
        output.object(&object)?;
        return Ok(Status::Fine);
    }
    let model = started.model["kind"].as_str().unwrap_or("?");
    let source = started.model["source"].as_str().map_or_else(String::new, |s| format!(" ({s})"));
    let seed = started.drawn_from().map_or_else(String::new, |seed| format!(", seed {seed}"));
    let mut text = format!(
        "run {run}\nexperiment {}{seed}, recorded by {}\nmodel {model}{source}\n",
        started.experiment, started.program
    );
    if let Some((at, end)) = until {
        let _ = writeln!(text, "as of event {at} of {end}");
    }
    if let Some(origin) = origin(&started) {
        let _ = writeln!(text, "{origin}");
    }
    if let Some(plan) = NamedPlan::of(&started) {
        let _ = writeln!(text, "recorded by plan {}", plan.run.short(8));
    }
    if let Some(lost) = &lost {
        let _ = writeln!(text, "{}", lost_text(lost));
    }
    if let Some(shard) = shard_of(&started) {
        let merge = merge_command(&started, studies).map_or_else(String::new, |merge| {
            format!(": `{} {merge}` makes one run of all shards", begins())
        });
        let _ = writeln!(text, "shard {shard} of the study{merge}");
    }
    if started.is_simulated() {
        text.push_str(select::SIMULATED);
    }
    let _ = writeln!(
        text,
        "{}, {}{}, {}, {}",
        count_of(events, "event"),
        count_of(answers, "answer"),
        if reused > 0 { format!(" ({} reused)", group_digits(reused)) } else { String::new() },
        own_decisions(decisions, in_force),
        count_of(failed_attempts, "failed attempt")
    );
    text.push_str(&lacking_text(lacking));
    text.push_str(&effective::text(in_force));
    match finished {
        Some(finished) => {
            let outcome = finished.outcome.as_str();
            let digest = finished.digest().map(|digest| digest.to_string());
            let digest = digest.unwrap_or_else(|| "none: it would cover nothing".to_owned());
            let _ = writeln!(text, "{outcome}, outcome digest {digest}");
        }
        None if until.is_some_and(|(at, end)| at < end) => {
            text.push_str("it had not ended by then\n");
        }
        None if output.has_damage() && file_of(run).is_none() => {
            let copy = spell_commands("`retold copy --to NEW` makes a new run of what is left");
            let _ = writeln!(text, "damaged: {copy}");
        }
        None if is_running => {
            let (retold, run) = (begins(), run.short(8));
            let follow = format!("`{retold} log {run} --follow` shows its events as they come");
            let _ = writeln!(text, "being recorded: {follow}");
        }
        None => {
            let waits_for = unfinished_shards(selected.log.reader()?.as_mut(), &started)?;
            if waits_for.is_empty() {
                let next = continuation::sentence(studies, &started, run);
                let _ = writeln!(text, "unfinished: {next}");
            }
            for shard in waits_for.iter().take(LISTED) {
                let _ = writeln!(text, "unfinished: {}", spell_commands(&shard.hint()));
            }
            if let Some(wrote) = last_writer::sentence(&selected.log, run)? {
                let _ = writeln!(text, "{wrote}");
            }
        }
    }
    if let Some(reason) = unusable {
        let _ = writeln!(text, "\nits result cannot be shown: {}", printable(&reason, 500));
    }
    if !report.text.is_empty() {
        let _ = write!(text, "\n{}", report.text);
    }
    if let Some(state) = &state {
        let _ = write!(text, "\n{}", state.text());
    }
    text.push_str(&select::checked_line(reader.checked_events(), run));
    output.text(&text)?;
    Ok(Status::Fine)
}

/// How many answers fall short, if any do, or that they were not counted.
fn lacking_text(lacking: Option<Shortcomings>) -> String {
    let Some(Shortcomings { blank, refused, cut_off, unended, unreadable, not_read }) = lacking
    else {
        let most = group_digits(MOST_COUNTED);
        return format!(
            "blank, refused and cut-off answers are not counted in a run of more than {most} events\n"
        );
    };
    let kinds = [
        (blank, "blank"),
        (refused, "refused"),
        (cut_off, "cut off at the limit of tokens"),
        (unended, "without its end"),
        (unreadable, "unreadable"),
        (not_read, NOT_READ),
    ];
    let some = kinds.iter().filter(|(n, _)| *n > 0);
    let some: Vec<String> = some.map(|(n, what)| format!("{} {what}", group_digits(*n))).collect();
    if some.is_empty() { String::new() } else { format!("of the answers: {}\n", some.join(", ")) }
}

/// Whether the whole run should be read to find out if it has such a part.
fn may_have_part(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
    name: &str,
) -> Result<bool, CliError> {
    let study = studies.find(&select::run_start(reader, run)?.experiment);
    Ok(study.is_some_and(|study| study.may_have_part(name)))
}

/// The story of a part of a run's state, and whether it is simulated; `None` if there is no such
/// part.
fn story(
    studies: &Studies,
    reader: &mut dyn Reader,
    run: RunId,
    part: &str,
) -> Result<Option<(Report, bool)>, CliError> {
    let mut record = RunRecord::read(reader, run)?;
    // Calls can be shown without the experiment: a run of another release has no story, which is
    // not an error.
    let Ok(experiment) = experiment_of(studies, &record) else { return Ok(None) };
    let story = experiment.story_any(part, &mut record)?;
    Ok(story.map(|story| (story, record.started.is_simulated())))
}

fn show_story(
    reader: &CheckedReader,
    run: RunId,
    story: Report,
    simulated: bool,
    in_force: &EffectiveDecisions,
    output: &Output,
) -> Result<Status, CliError> {
    if output.is_json() {
        let mut object = json!({
            "run": run, "simulated": simulated, "story": story.json,
            "checked_events": reader.checked_events(),
        });
        if !in_force.is_plain() {
            object.set("decisions_in_force", json!(in_force));
        }
        output.object(&object)?;
    } else {
        let said = if simulated { select::SIMULATED } else { "" };
        let checked = select::checked_line(reader.checked_events(), run);
        let in_force = effective::text(in_force);
        output.text(&format!("run {run}\n{said}{in_force}{}{checked}", story.text))?;
    }
    Ok(Status::Fine)
}
