//! `retold proxy`: a server for programs that are started elsewhere, each in a run of its own.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::args::{Playing, RulesArgs};
use super::commands::{nameable, recorded_urls};
use super::recorded::{added_settings, model, recorder_error, settings_of, started};
use super::running::PATIENCE;
use super::{environment, keys, next, said};
use crate::again::words;
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::Output;
use crate::redaction;
use crate::run_id::new_run_id;
use crate::select;
use crate::signal::Signals;
use retold::escaping::printable;
use retold::event::{RunResumed, RunStarted};
use retold::id::RunId;
use retold::log::Log;
use retold::run::{Budget, Recorder, how_it_ended, new_run_name};
use retold_wire::{
    Bodies, FailureReplay, Front, NoRun, Pace, ProgramSettings, Reach, RecordedRules, Rules, Runs,
    Samples, Server, Session, SessionSetup, SessionSummary, Token, Upstreams,
};

/// The variable that holds the token.
const TOKEN: &str = "RETOLD_TOKEN";

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

/// A proxy to be started.
pub(crate) struct Proxying {
    pub(crate) mode: ProxyMode,
    pub(crate) upstreams: Vec<String>,
    pub(crate) listen: SocketAddr,
    pub(crate) token_file: Option<PathBuf>,
    pub(crate) rules: RulesArgs,
    pub(crate) log_limit: Option<u64>,
    pub(crate) playing: Playing,
}

/// Serves until a signal ends it.
pub(crate) fn proxy(
    proxying: Proxying,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let Proxying { mode, upstreams, listen, token_file, rules, log_limit, playing } = proxying;
    let token = token(token_file.as_deref())?;
    if token.is_none() && !listen.ip().is_loopback() {
        let message =
            format!("{} can be reached from other machines, and there is no token", listen);
        return Err(CliError::usage(message)
            .hint("give one in a file (--token-file FILE) or in RETOLD_TOKEN")
            .hint("or listen on this machine alone: --listen 127.0.0.1:8377"));
    }
    fits(mode, &rules, playing)?;
    rules.check()?;
    let log = match mode {
        ProxyMode::Record | ProxyMode::Resume => {
            if rules.redacts() {
                redaction::can_be_kept(&global.log)?;
            }
            Log::new(global.open_or_create_within(log_limit)?)
        }
        ProxyMode::Replay => select::open(global)?,
    };
    let (rules, shared) = (rules.rules(&global.log)?, rules.shared);
    let (upstreams, names) = match mode {
        ProxyMode::Replay => (None, None),
        ProxyMode::Record | ProxyMode::Resume => {
            let named = environment::only(&upstreams)?;
            Upstreams::new(&named)?;
            let names: Vec<String> = named.keys().cloned().collect();
            (Some(named), Some(names))
        }
    };
    let runs = Arc::new(ProxyRuns {
        log,
        path: global.log.clone(),
        mode,
        upstreams,
        rules,
        shared,
        playing,
        is_json: global.json,
        is_quiet: global.quiet,
        open: Mutex::default(),
        differs: AtomicBool::new(false),
    });
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let tokio = tokio.map_err(|e| CliError::new(Status::Io, format!("no runtime: {e}")))?;
    let serving = serve(runs, listen, token_file.as_deref(), names, token, global, output);
    let result = tokio.block_on(serving);
    // Programs may have left connections open.
    tokio.shutdown_background();
    result
}

/// Refuses options that the mode would ignore.
fn fits(mode: ProxyMode, rules: &RulesArgs, playing: Playing) -> Result<(), CliError> {
    let of_recording = !rules.redact.is_empty();
    let of_replay = playing.failures == FailureReplay::LeftOut || playing.pace != Pace::AtOnce;
    match mode {
        ProxyMode::Replay if of_recording => {
            Err(CliError::usage("--redact is part of each run: a replay uses what was recorded"))
        }
        ProxyMode::Record | ProxyMode::Resume if of_replay => {
            Err(CliError::usage("--skip-errors and --pace are for --mode replay"))
        }
        _ => Ok(()),
    }
}

