//! Runs a program with its requests to models recorded, or answered from a recorded run.

mod authorities;
mod child;
mod environment;
mod keys;
mod proxy;
mod said;

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use crate::again::words;
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::run_id::new_run_id;
use crate::select::{self, Selected};
use crate::signal::Signals;
use retold::event::{RunResumed, RunStarted};
use retold::id::RunId;
use retold::log::{Log, SqliteBackend, SqliteOptions};
use retold::model::ModelInfo;
use retold::run::{Parent, Recorder, RecorderError, how_it_ended};
use retold_wire::{
    AuthorityError, Front, Interception, NamedHosts, PROGRAM, Pace, RuleError, Rules, Samples,
    Server, Session, Settings, Setup, UpstreamError, Upstreams, clients,
};

use authorities::Authorities;
use environment::Environment;
pub(crate) use proxy::{ProxyMode, Proxying, proxy};
use said::Done;

/// How long answers that are under way are waited for when the program has ended: a little longer
/// than an upstream is read on for.
const PATIENCE: Duration = Duration::from_secs(65);

/// How a program's run is replayed.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct PlayingArgs {
    /// For a program's run: leave out failed attempts, so that the program gets only answers.
    #[arg(long, requires = "command")]
    skip_errors: bool,
    /// For a program's run: how fast streams are sent.
    #[arg(long, value_enum, default_value = "at-once", requires = "command")]
    pace: PaceArg,
    #[command(flatten)]
    shared: SharedArgs,
}

impl PlayingArgs {
    fn playing(self) -> Playing {
        Playing { skip_errors: self.skip_errors, pace: self.pace.into() }
    }
}

/// Whether one answer serves all equal requests of a run that was recorded otherwise.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct SharedArgs {
    /// For a program's run: let a recorded answer serve all requests that are equal, as in `record`.
    #[arg(long, requires = "command")]
    shared: bool,
}

impl From<PaceArg> for Pace {
    fn from(pace: PaceArg) -> Self {
        match pace {
            PaceArg::AtOnce => Pace::AtOnce,
            PaceArg::Recorded => Pace::Recorded,
        }
    }
}

/// How recorded answers are sent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Playing {
    /// Whether failed attempts are left out.
    pub(crate) skip_errors: bool,
    /// How fast streams are sent.
    pub(crate) pace: Pace,
}

/// Programs whose host is written into them.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct InterceptArgs {
    /// For a program whose host is written into it: set HTTPS_PROXY for it, and open its connections
    /// to known providers with a certificate that only it trusts. Other hosts are reached as they
    /// are, and refused in a replay.
    #[arg(long, requires = "command")]
    intercept: bool,
    /// With --intercept: also open connections to this host, and send its requests to URL if one is
    /// given. Can be repeated.
    #[arg(long = "host", value_name = "NAME[=URL]", requires = "intercept")]
    hosts: Vec<String>,
}

/// Where requests go: to servers by name, to hosts that a program has written into it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Destinations {
    pub(crate) upstreams: Vec<String>,
    pub(crate) intercept: InterceptArgs,
}

impl Destinations {
    /// The options that name them, to be typed again. A URL that may hold a secret is left to the user.
    fn again(&self) -> Vec<String> {
        let Destinations { upstreams, intercept: InterceptArgs { intercept, hosts } } = self;
        let shown = |given: &String| match given.split_once('=') {
            Some((name, url)) if url.contains(['@', '?']) => format!("{name}=URL"),
            _ => given.clone(),
        };
        let option = |name: &str, given: &String| [name.to_owned(), shown(given)];
        let mut again: Vec<String> =
            upstreams.iter().flat_map(|given| option("--upstream", given)).collect();
        if *intercept {
            again.push("--intercept".to_owned());
            again.extend(hosts.iter().flat_map(|given| option("--host", given)));
        }
        again
    }

    /// Those of a recorded run, as far as it names them: never where their requests go.
    fn recorded(settings: &Settings) -> Self {
        let others = settings.upstreams.iter().filter(|name| !clients::has_default(name));
        let upstreams = others.map(|name| format!("{name}=URL")).collect();
        let hosts = settings.intercept.clone();
        let intercept =
            InterceptArgs { intercept: hosts.is_some(), hosts: hosts.unwrap_or_default() };
        Destinations { upstreams, intercept }
    }

