//! The runs of a proxy: one for each name that requests have.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::args::Playing;
use super::commands::{nameable, recorded_urls};
use super::longest_body::longest_body;
use super::recorded::{added_settings, first_event, model, recorder_error, settings_of};
use super::{authorities, keys, next, said};
use crate::again::words;
use crate::error::{CliError, Status, write_err};
use crate::run_id::new_run_id;
use crate::{redaction, select};
use retold::escaping::printable;
use retold::event::{RunResumed, RunStarted};
use retold::id::RunId;
use retold::log::Log;
use retold::members::Members;
use retold::run::{Budget, Recorder, how_it_ended, new_run_name};
use retold_wire::{
    NoRun, ProgramSettings, RecordedRules, Rules, Runs, Samples, Session, SessionSetup,
    SessionSummary, Upstreams,
};

/// The most runs at the same time.
const MOST_RUNS: usize = 1000;

/// The name of the run of requests that name none.
const UNNAMED: &str = "default";

/// What a proxy does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ProxyMode {
    /// Ask the upstreams, and record: a new run for each name.
    Record,
    /// Answer from the last run of each name alone.
    Replay,
    /// Answer from the last run of each name, which was cut off, then ask and record. A name without
    /// a run begins one.
    Resume,
}

type Opened = Arc<OnceCell<(RunId, Arc<Session>)>>;

