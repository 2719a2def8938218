//! `retold check RUN --ask-again`: recorded prompts are asked again today, and old and new decisions are compared.

use clap::Arg;
use serde_json::{Value, json};

use super::Args;
use super::drift::{DrawnLook, Look, looks_at};
use crate::again::spell_commands;
use crate::error::{CliError, Status, write_err};
use crate::gate;
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::{Output, count_of};
use crate::run_id::random_seed;
use crate::runs::accepting;
use crate::runs::record::{StudyRecording, recording_to_begin};
use crate::runs::settings::settings_of;
use crate::select::{self, RunSource};
use retold::counted::group_digits;
use retold::escaping::printable;
use retold::id::RunId;
use retold::log::Log;
use retold::run::{how_it_ended, latest_start};
use retold::totals::{Totals, dollars};
use retold_drift::{DriftComparison, DriftPower, DriftSettings, LEVEL, NAME};
use retold_study::config::{ModelKind, Runtime};
use retold_study::study::Study;
use retold_wire::PROGRAM;

/// How much of a value is shown, in characters.
const SHOWN: usize = 40;

/// The group of flags with which prices are of use.
pub(super) const PRICED: &str = "priced";

/// How many values of a decision are shown, those that changed most first.
const MOST_VALUES: usize = 8;

/// How to ask again.
#[derive(Debug, clap::Args)]
pub(super) struct AgainArgs {
    /// Ask recorded prompts again, as a run of its own, and compare what is decided about the new answers with the decisions in
    /// force about the old ones, by the same parsers: has the model changed? Exit code 1 if it says so. Of a run that asked again
    /// itself, show what came of it; nothing is asked then.
    #[arg(long, help_heading = "Asking again")]
    #[arg(conflicts_with_all = ["parser", "parser_cmd", "parsers", "params", "params_from", "call", "choice", "accept", "refold",
        "fail_on", "most", "snapshots", "decisions", "name"])]
    ask_again: bool,
    /// With --ask-again: how many recorded answers are drawn.
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    #[arg(requires = "ask_again", help_heading = "Asking again")]
    sample: u32,
    /// With --ask-again: how often the prompt of each is asked.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    #[arg(requires = "ask_again", help_heading = "Asking again")]
    times: u32,
    /// With --ask-again: the seed by which answers are drawn; another one each time if left out.
    #[arg(long, value_name = "N", requires = "ask_again", help_heading = "Asking again")]
    draw_seed: Option<u64>,
    // Last, because clap puts everything that follows under its heading.
    #[command(flatten)]
    pub(super) model: ModelArgs,
}

/// The headings of the flags that say who is asked, and how.
const ASKING: [&str; 3] = ["Model", "Limits", "Batches"];

impl AgainArgs {
    /// Lets a flag that says who is asked stand only where something is asked.
    pub(super) fn with_ask_again(arg: Arg) -> Arg {
        let is_asking = arg.get_help_heading().is_some_and(|heading| ASKING.contains(&heading));
        match is_asking {
            // Prices are for --refold, too.
            true if arg.get_id() == "prices" => arg.requires(PRICED),
            true => arg.requires("ask_again"),
            false => arg,
        }
    }

    /// Whether anything is asked.
    pub(super) fn is_asked(&self) -> bool {
        self.ask_again
    }
}

pub(super) fn run(args: &Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let AgainArgs { sample, times, draw_seed, ref model, .. } = args.again;
    let [name] = args.runs.as_slice() else {
        return Err(CliError::usage("--ask-again is for one run: name one"));
    };
    let source = accepting::answers_of(select::source(global, name)?)?;
    gate::sound(&source.log, source.run, "nothing was asked", output)?;
    if let Some(of) = look_settings(&source)? {
        return show_look(source, of, global, output);
    }
    let seed = draw_seed.map_or_else(random_seed, Ok)?;
    let drawn = DrawnLook::draw(&source, (sample, times, seed), global)?;
    let settings = drawn.settings();
    let answers = settings.answers.len();
    let study = Study::new(NAME, 0, settings.clone(), runtime(&source, model, global)?);
    let mut asking = study.settings.clone();
    model.apply(global.studies, NAME, &mut asking)?;
    if asking.runtime.model.kind == ModelKind::Simulated {
        return Err(CliError::usage(
            "a simulated model does not change, and --ask-again asks a real one",
        )
        .hint("--model PROVIDER/MODEL names it"));
    }
    let power = DriftPower::of(answers, times);
    let cost = cost(&source, answers as u64 * u64::from(times), args, global)?;
    if !output.is_json() {
        let fewer = match answers < sample as usize {
            true => {
                format!("the run has no more than {}\n", count_of(answers as u64, "such answer"))
            }
            false => String::new(),
        };
        write_err(&format!("{fewer}{}\nit makes {cost}\n", power.text()));
    }
    let recording = StudyRecording { new: true, ..StudyRecording::new(study, model.clone()) };
    let concluded = recording_to_begin(recording, global)?.conclude(global)?;
    let run = concluded.run;
    if concluded.outcome() != "finished" {
        let status = concluded.report(global, output)?;
        write_err(&spell_commands(&format!("`{}` compares the answers then\n", compares(run))));
        return Ok(status);
    }
    let status = concluded.end(global)?;
    match status {
        Status::Fine => show(run, &select::open(global)?, &source, Some(&power), (global, output)),
        other => Ok(other),
    }
}

/// The settings of a look; `None` of any other run.
fn look_settings(source: &RunSource) -> Result<Option<DriftSettings>, CliError> {
    let started = latest_start(source.log.reader()?.as_mut(), source.run)?;
    let settings = started.settings["experiment"].clone();
    let settings = serde_json::from_value::<DriftSettings>(settings).ok();
    Ok(settings.filter(|_| started.experiment == NAME))
}