async fn serve(
    runs: Arc<ProxyRuns>,
    listen: SocketAddr,
    token_file: Option<&Path>,
    upstreams: Option<Vec<String>>,
    token: Option<Token>,
    global: &Global<'_>,
    output: &Output,
) -> Result<Status, CliError> {
    let mut signals = Signals::listen();
    let server = Server::bind_to(listen)
        .await
        .map_err(|e| CliError::new(Status::Io, format!("cannot listen on {listen}: {e}")))?;
    let url = format!("http://{}", shown_address(server.address()));
    if output.is_json() {
        output.object(&json!({"url": url, "upstreams": upstreams}))?;
    } else {
        output.text(&format!("{url}\n"))?;
    }
    if !global.quiet {
        let first = upstreams.iter().flatten().next().map_or("UPSTREAM", String::as_str);
        write_err(&format!(
            "retold: base URLs look like {url}/run/NAME/{first}; Ctrl-C or SIGTERM finishes the runs and ends this\n"
        ));
    }
    let reach = match token {
        // A machine that others can reach has names that it does not know.
        Some(_) => Reach::with_token(),
        None => Reach::this_machine(),
    };
    let front = Front {
        runs: runs.clone(),
        upstreams,
        reach,
        token,
        bodies: Bodies::default(),
        interception: None,
        origins: None,
    };
    let serving = tokio::spawn(server.serve(Arc::new(front)));
    signals.next().await;
    let patience = tokio::time::sleep(PATIENCE);
    let ended = tokio::select! {
        ended = runs.end_all() => ended,
        () = patience => Err(CliError::new(Status::Io, "answers are under way that do not end: their runs are not finished")),
        // A second signal: the runs can be resumed.
        _ = signals.next() => Err(CliError::new(Status::Interrupted, "ended before the runs were finished")
            .hint(format!("`retold {}` continues them", runs.again(listen, token_file)))),
    };
    serving.abort();
    ended?;
    Ok(if runs.differs.load(Ordering::Relaxed) { Status::Difference } else { Status::Fine })
}

/// An address as a client on this machine would write it.
fn shown_address(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        ip if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
        }
        _ => address,
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
        object["name"] = json!(name);
        write_err(&format!("{object}\n"));
        return;
    }
    let differs = summary.missed + summary.differences > 0;
    if !quiet || differs {
        let name = printable(name, 100);
        let did = match mode {
            ProxyMode::Replay => {
                let (sent, shared) = (said::sent_again(summary), said::shared(summary));
                format!("replayed {sent} of run {}{shared}", run.short(8))
            }
            ProxyMode::Record | ProxyMode::Resume => said::recorded(run, summary),
        };
        let (led, differences) = (said::led(summary), said::differences(summary));
        let next = match mode == ProxyMode::Replay && summary.missed > 0 && !ended_before {
            true => {
                "  the run was not finished: `retold proxy --mode resume` continues it, and asks what is missing\n"
            }
            false => "",
        };
        write_err(&format!("retold: {name}: {did}\n{led}{differences}{next}"));
    }
}

/// The token, from a file or the environment.
fn token(file: Option<&Path>) -> Result<Option<Token>, CliError> {
    let (text, from) = match file {
        Some(file) => {
            let text = std::fs::read_to_string(file).map_err(|e| {
                CliError::new(Status::Io, format!("cannot read {}: {e}", file.display()))
            })?;
            (text, file.display().to_string())
        }
        None => match environment::variable(TOKEN) {
            Some(text) => (text, TOKEN.to_owned()),
            None => return Ok(None),
        },
    };
    // The token itself is never shown.
    Token::new(text.trim()).map(Some).map_err(|error| CliError::usage(format!("{from}: {error}")))
}

type Opened = Arc<OnceCell<(RunId, Arc<Session>)>>;

