//! Recording, replaying, resuming and forking the run of a program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use super::args::{
    InterceptArgs, MatchingArgs, Playing, PlayingArgs, ProgramCommand, ProgramProcess, RulesArgs,
    flags,
};
use super::chance::ChanceArg;
use super::destinations::{Destinations, ProgramDestinations, UnnamedServers};
use super::layers::{Layers, settle_layer};
use super::recorded::{added_settings, first_event, recorder_error, settings_of};
use super::running::{Program, ProgramEnd, Writing};
use super::{environment, keys, next};
use crate::again::spell_commands;
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::limits::BudgetArgs;
use crate::redaction;
use crate::run_id::new_run_id;
use crate::runs::changes::{place_of, question_of};
use crate::runs::continuation;
use crate::runs::plan::PlanInLog;
use crate::select::{self, RunSelection};
use retold::audit::Target;
use retold::batch::RunBatches;
use retold::escaping::printable;
use retold::event::{ForkedFrom, RunStarted};
use retold::id::RunId;
use retold::log::{Log, RunHead, is_being_written};
use retold::run::{Budget, Recorder, how_it_ended};
use retold_archive::{find_last_named, has_asked};
use retold_wire::{KnownKeys, MASK, Pace, ProgramSettings, Rules, Samples};

/// A program to be recorded.
pub(crate) struct ProgramRecording {
    pub(crate) name: Option<String>,
    /// The run of the plan by which it is recorded, as it was named.
    pub(crate) plan: Option<String>,
    pub(crate) destinations: Destinations,
    pub(crate) rules: RulesArgs,
    pub(crate) log_limit: Option<u64>,
    pub(crate) chance: Option<ChanceArg>,
    pub(crate) budget: BudgetArgs,
    pub(crate) command: ProgramCommand,
    pub(crate) layers: Layers,
}

/// Records a program.
pub(crate) fn record(recording: ProgramRecording, global: &Global) -> Result<Status, CliError> {
    let ProgramRecording {
        name,
        plan,
        destinations,
        rules,
        log_limit,
        chance,
        budget: budget_args,
        command,
        layers,
    } = recording;
    rules.check()?;
    if layers.is_asked && rules.shared {
        return Err(shared_by_batch());
    }
    let budget = budget_args.budget()?;
    let watch = destinations.intercept.watch;
    let ProgramDestinations { upstreams, names, hosts, urls } = destinations.of_new_run()?;
    if rules.redacts() {
        redaction::can_be_kept(&global.log)?;
    }
    let log = Log::new(global.open_or_create_within(log_limit)?);
    let (shared, rules) = (rules.shared, rules.rules(&global.log)?);
    let plan = plan.map(|plan| PlanInLog::find(&plan, &log, global)).transpose()?;
    let planned_name = plan.as_ref().and_then(PlanInLog::program_name).map(str::to_owned);
    let name = name.or(planned_name);
    nameable(name.as_deref(), &rules)?;
    let unfinished = name.as_deref().map(|name| find_unfinished(&log, name, global)).transpose()?;
    let unfinished = unfinished.flatten();
    if let Some((run, started)) =
        unfinished.as_ref().filter(|_| command.process == ProgramProcess::Child)
    {
        let (id, name) = (run.short(8), printable(name.as_deref().unwrap_or_default(), 100));
        let next = next::command("record --resume", *run, &[], started);
        write_err(&spell_commands(&format!(
            "note: run {id}, which is also named \"{name}\", is not finished: `retold {next}` continues it\n"
        )));
    }
    let run = new_run_id()?;
    let settings = ProgramSettings {
        chance: chance.map(ChanceArg::recorded).transpose()?,
        command: words_to_record(&command, &rules),
        imported: None,
        intercept: hosts.as_ref().map(|hosts| hosts.keys().cloned().collect()),
        name,
        rules: rules.as_recorded().clone(),
        shared,
        upstreams: names,
        urls: recorded_urls(urls, &rules),
    };
    let mut started = first_event(&settings, None)?;
    if let Some(plan) = &plan {
        plan.record(&mut started)?;
    }
    let writing = Writing::Begin(Box::new(started));
    let program = Program {
        log,
        run,
        writing: Some(writing),
        samples: Samples::none(),
        rules,
        upstreams: Some(upstreams),
        budget,
        hosts,
        watch,
        pace: Pace::AtOnce,
        settings,
        command: command.clone(),
        unfinished: unfinished.map(|(run, _)| run),
        gather: layers.is_asked.then_some(layers.gather),
    };
    begin(program, (&destinations, &budget_args), layers, global)
}

