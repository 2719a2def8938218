//! Records a run from a config.

use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::run_id::new_run_id;
use crate::runs::answers;
use crate::runs::conclusion::{RunConclusion, conclude};
use crate::runs::config::{NamedConfig, drawn_seed_of, remember_drawn_seed};
use crate::runs::folder::{FolderArgs, OutputFolder};
use crate::runs::person::with_person;
use crate::runs::session::{self, StudyExecution};
use crate::runs::trace::TraceTo;
use crate::runs::unfinished::{self, StudyLease};
use retold::event::RunStarted;
use retold::log::{Log, SqliteOptions};
use retold::model::{Answerer, Model};
use retold::run::{ExecutionResult, Finish, Mode};
use retold_archive::open_or_create_store;
use retold_study::config::ModelKind;
use retold_study::study::{SettingsOf, Study};

/// A run to be recorded.
pub(crate) struct StudyRecording {
    pub(crate) config: NamedConfig,
    pub(crate) study: Study,
    pub(crate) model: ModelArgs,
    pub(crate) log_limit: Option<u64>,
    /// Whether to start it even if another run with its name is unfinished.
    pub(crate) new: bool,
    pub(crate) folder: FolderArgs,
    /// The person who takes part, if any.
    pub(crate) seat: Option<Answerer>,
}

/// Records a run and reports how it ended.
pub(crate) fn record(
    recording: StudyRecording,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let StudyRecording { config, mut study, model, log_limit, new, folder, seat } = recording;
    model.apply(global.studies, &study.experiment, &mut study.settings)?;
    let runtime = study.settings.runtime.clone();
    // All errors are found before the log is changed.
    let scripted = match runtime.model.kind {
        ModelKind::Scripted => Some(model.scripted(&runtime, Mode::Record)?),
        ModelKind::Simulated | ModelKind::Server(_) => None,
    };
    let answerer: Answerer = match &scripted {
        Some(scripted) => scripted.clone(),
        None => {
            model.make(global.studies, &study.experiment, study.seed, &runtime, Mode::Record)?
        }
    };
    model.endpoints_are_used(global.studies, &study.experiment, &study.settings, None)?;
    ModelArgs::can_be_asked(global.studies, &study.experiment, &study.settings, &answerer)?;
    let seat_is_free = seat.is_none();
    let answerer =
        with_person(global.studies, answerer, seat, &study.experiment, &study.settings.experiment)?;
    let flags = folder;
    let folder =
        OutputFolder::new(global.studies, &study.experiment, &study.settings.experiment, folder)?;
    if let Some(folder) = &folder {
        flags.accepts(folder)?;
        folder.can_be_made()?;
    }
    let simulated = answerer.info().simulated;
    // A person may be asked first.
    let scripted = scripted.filter(|_| seat_is_free);
    global.studies.supply(&config.path, &mut study, &config.settings)?;
    let mut started = started(&study, answerer.as_ref())?;
    if let Some(scripted) = &scripted {
        answers::begin_a_run(scripted, &started, &study.settings, global)?;
    }
    let options = SqliteOptions { max_bytes: log_limit, ..global.sqlite() };
    let log = Log::new(open_or_create_store(&global.log, options)?);
    // Held until the run has ended.
    let _claim = if new {
        None
    } else {
        Some(unfinished::none_of(global.studies, &config, &study, &started.model, &log)?)
    };
    let (folder, _folder_claim, flags) = match folder {
        Some(folder) => chosen(folder, &study, &log, new, flags, global)?,
        None => (None, None, flags),
    };
    let run = new_run_id()?;
    flags.remember(&mut started.settings);
    remember_drawn_seed(&study, &mut started.settings);
    let prices = model.prices()?;
    // A person who plays is not shown a log.
    let trace = match seat_is_free {
        true => Some(TraceTo::new(
            &study.experiment,
            &study.settings.experiment,
            folder.as_ref(),
            Mode::Record,
            global,
        )?),
        false => None,
    };
    let phase_files = trace.as_ref().and_then(|trace| trace.phase_files.clone());
    if let Some(left_behind) = &phase_files {
        // By a run with the same name that was abandoned.
        left_behind.remove();
    }
    let servers = model.named_again(&study.settings.runtime.model);
    let max_failed = study.settings.runtime.limits.max_failed;
    let drawn_seed = drawn_seed_of(&started);
    let session = StudyExecution {
        log: log.clone(),
        run,
        mode: Mode::Record,
        started,
        settings: study.settings,
        prices,
        model: Some(answerer),
        trace,
    };
    let ended = session::go(session, global)?;
    let ended = match ended {
        // If the first event could not be written, there is no run to report or to resume.
        ExecutionResult { finish: Finish::Stopped(stop), .. }
            if !log.reader()?.runs()?.iter().any(|head| head.run == run) =>
        {
            return Err(stop.into());
        }
        ended => ended,
    };
    let conclusion = RunConclusion {
        ended,
        log: &log,
        run,
        experiment: &study.experiment,
        simulated,
        folder,
        phase_files,
        max_failed,
        settings_of: SettingsOf::Config,
        drawn_seed,
        servers,
    };
    conclude(conclusion, global, output)
}

/// The folder that a run will write: the first free one with its name. It is claimed, unless the
/// name is, and its number is recorded.
fn chosen(
    folder: OutputFolder,
    study: &Study,
    log: &Log,
    new: bool,
    flags: FolderArgs,
    global: &Global,
) -> Result<(Option<OutputFolder>, Option<StudyLease>, FolderArgs), CliError> {
    let first = folder.place();
    // Otherwise, no run with the name is unfinished.
    let taken = if new { unfinished::folders(global.studies, study, log)? } else { Vec::new() };
    let mut claim = None;
    let (folder, number) = folder.next_free(|number, name| {
        if taken.contains(&number) {
            return Ok(true);
        }
        claim = unfinished::claim_folder(study, name, log)?;
        // The claim on the name includes the first folder.
        Ok(claim.is_none() && (new || number > 1))
    })?;
    if number > 1 {
        let (first, chosen) = (first.display(), folder.place());
        let chosen = chosen.display();
        write_err(&format!("{first} is taken: the outputs of this run go to {chosen}\n"));
    }
    Ok((Some(folder), claim, flags.with_number(number)))
}

/// The first event for a run of a study.
pub(crate) fn started(study: &Study, model: &dyn Model) -> Result<RunStarted, CliError> {
    let as_json = |value: serde_json::Result<serde_json::Value>| {
        value.map_err(|e| CliError::new(Status::Usage, format!("settings: {e}")))
    };
    Ok(RunStarted {
        experiment: study.experiment.clone(),
        seed: study.seed,
        settings: as_json(serde_json::to_value(&study.settings))?,
        model: as_json(serde_json::to_value(model.info()))?,
        program: retold::PROGRAM.to_owned(),
        forked_from: None,
    })
}