/// The runs of a proxy.
pub(super) struct ProxyRuns {
    pub(super) log: Log,
    pub(super) path: PathBuf,
    pub(super) mode: ProxyMode,
    /// `None` for a replay.
    pub(super) upstreams: Option<BTreeMap<String, retold::model::NamedUrl>>,
    pub(super) rules: Rules,
    pub(super) shared: bool,
    pub(super) playing: Playing,
    /// True if reports about runs are JSON.
    pub(super) is_json: bool,
    /// True if a run is reported only if something differs.
    pub(super) is_quiet: bool,
    pub(super) open: Mutex<BTreeMap<String, Opened>>,
    /// Whether a run was not as recorded.
    pub(super) differs: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Runs for ProxyRuns {
    fn session<'a>(&'a self, name: Option<&'a str>) -> Later<'a, Result<Arc<Session>, NoRun>> {
        Box::pin(async move {
            let name = name.unwrap_or(UNNAMED);
            let cell = {
                let mut open = lock(&self.open);
                if open.len() >= MOST_RUNS && !open.contains_key(name) {
                    return Err(NoRun::new(
                        429,
                        format!(
                            "{MOST_RUNS} runs are open: POST /run/NAME/_retold/finish ends one"
                        ),
                    ));
                }
                open.entry(name.to_owned()).or_default().clone()
            };
            let opened = cell.get_or_try_init(|| self.begin(name)).await;
            match opened {
                Ok((_, session)) => Ok(session.clone()),
                Err(error) => {
                    write_err(&format!("retold: {}: {}\n", printable(name, 100), error.message));
                    let hints = error.hints.iter().map(|hint| format!("; {hint}"));
                    let message = std::iter::once(error.message.clone()).chain(hints).collect();
                    // It may be found next time.
                    lock(&self.open).retain(|other, cell| other != name || cell.initialized());
                    Err(NoRun::new(if error.status == Status::Usage { 404 } else { 500 }, message))
                }
            }
        })
    }

    fn finish<'a>(&'a self, name: Option<&'a str>) -> Later<'a, Result<Value, NoRun>> {
        Box::pin(async move {
            let name = name.unwrap_or(UNNAMED);
            let cell = lock(&self.open).remove(name);
            let Some((run, session)) = cell.as_ref().and_then(|cell| cell.get()).cloned() else {
                return Err(NoRun::new(404, format!("no run {name} is open")));
            };
            let ended = self.end(name, run, &session).await;
            ended.map_err(|error| NoRun::new(500, error.message))
        })
    }
}

type Later<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl ProxyRuns {
    /// Begins, opens or continues the run of a name.
    async fn begin(&self, name: &str) -> Result<(RunId, Arc<Session>), CliError> {
        let (run, recorder, samples, settings, rules) = match self.mode {
            ProxyMode::Record => self.new_run(name).await?,
            ProxyMode::Replay => {
                let run = self.last(name)?.ok_or_else(|| {
                    let message = format!("no run in {} has the name {name}", self.path.display());
                    CliError::usage(message).hint("`retold log` lists the runs")
                })?;
                let (settings, rules) = self.settings_of(run)?;
                let rules = rules.adding(self.added_rules())?;
                let samples = Samples::open(&self.log, run, &rules, self.playing.failures)?;
                (run, None, samples, settings, rules)
            }
            ProxyMode::Resume => match self.last(name)? {
                None => self.new_run(name).await?,
                Some(run) => {
                    let (settings, rules) = self.settings_of(run)?;
                    redaction::require_key(run, &rules)?;
                    self.same_redaction(run, &rules)?;
                    let added = self.added_rules().besides(rules.as_recorded());
                    let rules = rules.adding(added.clone())?;
                    if let Some(outcome) = how_it_ended(self.log.reader()?.as_mut(), run)? {
                        let outcome = outcome.as_str();
                        let message = format!("run {run} is {outcome}, and nothing is added to it");
                        return Err(CliError::usage(message)
                            .hint("--mode replay answers from it, --mode record begins another"));
                    }
                    let mut recorder = Recorder::go_on(&self.log, run).map_err(recorder_error)?;
                    select::sound(&self.log, run, "nothing was recorded")?;
                    let samples = Samples::to_continue(&self.log, run, &rules, false)?;
                    let program = retold::PROGRAM.to_owned();
                    let resumed = RunResumed {
                        model: json!(model()),
                        program,
                        retry_failed: false,
                        settings: added_settings(&added),
                    };
                    recorder.record_resumption(resumed).await.map_err(recorder_error)?;
                    (run, Some(recorder), samples, settings, rules)
                }
            },
        };
        let upstreams = self
            .upstreams
            .as_ref()
            .map(|named| Upstreams::trusting(named, &authorities::named_files()));
        let upstreams = upstreams.transpose()?;
        let setup = SessionSetup {
            log: self.log.clone(),
            run,
            recorder,
            samples,
            rules,
            upstreams,
            budget: Budget::unlimited(),
            shared: settings.shared || self.shared,
            is_chance_recorded: settings.chance.is_some(),
            holds: false,
            pace: self.playing.pace,
            longest_body: longest_body()?,
        };
        Ok((run, Session::new(setup)?))
    }

    fn settings_of(&self, run: RunId) -> Result<(ProgramSettings, Rules), CliError> {
        settings_of(&self.log, run, &redaction::keys(&self.path)?, |_| {
            format!("replay {}", run.short(8))
        })
    }

    /// The additions to the rules of a run that was begun before.
    fn added_rules(&self) -> RecordedRules {
        RecordedRules { redact: None, ..self.rules.as_recorded().clone() }
    }

    /// Refuses to continue a run that redacts by other patterns than those given now.
    fn same_redaction(&self, run: RunId, rules: &Rules) -> Result<(), CliError> {
        let (given, recorded) = (&self.rules.as_recorded().redact, &rules.as_recorded().redact);
        if given.is_none() || given == recorded {
            return Ok(());
        }
        let message = format!("run {run} was begun without these patterns for --redact");
        Err(CliError::usage(message).hint(
            "leave out --redact to continue it with its own, or give those that it was begun with",
        ))
    }

    /// The command that continues these runs.
    pub(super) fn again(
        &self,
        listen: SocketAddr,
        token_file: Option<&Path>,
        no_token: bool,
    ) -> String {
        let mut all = ["proxy", "--mode", "resume"].map(str::to_owned).to_vec();
        for (name, url) in self.urls() {
            all.extend(["--upstream".to_owned(), format!("{name}={}", next::url_to_show(&url))]);
        }
        all.extend(["--listen".to_owned(), listen.to_string()]);
        if let Some(file) = token_file {
            all.extend(["--token-file".to_owned(), file.display().to_string()]);
        }
        if no_token {
            all.push("--no-token".to_owned());
        }
        words(&all).unwrap_or_else(|| "proxy --mode resume --upstream NAME=URL".to_owned())
    }

    /// Where the requests of each upstream go, as it may be recorded and shown.
    fn urls(&self) -> BTreeMap<String, String> {
        let named = self.upstreams.iter().flatten();
        named.map(|(name, url)| (name.clone(), keys::url_without_keys(url))).collect()
    }

    /// The last run of a name, or the run of an id.
    fn last(&self, name: &str) -> Result<Option<RunId>, CliError> {
        let mut reader = self.log.reader()?;
        let runs = reader.runs()?;
        if let Ok(run) = name.parse()
            && runs.iter().any(|head| head.run == run)
        {
            return Ok(Some(run));
        }
        let name_of = |started: &RunStarted| started.program_name().map(str::to_owned);
        let last = retold_archive::find_last_named(reader.as_mut(), &runs, name, &name_of);
        Ok(last.map(|head| head.run))
    }

    async fn new_run(
        &self,
        name: &str,
    ) -> Result<(RunId, Option<Recorder>, Samples, ProgramSettings, Rules), CliError> {
        let unusable = |error| CliError::usage(format!("no run can be named {name:?}: {error}"));
        new_run_name(name).map_err(unusable)?;
        nameable(Some(name), &self.rules)?;
        let settings = ProgramSettings {
            chance: None,
            command: Vec::new(),
            imported: None,
            intercept: None,
            name: Some(name.to_owned()),
            rules: self.rules.as_recorded().clone(),
            shared: self.shared,
            upstreams: self.upstreams.iter().flat_map(|named| named.keys().cloned()).collect(),
            urls: recorded_urls(self.urls(), &self.rules),
        };
        let run = new_run_id()?;
        let begun = Recorder::begin(&self.log, run, first_event(&settings, None)?).await;
        let recorder = begun.map_err(recorder_error)?;
        Ok((run, Some(recorder), Samples::none(), settings, self.rules.clone()))
    }

    /// Ends a run, after waiting for the requests under way.
    async fn end(&self, name: &str, run: RunId, session: &Session) -> Result<Value, CliError> {
        session.work.close();
        session.work.idle().await;
        session.compare_the_rest()?;
        let summary = session.summary();
        let object = said::object(run, &summary);
        let finished = summary.differences == 0;
        if summary.missed + summary.differences > 0 {
            self.differs.store(true, Ordering::Relaxed);
        }
        let ended_before = how_it_ended(self.log.reader()?.as_mut(), run)?.is_some();
        report(name, run, self.mode, &summary, ended_before, self.is_json, self.is_quiet);
        session.end(finished).await.map_err(recorder_error)?;
        Ok(object)
    }

    /// Ends all runs.
    pub(super) async fn end_all(&self) -> Result<(), CliError> {
        let open = std::mem::take(&mut *lock(&self.open));
        for session in open.values().filter_map(|cell| cell.get()) {
            session.1.work.close();
        }
        let mut result = Ok(());
        for (name, cell) in open {
            if let Some((run, session)) = cell.get() {
                let ended = self.end(&name, *run, session).await;
                result = result.and(ended.map(drop));
            }
        }
        result
    }
}

/// Says on stderr what happened in a run.
fn report(
    name: &str,
    run: RunId,
    mode: ProxyMode,
    summary: &SessionSummary,
    ended_before: bool,
    json: bool,
    quiet: bool,
) {
    if json {
        let mut object = said::object(run, summary);
        object.set("name", json!(name));
        write_err(&format!("{object}\n"));
        return;
    }
    let differs = summary.missed + summary.differences > 0;
    if !quiet || differs {
        let name = printable(name, 100);
        let did = match mode {
            ProxyMode::Replay => {
                let (sent, shared) = (said::sent_again(summary), said::shared_text(summary));
                format!("replayed {sent} of run {}{shared}", run.short(8))
            }
            ProxyMode::Record | ProxyMode::Resume => said::record_text(run, summary),
        };
        let (led, differences) = (said::led_lines(summary), said::differences(summary));
        let next = match mode == ProxyMode::Replay && summary.missed > 0 && !ended_before {
            true => {
                "  the run was not finished: `retold proxy --mode resume` continues it, and asks what is missing\n"
            }
            false => "",
        };
        write_err(&format!("retold: {name}: {did}\n{led}{differences}{next}"));
    }
}
