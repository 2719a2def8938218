//! A program that runs, and the session that it asks.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Child;

use super::args::{ProgramCommand, ProgramProcess};
use super::authorities::Authorities;
use super::environment::{self, EnvironmentChanges};
use super::longest_body::longest_body;
use super::parent::{self, Parent};
use super::passing::{self, ProxyUse};
use super::progress_line::ProgressLine;
use super::python_folder::PythonFolder;
use super::recorded::{model, recorder_error};
use super::said::{self, EndedProgram, ProgramOutcome};
use super::{child, descendants, keys};
use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::runtime;
use crate::secret::new_secret;
use crate::signal::Signals;
use retold::event::{RunResumed, RunStarted};
use retold::id::RunId;
use retold::log::Log;
use retold::model::{Destinations, providers};
use retold::run::{Budget, Recorder, how_it_ended};
use retold_wire::{
    Front, HeldLayer, Interception, NamedHosts, Origins, Pace, ProgramSettings, Rules, Samples,
    Server, Session, SessionSetup, ToolSummary, Upstreams, upstreams_asked,
};

/// How long answers that are under way are waited for when the program has ended: a little longer
/// than an upstream is read on for.
pub(super) const PATIENCE: Duration = Duration::from_secs(65);

/// How long the connections of a program or a browser are closed.
pub(crate) const CLOSING: Duration = Duration::from_secs(1);

/// The run that is written to the log.
pub(super) enum Writing {
    /// A new run.
    Begin(Box<RunStarted>),
    /// More of a run. If `retry_failed`, all failed calls are asked again; `settings` are the additions to its own.
    GoOn { recorder: Recorder, retry_failed: bool, settings: Value },
}

/// A program to be run.
pub(super) struct Program {
    pub(super) log: Log,
    pub(super) run: RunId,
    /// `None` for a replay.
    pub(super) writing: Option<Writing>,
    pub(super) samples: Samples,
    pub(super) rules: Rules,
    pub(super) upstreams: Option<Upstreams>,
    pub(super) budget: Budget,
    /// The hosts whose connections are opened; `None` if none are.
    pub(super) hosts: Option<NamedHosts>,
    /// Whether what goes past retold is counted.
    pub(super) watch: bool,
    pub(super) pace: Pace,
    pub(super) settings: ProgramSettings,
    pub(super) command: ProgramCommand,
    /// For a new run: an earlier one of the same name that is not finished.
    pub(super) unfinished: Option<RunId>,
    /// How long it is waited for further requests before those that are held are a layer; `None` if all are asked at once.
    pub(super) gather: Option<Duration>,
}

/// How the run of a program ended.
pub(super) enum ProgramEnd {
    /// The program ended.
    Ended(Status),
    /// It was stopped, because it waits for answers that come by batch.
    Held(HeldLayer),
}

impl ProgramEnd {
    /// The exit code of a program that was not stopped.
    pub(super) fn status(self) -> Status {
        match self {
            ProgramEnd::Ended(status) => status,
            ProgramEnd::Held(_) => Status::Waiting,
        }
    }
}

impl Program {
    /// Runs the program to its end.
    ///
    /// # Errors
    /// [`CliError`]: it cannot be started, or what happened cannot be recorded.
    pub(super) fn go(self, global: &Global) -> Result<ProgramEnd, CliError> {
        let tokio = runtime::of_all_cores()?;
        let result = tokio.block_on(self.run(global));
        // A program may have left connections open, which hold the log: it is closed with them, so that nothing of it
        // stays in a WAL.
        tokio.shutdown_timeout(CLOSING);
        result
    }