/// Runs the program of a new run, and as long as it waits for batches that end while the command waits, once more.
fn begin(
    program: Program,
    (destinations, budget): (&Destinations, &BudgetArgs),
    layers: Layers,
    global: &Global,
) -> Result<Status, CliError> {
    let (log, run, command) = (program.log.clone(), program.run, program.command.clone());
    let layer = match program.go(global)? {
        ProgramEnd::Ended(status) => return Ok(status),
        ProgramEnd::Held(layer) => layer,
    };
    if let Some(status) = settle_layer(&layer, layers, true, (&log, run), global)? {
        return Ok(status);
    }
    drop((layer, log));
    let again = ProgramResumption {
        name: &run.to_string(),
        matching: &MatchingArgs::default(),
        retry_failed: false,
        destinations,
        budget,
        layers,
        command,
    };
    resume(again, global)
}

/// The last run of a name, if it has asked something, did not come to its end, and nobody is writing it.
fn find_unfinished(
    log: &Log,
    name: &str,
    global: &Global,
) -> Result<Option<(RunId, RunStarted)>, CliError> {
    let mut reader = log.reader()?;
    let runs = reader.runs()?;
    let name_of = |started: &RunStarted| started.program_name().map(str::to_owned);
    let last = find_last_named(reader.as_mut(), &runs, name, &name_of);
    let Some(RunHead { run, .. }) = last else { return Ok(None) };
    let is_open = how_it_ended(reader.as_mut(), run)?.is_none()
        && has_asked(reader.as_mut(), run)
        && !is_being_written(&global.log, run);
    if !is_open {
        return Ok(None);
    }
    Ok(Some((run, select::run_start(reader.as_mut(), run)?)))
}

/// Replays a program.
pub(crate) fn replay(
    name: &str,
    playing: PlayingArgs,
    intercept: &InterceptArgs,
    command: ProgramCommand,
    global: &Global,
) -> Result<Status, CliError> {
    let mut known = redaction::keys(&global.log)?;
    let RunSelection { log, run } = match select::names_a_file(global, name) {
        true => {
            let KnownKeys { keys, place } = redaction::keys(Path::new(name))?;
            known = KnownKeys { keys: [keys, known.keys].concat(), place };
            select::run_or_file(global, name)?
        }
        false => select::run(global, name)?,
    };
    let (mut settings, rules) =
        settings_of(&log, run, &known, |_| format!("replay {}", run.short(8)))?;
    if let Some(place) = rules.lacks_key() {
        let (run, how) = (run.short(8), redaction::HOW_TO_GET);
        write_err(&spell_commands(&format!(
            "warning: run {run} was recorded with --redact, and its key is not in {place}: requests with a redacted \
             value are not found, all others are replayed\n  hint: {how}\n"
        )));
    }
    let rules = rules.adding(playing.matching.added_rules()?)?;
    settings.shared |= playing.matching.shared;
    let Playing { failures, pace } = playing.playing();
    let samples = Samples::open(&log, run, &rules, failures)?;
    let (writing, upstreams, budget) = (None, None, Budget::unlimited());
    // The names of hosts choose no server: nothing is asked.
    let recorded = settings.intercept.clone();
    let hosts = match intercept.intercept || recorded.is_some() {
        true => {
            let names = [recorded.unwrap_or_default(), intercept.hosts.clone()].concat();
            Some(environment::hosts(&names)?.0)
        }
        false => None,
    };
    let watch = intercept.watch;
    if let Some(hosts) = &hosts {
        settings.intercept = Some(hosts.keys().cloned().collect());
    }
    Program {
        log,
        run,
        writing,
        samples,
        rules,
        upstreams,
        budget,
        hosts,
        watch,
        pace,
        settings,
        command,
        unfinished: None,
        gather: None,
    }
    .go(global)
    .map(ProgramEnd::status)
}