    /// Refuses destinations without which a program would ask some of its servers by itself, unseen.
    fn cover(&self, run: RunId, settings: &Settings, named: &Named) -> Result<(), CliError> {
        let is_named = |name: &&String| !named.names.contains(name);
        let missing: Vec<String> = settings.upstreams.iter().filter(is_named).cloned().collect();
        if let Some(first) = missing.first() {
            let message = format!(
                "run {run} was recorded with upstreams that are not named now: {}",
                missing.join(", ")
            );
            return Err(CliError::usage(message).hint(format!(
                "name each of them, as in --upstream {first}=URL: where requests go is never taken from a run"
            )));
        }
        if settings.intercept.is_some() && !self.intercept.intercept {
            let again = Destinations::recorded(settings).again();
            let again = words(&again).unwrap_or_else(|| "--intercept".to_owned());
            let message = format!(
                "run {run} was recorded with --intercept, without which its program asks real servers unseen"
            );
            return Err(CliError::usage(message).hint(format!("give the options again: {again}")));
        }
        Ok(())
    }
}

/// What of a request counts.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct RulesArgs {
    /// A field of requests that changes from run to run and does not count when a recorded answer is
    /// looked for, such as metadata.sent_at or messages.*.id. Can be repeated.
    #[arg(long, value_name = "FIELD")]
    pub(crate) ignore: Vec<String>,
    /// What matches in any text of a request counts as TEXT, such as a time or a temporary path. Can
    /// be repeated.
    #[arg(long, value_name = "REGEX=TEXT")]
    pub(crate) replace: Vec<String>,
    /// Take what matches out of everything that is stored (requests, answers, reports), such as
    /// names and addresses. The model and the program get it. Can be repeated.
    #[arg(long, value_name = "REGEX")]
    pub(crate) redact: Vec<String>,
    /// Ask equal requests only once, and let them share the answer: for embeddings, or at
    /// temperature 0.
    #[arg(long)]
    pub(crate) shared: bool,
}

impl RulesArgs {
    fn rules(&self) -> Result<Rules, RuleError> {
        Rules::given(&self.ignore, &self.replace)?.redacting(&self.redact)
    }
}

/// A command as it is recorded: without keys, and without what is redacted.
fn shown(command: &[OsString], rules: &Rules) -> Vec<String> {
    let words = keys::without_keys(command).into_iter();
    words.map(|word| rules.redacted(&word)).collect()
}

#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(crate) enum PaceArg {
    /// As fast as the program reads.
    #[default]
    AtOnce,
    /// As they arrived when they were recorded.
    Recorded,
}

/// A program to be recorded.
pub(crate) struct Recording {
    pub(crate) name: Option<String>,
    pub(crate) destinations: Destinations,
    pub(crate) rules: RulesArgs,
    pub(crate) log_limit: Option<u64>,
    pub(crate) command: Vec<OsString>,
}

/// Records a program.
pub(crate) fn record(recording: Recording, global: &Global) -> Result<Status, CliError> {
    let Recording { name, destinations, rules, log_limit, command } = recording;
    let (shared, rules) = (rules.shared, rules.rules()?);
    let again = destinations.again();
    let Named { upstreams, names, hosts } = named(&destinations)?;
    let options = SqliteOptions { max_bytes: log_limit, ..global.sqlite() };
    let log = Log::new(Arc::new(SqliteBackend::open_or_create(&global.log, options)?));
    keeps_programs(&log)?;
    let run = new_run_id()?;
    let settings = Settings {
        command: shown(&command, &rules),
        imported: None,
        intercept: hosts.as_ref().map(|hosts| hosts.keys().cloned().collect()),
        name,
        rules: rules.recorded().clone(),
        shared,
        upstreams: names,
    };
    let writing = Writing::Begin(Box::new(started(&settings, None)?));
    let program = Program {
        log,
        run,
        writing: Some(writing),
        samples: Samples::none(),
        same_run: true,
        rules,
        upstreams: Some(upstreams),
        hosts,
        pace: Pace::AtOnce,
        settings,
        again,
        command,
    };
    program.go(global)
}