    async fn run(self, global: &Global<'_>) -> Result<ProgramEnd, CliError> {
        let Program {
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
            mut settings,
            command,
            unfinished,
            gather,
        } = self;
        let bound = Server::bind().await;
        let server = bound
            .map_err(|e| CliError::new(Status::Io, format!("cannot listen on loopback: {e}")))?;
        let replay = writing.is_none();
        let asked: Option<Vec<String>> = upstreams.as_ref().map(Upstreams::names);
        let (served, unset) =
            environment::upstreams_to_serve(asked.as_ref().unwrap_or(&settings.upstreams));
        let watch = watch && passing::can_pass_on();
        let (intercepts, watches) = (hosts.is_some(), watch);
        let mut proxied = ProxyUse { intercepts, watches, hosts: hosts.unwrap_or_default() };
        // A page or another program on this machine cannot know it.
        let secret = new_secret()?;
        let address = server.address();
        let here = secret.base_url(address);
        let interception = if intercepts {
            Some(Interception::new(proxied.hosts.clone(), !replay, here)?)
        } else if watches {
            proxied.hosts = passing::recorded_hosts(&settings);
            let watching = Interception::watching(proxied.hosts.clone(), !replay, here);
            Some(match command.process {
                ProgramProcess::Child => watching,
                // Its library refuses other hosts, and so are its child processes'.
                ProgramProcess::Parent => watching.refusing_others(),
            })
        } else {
            None
        };
        let interception = interception.map(Arc::new);
        // Their folder is gone when this function returns.
        let pem = interception.as_ref().and_then(|it| it.pem());
        let authorities = pem.map(Authorities::write).transpose()?;
        let mut set = environment::of_program(address, &secret, &served, replay);
        set.extend(proxied.variables(&secret.proxy_url(address)));
        set.extend(authorities.iter().flat_map(Authorities::variables));
        // A library gives both to its own process, and to the children of that.
        let python = match command.process {
            ProgramProcess::Child => Some(PythonFolder::write(settings.chance.as_ref(), replay)?),
            ProgramProcess::Parent => None,
        };
        set.extend(python.iter().flat_map(PythonFolder::variables));
        let environment = EnvironmentChanges { set, unset };
        // A program that cannot be started leaves no run, and is not heard before there is one.
        let recorder = match writing {
            None => None,
            Some(Writing::Begin(started)) => {
                command.require_program()?;
                Some(Recorder::begin(&log, run, *started).await.map_err(recorder_error)?)
            }
            Some(Writing::GoOn { mut recorder, retry_failed, settings }) => {
                command.require_program()?;
                let model = json!(model());
                let program = retold::PROGRAM.to_owned();
                let resumed = RunResumed { model, program, retry_failed, settings };
                recorder.record_resumption(resumed).await.map_err(recorder_error)?;
                Some(recorder)
            }
        };
        let bases = bases(&settings)?;
        let mut origins = Origins::new(bases.clone());
        let is_gateway = |(name, url): &(String, String)| {
            providers::default_url(name).is_some_and(|own| own != url)
        };
        if replay && bases.iter().any(is_gateway) {
            origins = origins.with_own(&upstreams_asked(&log, run)?);
        }
        let shared = settings.shared;
        let destinations = Destinations::of_run(true, &json!(settings), &Value::Null);
        let budget = budget.asking(destinations);
        let setup = SessionSetup {
            log,
            run,
            recorder,
            samples,
            rules,
            upstreams,
            budget,
            shared,
            is_chance_recorded: settings.chance.is_some(),
            holds: gather.is_some(),
            pace,
            longest_body: longest_body()?,
        };
        let ended_before = how_it_ended(setup.log.reader()?.as_mut(), run)?.is_some();
        let session = Session::new(setup)?;
        let token = Some(secret.token());
        let origins = match command.process {
            ProgramProcess::Child => None,
            ProgramProcess::Parent => Some(Arc::new(origins)),
        };
        let front = Front {
            token,
            origins,
            interception: interception.clone(),
            ..Front::new(session.clone(), asked.unwrap_or(served))
        };
        let signals = Signals::of_program();
        let program = match command.process {
            ProgramProcess::Child => {
                RunningProgram::Child(child::start(&command.words, environment)?)
            }
            ProgramProcess::Parent => {
                let chance = settings.chance.as_ref().map(|it| it.variable(replay));
                let greeted =
                    Parent::greet((run, unfinished), address, &secret, &bases, environment, chance);
                RunningProgram::Parent(greeted?)
            }
        };
        // Only now: it raises our limit on open files, and the program keeps its own.
        let serving = tokio::spawn(server.serve(Arc::new(front)));
        let progress = command.has_progress.then(|| ProgressLine::show(&session));
        let code = match program {
            RunningProgram::Child(mut child) => {
                let ended = {
                    let waiting = child::wait(&mut child, signals);
                    tokio::pin!(waiting);
                    tokio::select! {
                        biased;
                        status = &mut waiting => Some(status?),
                        () = session.layer(gather.unwrap_or_default()), if gather.is_some() => None,
                    }
                };
                match ended {
                    Some(status) => child::exit_code(status),
                    None => {
                        child::stop(&mut child).await;
                        session.work.note_death();
                        session.work.close();
                        session.work.idle().await;
                        serving.abort();
                        session.end(false).await.map_err(recorder_error)?;
                        let layer = HeldLayer::of(&session);
                        return layer.map(ProgramEnd::Held).ok_or_else(|| {
                            CliError::new(Status::Io, "retold lost what it held: this is a bug")
                        });
                    }
                }
            }
            RunningProgram::Parent(parent) => parent.wait(signals).await,
        };
        drop(progress);
        if code >= child::FIRST_OF_SIGNALS {
            session.work.note_death();
        }
        let outliving = match command.process {
            ProgramProcess::Child if code < child::FIRST_OF_SIGNALS => {
                descendants::outliving(&secret.base_url(address)).await
            }
            _ => Vec::new(),
        };
        session.work.close();
        wait_for_answers(&session).await;
        session.compare_the_rest()?;
        serving.abort();
        let summary = &session.summary();
        let done = match replay {
            true => ProgramOutcome::Replayed { finished: ended_before },
            false => {
                let finished =
                    code == 0 && summary.differences == 0 && summary.over_budget.is_none();
                session.end(finished).await.map_err(recorder_error)?;
                ProgramOutcome::Recorded { finished }
            }
        };
        settings.command = keys::without_keys(&command.words);
        let reported = interception.map(|it| it.report()).unwrap_or_default();
        let has_tools = summary.tools != ToolSummary::default();
        let was_seen = summary.requests > 0
            || has_tools
            || reported != retold_wire::ConnectionReport::default();
        let flags: Vec<String> = watch.then(|| "--watch".to_owned()).into_iter().collect();
        let flags = &flags;
        let (reported, settings) = (&reported, &settings);
        let outliving = &outliving;
        let ended = EndedProgram {
            run,
            done,
            code,
            summary,
            reported,
            was_seen,
            outliving,
            chanced: python.as_ref().and_then(PythonFolder::processes_with_chance),
            unreached: python.as_ref().and_then(PythonFolder::unreached_framework),
            settings,
            flags,
        };
        match command.process {
            ProgramProcess::Child => {
                said::say(&ended, global);
                passing::say(reported, intercepts, global);
            }
            ProgramProcess::Parent => parent::summed_up(&said::for_library(&ended))?,
        }
        // What --intercept refuses need not be a model.
        let refused = watches && !intercepts && !reported.refused.is_empty();
        Ok(ProgramEnd::Ended(match summary.missed + summary.differences {
            // A program that gets over the refusal has still not asked all that it wanted.
            0 if code == 0 && summary.over_budget.is_some() => Status::Model,
            0 if !refused => Status::Program(code),
            _ => Status::Difference,
        }))
    }
}