/// A program's run that is to be continued.
pub(crate) struct ProgramResumption<'a> {
    pub(crate) name: &'a str,
    pub(crate) matching: &'a MatchingArgs,
    pub(crate) retry_failed: bool,
    pub(crate) destinations: &'a Destinations,
    pub(crate) budget: &'a BudgetArgs,
    pub(crate) layers: Layers,
    pub(crate) command: ProgramCommand,
}

/// Continues a program's run that was cut off.
pub(crate) fn resume(of: ProgramResumption<'_>, global: &Global) -> Result<Status, CliError> {
    loop {
        let (end, log, run) = resume_once(&of, global)?;
        let layer = match end {
            ProgramEnd::Ended(status) => return Ok(status),
            ProgramEnd::Held(layer) => layer,
        };
        if let Some(status) = settle_layer(&layer, of.layers, false, (&log, run), global)? {
            return Ok(status);
        }
    }
}

/// Refuses to hold requests whose answers are to be shared.
fn shared_by_batch() -> CliError {
    CliError::usage(
        "--batch and --shared contradict each other: what is held cannot wait for an equal request",
    )
    .hint("leave out --shared: equal requests are lines of one batch")
}

/// Runs the program of a run once more.
fn resume_once(
    of: &ProgramResumption<'_>,
    global: &Global,
) -> Result<(ProgramEnd, Log, RunId), CliError> {
    let ProgramResumption { name, matching, retry_failed, destinations, budget, layers, command } =
        of;
    let (retry_failed, command) = (*retry_failed, command.clone());
    let budget = budget.budget()?;
    let RunSelection { log, run } = select::run(global, name)?;
    let (mut settings, rules) =
        settings_of(&log, run, &redaction::keys(&global.log)?, |started| {
            continuation::command(global.studies, started, &run.short(8))
        })?;
    redaction::require_key(run, &rules)?;
    let added = matching.added_rules()?.besides(rules.as_recorded());
    let rules = rules.adding(added.clone())?;
    settings.shared |= matching.shared;
    if let Some(outcome) = how_it_ended(log.reader()?.as_mut(), run)? {
        let message = format!("run {run} is {}, and nothing is added to it", outcome.as_str());
        let next = |verb| next::with(verb, run, &[], &settings);
        return Err(CliError::usage(message)
            .hint(format!("`retold {}` runs the program from its answers", next("replay")))
            .hint(format!("`retold {}` records a new run that begins with them", next("fork"))));
    }
    let watch = destinations.intercept.watch;
    let named = destinations.of_more(&log, run, &settings, command.process)?;
    let flags = flags(matching, retry_failed, watch);
    let unnamed =
        |it: UnnamedServers| it.error("record --resume", run, &settings, &flags, &command.words);
    let ProgramDestinations { upstreams, names: _, hosts, urls } = named.map_err(unnamed)?;
    settings.urls.extend(urls);
    let opened = hosts.as_ref().map(|hosts| hosts.keys().cloned().collect());
    settings.intercept = opened.or(settings.intercept);
    // Take the lease first, so that nothing is added between looking and writing.
    let recorder = Recorder::go_on(&log, run).map_err(recorder_error)?;
    select::sound(&log, run, "nothing was recorded")?;
    let samples = Samples::to_continue(&log, run, &rules, retry_failed)?;
    budget.count_recorded(log.reader()?.as_mut(), run)?;
    // What a batch may have is not asked a second time.
    let has_batches = RunBatches::are_open(log.reader()?.as_mut(), run)?;
    let is_by_batch = has_batches || layers.is_asked;
    if is_by_batch && settings.shared {
        return Err(shared_by_batch());
    }
    let program = Program {
        log: log.clone(),
        run,
        writing: Some(Writing::GoOn { recorder, retry_failed, settings: added_settings(&added) }),
        samples,
        rules,
        upstreams: Some(upstreams),
        budget,
        hosts,
        watch,
        pace: Pace::AtOnce,
        settings,
        command,
        unfinished: None,
        gather: is_by_batch.then_some(layers.gather),
    };
    Ok((program.go(global)?, log, run))
}

/// A fork of a program's run.
pub(crate) struct ProgramFork<'a> {
    /// The run whose answers it shares.
    pub(crate) of: &'a str,
    /// Its own name.
    pub(crate) name: Option<String>,
    pub(crate) matching: &'a MatchingArgs,
    pub(crate) retry_failed: bool,
    /// The places of which it shares what is before, and whose answer it does not share.
    pub(crate) at: Option<&'a Target>,
    pub(crate) without: Option<&'a Target>,
    pub(crate) layers: Layers,
}