/// Replays a program.
pub(crate) fn replay(
    name: &str,
    playing: PlayingArgs,
    intercept: &InterceptArgs,
    command: Vec<OsString>,
    global: &Global,
) -> Result<Status, CliError> {
    let Selected { log, run } = match select::looks_like_a_file(name) {
        true => select::run_or_file(global, name)?,
        false => select::run(global, name)?,
    };
    let (mut settings, rules) = settings_of(&log, run)?;
    settings.shared |= playing.shared.shared;
    let Playing { skip_errors, pace } = playing.playing();
    let samples = Samples::of(&log, run, &rules, skip_errors)?;
    let (writing, upstreams) = (None, None);
    // The names of hosts choose no server: nothing is asked.
    let recorded = settings.intercept.clone().filter(|_| !intercept.intercept);
    let hosts = match recorded {
        Some(names) => Some(environment::hosts(&names)?.0),
        None => intercept
            .intercept
            .then(|| environment::hosts(&intercept.hosts))
            .transpose()?
            .map(|it| it.0),
    };
    let again = Destinations::recorded(&settings).again();
    Program {
        log,
        run,
        writing,
        samples,
        same_run: true,
        rules,
        upstreams,
        hosts,
        pace,
        settings,
        again,
        command,
    }
    .go(global)
}

/// Continues a program's run that was cut off.
pub(crate) fn resume(
    name: &str,
    shared: SharedArgs,
    destinations: &Destinations,
    command: Vec<OsString>,
    global: &Global,
) -> Result<Status, CliError> {
    let Selected { log, run } = select::run(global, name)?;
    let (mut settings, rules) = settings_of(&log, run)?;
    settings.shared |= shared.shared;
    keeps_programs(&log)?;
    if let Some(outcome) = how_it_ended(log.reader()?.as_mut(), run)? {
        let short = run.short(8);
        let message = format!("run {run} is {}, and nothing is added to it", outcome.as_str());
        return Err(CliError::usage(message)
            .hint(format!("`retold replay {short} -- CMD` runs the program from its answers"))
            .hint(format!(
                "`retold fork {short} -- CMD` records a new run that begins with them"
            )));
    }
    let named = named(destinations)?;
    destinations.cover(run, &settings, &named)?;
    let Named { upstreams, names: _, hosts } = named;
    // Take the lease first, so that nothing is added between looking and writing.
    let recorder = Recorder::go_on(&log, run).map_err(recorder_error)?;
    select::sound(log.reader()?.as_mut(), run, "nothing was recorded")?;
    let samples = Samples::of(&log, run, &rules, false)?;
    let program = Program {
        log,
        run,
        writing: Some(Writing::GoOn(recorder)),
        samples,
        same_run: true,
        rules,
        upstreams: Some(upstreams),
        hosts,
        pace: Pace::AtOnce,
        settings,
        again: destinations.again(),
        command,
    };
    program.go(global)
}

/// Records a new run of a program that shares what another has.
pub(crate) fn fork(
    name: &str,
    shared: SharedArgs,
    destinations: &Destinations,
    command: Vec<OsString>,
    global: &Global,
) -> Result<Status, CliError> {
    let Selected { log, run: parent } = select::run(global, name)?;
    let (settings, rules) = settings_of(&log, parent)?;
    keeps_programs(&log)?;
    let named = named(destinations)?;
    destinations.cover(parent, &settings, &named)?;
    let Named { upstreams, names, hosts } = named;
    select::sound(log.reader()?.as_mut(), parent, "nothing was recorded")?;
    let samples = Samples::of(&log, parent, &rules, false)?;
    let settings = Settings {
        command: shown(&command, &rules),
        imported: None,
        intercept: hosts.as_ref().map(|hosts| hosts.keys().cloned().collect()),
        // The name still means the run that was given it.
        name: None,
        upstreams: names,
        shared: settings.shared || shared.shared,
        ..settings
    };
    let forked = Parent { before: None, retry_failed: false, run: parent };
    let program = Program {
        log,
        run: new_run_id()?,
        writing: Some(Writing::Begin(Box::new(started(&settings, Some(forked))?))),
        samples,
        same_run: false,
        rules,
        upstreams: Some(upstreams),
        hosts,
        pace: Pace::AtOnce,
        settings,
        again: destinations.again(),
        command,
    };
    program.go(global)
}