/// A program that runs.
enum RunningProgram {
    Child(Child),
    Parent(Parent),
}

/// Where the requests of each upstream of a run go, or went; and where those of upstreams go that the environment
/// names now, which may be elsewhere than when the run was recorded.
fn bases(settings: &ProgramSettings) -> Result<Vec<(String, String)>, CliError> {
    let base = |name: &String| Some((name.clone(), settings.led_to(name)?.to_owned()));
    let recorded = settings.upstreams.iter().filter_map(base);
    let now = environment::upstreams(&[])?;
    let now = now.into_iter().map(|(name, url)| (name, url.as_str().to_owned()));
    Ok(recorded.chain(now).collect())
}

/// Waits for the answers that the program did not wait for: they are paid for.
async fn wait_for_answers(session: &Session) {
    let soon = tokio::time::timeout(Duration::from_millis(500), session.work.idle());
    if soon.await.is_ok() {
        return;
    }
    let seconds = PATIENCE.as_secs();
    write_err(&format!(
        "retold: the program ended before all its answers: waiting for them, at most {seconds} s (Ctrl-C ends this)\n"
    ));
    let mut signals = Signals::listen();
    tokio::select! {
        _ = tokio::time::timeout(PATIENCE, session.work.idle()) => {}
        _ = signals.next() => {}
    }
}