/// Shows what came of a look that is named itself: nothing is asked.
fn show_look(
    source: RunSource,
    settings: DriftSettings,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let (look, of) = (source.run, settings.of);
    let log = source.log.clone();
    if !log.reader()?.runs()?.iter().any(|head| head.run == of) {
        return Err(CliError::usage(format!(
            "run {look} asked prompts of run {of} again, which is not here: there is nothing to compare with"
        ))
        .hint("`retold import` or `retold copy` brings it"));
    }
    if how_it_ended(log.reader()?.as_mut(), look)?.is_none() {
        return Err(CliError::usage(format!("run {look} has not asked everything yet"))
            .hint(format!("`retold run --resume {}` continues it", look.short(8))));
    }
    show(look, &log, &RunSource { run: of, ..source }, None, (global, output))
}

/// The command that shows what came of a look.
fn compares(look: RunId) -> String {
    format!("retold check {} --ask-again", look.short(8))
}

/// Shows what came of a finished look at a run, and how it stands among all looks at it.
fn show(
    run: RunId,
    log: &Log,
    source: &RunSource,
    power: Option<&DriftPower>,
    (global, output): (&Global, &Output),
) -> Result<Status, CliError> {
    let looks = looks_at(log, source, global)?;
    let Some(look) = looks.iter().find(|look| look.run == run) else {
        return Err(CliError::new(Status::Io, format!("run {run} is not in the log any more")));
    };
    let has_changed = look.decisions.iter().any(DriftComparison::has_changed);
    if output.is_json() {
        output.object(&json!({"of": source.run, "run": run, "power": power,
            "decisions": look.decisions, "has_changed": has_changed,
            "looks": looks.iter().map(Look::json).collect::<Vec<_>>()}))?;
    } else {
        output.text(&text(look, &looks, source))?;
    }
    Ok(if has_changed { Status::Difference } else { Status::Fine })
}

/// Who is asked: as the run was, or, of a program, as the flags say.
fn runtime(source: &RunSource, model: &ModelArgs, global: &Global) -> Result<Runtime, CliError> {
    let started = latest_start(source.log.reader()?.as_mut(), source.run)?;
    let is_of_study = started.experiment != PROGRAM && started.is_of_experiment();
    let runtime = match is_of_study {
        true => settings_of(global.studies, &started)?.runtime,
        false => Runtime::default(),
    };
    if !model.names_server() && !is_of_study {
        return Err(CliError::usage("which model is asked again is not known of this run")
            .hint("--model PROVIDER/MODEL names it, as for `run`"));
    }
    Ok(runtime)
}

/// How many calls a look makes, and what they cost if they cost what the recorded ones did.
fn cost(source: &RunSource, calls: u64, args: &Args, global: &Global) -> Result<String, CliError> {
    let prices = args.again.model.prices()?;
    let mut reader = source.checked_reader()?;
    let figures = Totals::read(&mut reader, source.run, &prices)?.figures(global.studies.parsers());
    let answered = figures.all.counts.calls.answered.max(1);
    let each = figures.all.cost.dollars.filter(|_| figures.all.cost.is_complete);
    let all = each.map(|all| all / answered as f64 * calls as f64);
    Ok(format!("{} calls, for about {}", group_digits(calls), dollars(all)))
}

/// What came of a look, and how it stands among all looks at the run.
fn text(look: &Look, looks: &[Look], source: &RunSource) -> String {
    let mut text = String::new();
    for decision in &look.decisions {
        let DriftComparison { name, by, answers, new, values, p } = decision;
        let by = printable(by, SHOWN);
        text.push_str(&format!(
            "{} by {by}: {} and {} to the same prompts\n",
            printable(name, SHOWN),
            count_of(*answers as u64, "recorded answer"),
            count_of(*new as u64, "new one"),
        ));
        let mut shown: Vec<_> = values.iter().collect();
        shown.sort_by(|one, other| one.p.total_cmp(&other.p));
        for of in shown.iter().take(MOST_VALUES) {
            text.push_str(&value_line(of));
        }
        if let Some(left @ 1..) = values.len().checked_sub(MOST_VALUES) {
            text.push_str(&format!(
                "  and {}; --json has all\n",
                count_of(left as u64, "other value")
            ));
        }
        let said = if decision.has_changed() {
            "it changed"
        } else {
            "no change that this look could find"
        };
        let among = match look.decisions.len() {
            1 => String::new(),
            many => format!(", as one of {many} decisions"),
        };
        text.push_str(&format!("  {said}: p = {p:.4}{among} (permutation within each prompt)\n"));
    }
    if looks.len() > 1 {
        text.push_str(&format!("looks at run {} so far:\n", source.run.short(8)));
        for look in looks {
            text.push_str(&look.line());
        }
        let all = 1.0 - (1.0 - LEVEL).powi(looks.len() as i32);
        text.push_str(&format!(
            "each errs in at most {} % if nothing changed, and at least one of {} in up to {:.1} %\n",
            LEVEL * 100.0,
            looks.len(),
            all * 100.0
        ));
    }
    text
}

fn value_line(of: &retold_drift::ShiftedValue) -> String {
    let retold_drift::ShiftedValue { value, then, now, p } = of;
    match value {
        None => format!("  mean  {then:.3} then, {now:.3} now, {:+.3}\n", now - then),
        Some(value) => {
            let shown = match value {
                Value::Null => "no value".to_owned(),
                Value::String(text) => printable(text, SHOWN),
                other => printable(&other.to_string(), SHOWN),
            };
            let [then, now] = [then, now].map(|share| share * 100.0);
            format!(
                "  {shown:<12}  {then:5.1} % then, {now:5.1} % now, {:+.1} points, p = {p:.4}\n",
                now - then
            )
        }
    }
}