/// What is written.
enum Writing {
    /// A new run.
    Begin(Box<RunStarted>),
    /// More of a run.
    GoOn(Recorder),
}

/// A program to be run.
struct Program {
    log: Log,
    run: RunId,
    /// `None` for a replay.
    writing: Option<Writing>,
    samples: Samples,
    same_run: bool,
    rules: Rules,
    upstreams: Option<Upstreams>,
    /// The hosts whose connections are opened; `None` if none are.
    hosts: Option<NamedHosts>,
    pace: Pace,
    settings: Settings,
    /// The options that a resume or a fork of this run needs.
    again: Vec<String>,
    command: Vec<OsString>,
}

impl Program {
    fn go(self, global: &Global) -> Result<Status, CliError> {
        let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let tokio = tokio.map_err(|e| CliError::new(Status::Io, format!("no runtime: {e}")))?;
        let result = tokio.block_on(self.run(global));
        // A program may have left connections open.
        tokio.shutdown_background();
        result
    }

    async fn run(self, global: &Global<'_>) -> Result<Status, CliError> {
        let Program {
            log,
            run,
            writing,
            samples,
            same_run,
            rules,
            upstreams,
            hosts,
            pace,
            settings,
            again,
            command,
        } = self;
        let bound = Server::bind().await;
        let server = bound
            .map_err(|e| CliError::new(Status::Io, format!("cannot listen on loopback: {e}")))?;
        let (names, unset) = match &upstreams {
            Some(upstreams) => (upstreams.names().map(str::to_owned).collect(), Vec::new()),
            None => environment::replayed(&settings.upstreams),
        };
        let replay = writing.is_none();
        let interception = hosts.map(|hosts| Interception::new(hosts, !replay)).transpose()?;
        let interception = interception.map(Arc::new);
        // Their folder is gone when this function returns.
        let authorities =
            interception.as_ref().map(|it| Authorities::write(it.pem())).transpose()?;
        let mut set = environment::of_program(&server, &names, replay, interception.is_some());
        set.extend(authorities.iter().flat_map(Authorities::variables));
        let environment = Environment { set, unset };
        // A program that cannot be started leaves no run, and is not heard before there is one.
        let recorder = match writing {
            None => None,
            Some(Writing::Begin(started)) => {
                child::found(&command)?;
                Some(Recorder::begin(&log, run, *started).await.map_err(recorder_error)?)
            }
            Some(Writing::GoOn(mut recorder)) => {
                child::found(&command)?;
                let model = json!(model());
                let resumed = RunResumed { model, program: retold::PROGRAM.to_owned() };
                recorder.resumed(resumed).await.map_err(recorder_error)?;
                Some(recorder)
            }
        };
        let shared = settings.shared;
        let setup = Setup { log, run, recorder, samples, same_run, rules, upstreams, shared, pace };
        let session = Session::new(setup)?;
        let front =
            Front { interception: interception.clone(), ..Front::of(session.clone(), names) };
        let serving = tokio::spawn(server.serve(Arc::new(front)));
        let signals = Signals::of_program();
        let mut child = child::start(&command, environment)?;
        let status = child::wait(&mut child, signals).await?;
        session.close();
        let code = child::exit_code(status);
        wait_for_answers(&session).await;
        session.compare_the_rest()?;
        serving.abort();
        let summary = session.summary();
        let done = match replay {
            true => Done::Replayed,
            false => {
                let finished = code == 0 && summary.differences == 0;
                session.end(finished).await.map_err(recorder_error)?;
                Done::Recorded { finished }
            }
        };
        let command = keys::without_keys(&command);
        let reported = interception.map(|it| it.reported()).unwrap_or_default();
        let was_seen = summary.requests > 0 || reported != retold_wire::Reported::default();
        said::say((run, done, code), (&summary, was_seen), (&again, &command), global);
        said::intercepted(&reported, summary.requests, global);
        Ok(match summary.missed + summary.differences {
            0 => Status::Program(code),
            _ => Status::Difference,
        })
    }
}