/// The runs of a proxy.
struct ProxyRuns {
    log: Log,
    path: PathBuf,
    mode: ProxyMode,
    /// `None` for a replay.
    upstreams: Option<BTreeMap<String, retold::model::NamedUrl>>,
    rules: Rules,
    shared: bool,
    playing: Playing,
    /// Whether what is said of a run is JSON.
    is_json: bool,
    /// Whether it is said only if something differs.
    is_quiet: bool,
    open: Mutex<BTreeMap<String, Opened>>,
    /// Whether a run was not as recorded.
    differs: AtomicBool,
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
                let rules = rules.adding(self.added())?;
                let samples = Samples::open(&self.log, run, &rules, self.playing.failures)?;
                (run, None, samples, settings, rules)
            }
            ProxyMode::Resume => match self.last(name)? {
                None => self.new_run(name).await?,
                Some(run) => {
                    let (settings, rules) = self.settings_of(run)?;
                    redaction::needed(run, &rules)?;
                    self.same_redaction(run, &rules)?;
                    let added = self.added().besides(rules.recorded());
                    let rules = rules.adding(added.clone())?;
                    if let Some(outcome) = how_it_ended(self.log.reader()?.as_mut(), run)? {
                        let outcome = outcome.as_str();
                        let message = format!("run {run} is {outcome}, and nothing is added to it");
                        return Err(CliError::usage(message)
                            .hint("--mode replay answers from it, --mode record begins another"));
                    }
                    let mut recorder = Recorder::go_on(&self.log, run).map_err(recorder_error)?;
                    select::sound(self.log.reader()?.as_mut(), run, "nothing was recorded")?;
                    let samples = Samples::open(&self.log, run, &rules, FailureReplay::AskedAgain)?;
                    let program = retold::PROGRAM.to_owned();
                    let resumed = RunResumed {
                        model: json!(model()),
                        program,
                        retry_failed: false,
                        settings: added_settings(&added),
                    };
                    recorder.resumed(resumed).await.map_err(recorder_error)?;
                    (run, Some(recorder), samples, settings, rules)
                }
            },
        };
        let upstreams = self.upstreams.as_ref().map(Upstreams::new).transpose()?;
        let setup = SessionSetup {
            log: self.log.clone(),
            run,
            recorder,
            samples,
            same_run: true,
            rules,
            upstreams,
            budget: Budget::unlimited(),
            shared: settings.shared || self.shared,
            pace: self.playing.pace,
        };
        Ok((run, Session::new(setup)?))
    }

    fn settings_of(&self, run: RunId) -> Result<(ProgramSettings, Rules), CliError> {
        settings_of(&self.log, run, &redaction::keys(&self.path)?, |_| {
            format!("replay {}", run.short(8))
        })
    }

    /// What is added to the rules of a run that was begun before.
    fn added(&self) -> RecordedRules {
        RecordedRules { redact: None, ..self.rules.recorded().clone() }
    }

    /// Refuses to continue a run that takes out something else than what is asked for now.
    fn same_redaction(&self, run: RunId, rules: &Rules) -> Result<(), CliError> {
        let (given, recorded) = (&self.rules.recorded().redact, &rules.recorded().redact);
        if given.is_none() || given == recorded {
            return Ok(());
        }
        let message = format!("run {run} was begun without these patterns for --redact");
        Err(CliError::usage(message).hint(
            "leave out --redact to continue it with its own, or give those that it was begun with",
        ))
    }

    /// The command that continues these runs.
    fn again(&self, listen: SocketAddr, token_file: Option<&Path>) -> String {
        let mut all = ["proxy", "--mode", "resume"].map(str::to_owned).to_vec();
        for (name, url) in self.urls() {
            all.extend(["--upstream".to_owned(), format!("{name}={}", next::shown(&url))]);
        }
        all.extend(["--listen".to_owned(), listen.to_string()]);
        if let Some(file) = token_file {
            all.extend(["--token-file".to_owned(), file.display().to_string()]);
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
            command: Vec::new(),
            imported: None,
            intercept: None,
            name: Some(name.to_owned()),
            rules: self.rules.recorded().clone(),
            shared: self.shared,
            upstreams: self.upstreams.iter().flat_map(|named| named.keys().cloned()).collect(),
            urls: recorded_urls(self.urls(), &self.rules),
        };
        let run = new_run_id()?;
        let begun = Recorder::begin(&self.log, run, started(&settings, None)?).await;
        let recorder = begun.map_err(recorder_error)?;
        Ok((run, Some(recorder), Samples::none(), settings, self.rules.clone()))
    }

    /// Ends a run: what is under way is waited for.
    async fn end(&self, name: &str, run: RunId, session: &Session) -> Result<Value, CliError> {
        session.close();
        session.idle().await;
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
    async fn end_all(&self) -> Result<(), CliError> {
        let open = std::mem::take(&mut *lock(&self.open));
        for session in open.values().filter_map(|cell| cell.get()) {
            session.1.close();
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