/// Records a new run of a program that shares what another has.
pub(crate) fn fork(
    fork: ProgramFork<'_>,
    destinations: &Destinations,
    budget_args: &BudgetArgs,
    command: ProgramCommand,
    global: &Global,
) -> Result<Status, CliError> {
    let ProgramFork { of, name, matching, retry_failed, at, without, layers } = fork;
    let budget = budget_args.budget()?;
    let RunSelection { log, run: parent } = select::run(global, of)?;
    let (settings, rules) = settings_of(&log, parent, &redaction::keys(&global.log)?, |_| {
        format!("fork {}", parent.short(8))
    })?;
    redaction::require_key(parent, &rules)?;
    let rules = rules.adding(matching.added_rules()?)?;
    nameable(name.as_deref(), &rules)?;
    let watch = destinations.intercept.watch;
    let named = destinations.of_more(&log, parent, &settings, command.process)?;
    let flags = flags(matching, retry_failed, watch);
    let unnamed = |it: UnnamedServers| it.error("fork", parent, &settings, &flags, &command.words);
    let ProgramDestinations { upstreams, names, hosts, urls } = named.map_err(unnamed)?;
    select::sound(&log, parent, "nothing was recorded")?;
    let mut reader = log.reader()?;
    let before = place_of(at, reader.as_mut(), parent, global.studies)?;
    let without = question_of(without, reader.as_mut(), parent, global.studies)?;
    drop(reader);
    let forked = ForkedFrom { before, retry_failed, run: parent, without };
    let samples = Samples::to_fork(&log, forked, &rules)?;
    let settings = ProgramSettings {
        chance: settings.chance,
        command: words_to_record(&command, &rules),
        imported: None,
        intercept: hosts.as_ref().map(|hosts| hosts.keys().cloned().collect()),
        // Without one: the name of the other run still means that.
        name,
        upstreams: names,
        urls: recorded_urls(urls, &rules),
        rules: rules.as_recorded().clone(),
        shared: settings.shared || matching.shared,
    };
    if layers.is_asked && settings.shared {
        return Err(shared_by_batch());
    }
    let program = Program {
        log,
        run: new_run_id()?,
        writing: Some(Writing::Begin(Box::new(first_event(&settings, Some(forked))?))),
        samples,
        rules,
        upstreams: Some(upstreams),
        budget,
        hosts,
        watch,
        pace: Pace::AtOnce,
        settings,
        command: command.clone(),
        unfinished: None,
        gather: layers.is_asked.then_some(layers.gather),
    };
    begin(program, (destinations, budget_args), layers, global)
}

/// Refuses a name of a run that has something in it that is taken out: the run is found by its name.
pub(super) fn nameable(name: Option<&str>, rules: &Rules) -> Result<(), CliError> {
    match name.is_some_and(|name| rules.redact_text(name) != name) {
        true => Err(CliError::usage(
            "the name of the run has something in it that --redact takes out: choose another name",
        )),
        false => Ok(()),
    }
}

/// A command as it is recorded: without keys and without redacted parts; or the name of its program alone.
fn words_to_record(command: &ProgramCommand, rules: &Rules) -> Vec<String> {
    let ProgramCommand { words, is_hidden, .. } = command;
    let name = |word: &OsString| Path::new(word).file_name().unwrap_or(word).to_owned();
    let words = match is_hidden {
        true => keys::without_keys(&words.first().map(name).into_iter().collect::<Vec<_>>()),
        false => keys::without_keys(words),
    };
    let words = words.into_iter();
    words.map(|word| rules.redact_text(&word)).collect()
}

/// URLs as they are recorded: without redacted parts, which nobody could type.
pub(super) fn recorded_urls(
    urls: BTreeMap<String, String>,
    rules: &Rules,
) -> BTreeMap<String, String> {
    let redacted = |url: String| match rules.redact_text(&url) {
        redacted if redacted == url => url,
        redacted => format!("{redacted}{}", MASK),
    };
    urls.into_iter().map(|(name, url)| (name, redacted(url))).collect()
}