/// Waits for the answers that the program did not wait for: they are paid for.
async fn wait_for_answers(session: &Session) {
    let soon = tokio::time::timeout(Duration::from_millis(500), session.idle());
    if soon.await.is_ok() {
        return;
    }
    let seconds = PATIENCE.as_secs();
    write_err(&format!(
        "retold: the program ended before all its answers: waiting for them, at most {seconds} s (Ctrl-C ends this)\n"
    ));
    let mut signals = Signals::listen();
    tokio::select! {
        _ = tokio::time::timeout(PATIENCE, session.idle()) => {}
        _ = signals.next() => {}
    }
}

/// What the user named.
struct Named {
    upstreams: Upstreams,
    names: Vec<String>,
    /// The hosts whose connections are opened; `None` if none are.
    hosts: Option<NamedHosts>,
}

/// The upstreams, their names, and the hosts among them.
fn named(destinations: &Destinations) -> Result<Named, CliError> {
    let Destinations { upstreams, intercept } = destinations;
    let mut named = environment::upstreams(upstreams)?;
    let names = named.keys().cloned().collect();
    if !intercept.intercept {
        return Ok(Named { upstreams: Upstreams::new(&named)?, names, hosts: None });
    }
    let (hosts, urls) = environment::hosts(&intercept.hosts)?;
    named.extend(urls);
    let upstreams = Upstreams::new(&named)?.with_known_hosts();
    Ok(Named { upstreams, names, hosts: Some(hosts) })
}

/// What a program's run has recorded about itself.
fn settings_of(log: &Log, run: RunId) -> Result<(Settings, Rules), CliError> {
    let started = select::started(log.reader()?.as_mut(), run)?;
    if started.experiment != PROGRAM {
        let short = run.short(8);
        let message = format!("run {run} was not recorded from a program");
        return Err(CliError::usage(message)
            .hint(format!("leave out -- and the command: `retold replay {short}`")));
    }
    let settings: Settings = serde_json::from_value(started.settings).map_err(|e| {
        CliError::usage(format!("the recorded settings do not work with this release: {e}"))
    })?;
    let rules = Rules::of(settings.rules.clone())?;
    Ok((settings, rules))
}

/// Refuses logs of formats that do not have what a program's run needs.
pub(crate) fn keeps_programs(log: &Log) -> Result<(), CliError> {
    if log.format().keeps_declarations() {
        return Ok(());
    }
    let message = format!(
        "{} has format {}, in which programs are not recorded",
        log.backend().name(),
        log.format()
    );
    Err(CliError::usage(message).hint("name another log with --log PATH"))
}

fn model() -> ModelInfo {
    ModelInfo { kind: "upstream".to_owned(), source: None, simulated: false }
}

/// The first event of a run.
fn started(settings: &Settings, forked_from: Option<Parent>) -> Result<RunStarted, CliError> {
    let settings =
        serde_json::to_value(settings).map_err(|e| CliError::usage(format!("settings: {e}")))?;
    Ok(RunStarted {
        experiment: PROGRAM.to_owned(),
        seed: 0,
        settings,
        model: json!(model()),
        program: retold::PROGRAM.to_owned(),
        declares: false,
        forked_from,
    })
}

fn recorder_error(error: RecorderError) -> CliError {
    match error {
        RecorderError::Log(error) => error.into(),
        other => CliError::new(Status::Io, other.to_string()),
    }
}

impl From<RuleError> for CliError {
    fn from(error: RuleError) -> Self {
        CliError::usage(error.to_string())
    }
}

impl From<AuthorityError> for CliError {
    fn from(error: AuthorityError) -> Self {
        CliError::new(Status::Io, error.to_string())
    }
}

impl From<UpstreamError> for CliError {
    fn from(error: UpstreamError) -> Self {
        CliError::usage(error.to_string())
    }
}
