//! `retold score judge`: a model judges the answers of a run, in a run of its own.

use std::path::PathBuf;

use retold::decide::each_answer;
use retold::escaping::printable;
use retold::event::Event;
use retold::id::RunId;
use retold::log::{EventFault, Log, LogError, RunEvents};
use retold::run::{how_it_ended, latest_start};
use retold::scores::{AnswerName, Score, Scorer, Scores};
use retold_judge::{JudgeSettings, JudgeStudy, Judged, JudgedAnswer, NAME};
use retold_study::Registration;
use retold_study::settings::ExperimentSettings;
use retold_study::study::Study;
use serde_json::Value;

use crate::error::{CliError, Status, write_err};
use crate::gate;
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::{Output, count_of};
use crate::runs::accepting;
use crate::runs::config::NamedConfig;
use crate::runs::folder::FolderArgs;
use crate::runs::record::{StudyRecording, record};
use crate::runs::resume::same_study;
use crate::runs::settings::as_recorded;
use crate::select::{self, RunSource};

/// How much of a name is shown.
const SHOWN: usize = 60;

/// Let a model judge the recorded answers, in a run of its own.
///
/// The config says what the model is asked about each answer, which verdicts it may give, and how often it is asked:
/// docs/guide/label.md describes it. The model is simulated unless the config or a flag says otherwise.
///
/// The judge is an experiment: its run is replayed, continued, forked and verified as any other. When it has finished, its
/// verdicts are recorded as decisions about the judged answers, in one more run, which names the judge's. They replace
/// decisions that have the same name, and stand beside all others. Verdicts of a simulated judge are marked as
/// simulated.
///
/// With --resume, an interrupted judge continues; nothing is asked twice. If it had finished, its verdicts are recorded
/// unless they are already.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run whose answers are judged: first digits of its id, its name, or `latest`.
    #[arg(default_value = "latest")]
    run: String,
    /// The config file of the judge (YAML).
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// Change a setting of the config, such as samples=3 or request.model=gpt-4o. Can be repeated.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Continue the judge that was interrupted.
    #[arg(long)]
    resume: bool,
    /// Judge again, even if the log has an unfinished run of this judge.
    #[arg(long, conflicts_with = "resume")]
    new: bool,
    // Last, because clap puts everything that follows under its heading.
    #[command(flatten)]
    model: ModelArgs,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, config, settings, resume, new, model } = args;
    let source = accepting::answers_of(select::source(global, &run)?)?;
    gate::sound(&source.log, source.run, "nothing was judged", output)?;
    // A run that nothing can be accepted about is refused before anything is asked.
    accepting::begin(&source)?;
    let experiment = Some(NAME.to_owned());
    let config =
        NamedConfig { path: config, experiment, settings, shard: None, model: model.clone() };
    // Nothing is drawn for a judge but the answers of a simulated one.
    let mut study = config.with_seed(global.studies, 0)?;
    study.seed_is_drawn = false;
    let judge = with_answers(&study, &source)?;
    let (name, asked) = (judge.name.clone(), judge.request.model.clone());
    study.settings.experiment = ExperimentSettings::new(judge);
    let tried = JudgeStudy.check(&study.settings.experiment);
    tried.map_err(|error| CliError::from(error.at(&config.path)).hint("nothing was asked"))?;
    let wanted = study.settings.experiment.to_json().map_err(|e| CliError::usage(e.to_string()))?;
    let folder = FolderArgs::default();
    let status = if resume {
        same_study(&config, &study, model, folder, global)?.go(global, output)?
    } else {
        let (log_limit, seat) = (None, None);
        let recording =
            StudyRecording { config, study, model, log_limit, new, folder, seat, until: None };
        record(recording, global, output)?
    };
    if status != Status::Fine {
        return Ok(status);
    }
    let log = select::open(global)?;
    let judge = find_finished(&log, &wanted)?;
    let model = latest_start(log.reader()?.as_mut(), judge)?.model;
    let verdicts = verdicts(&log, judge)?;
    let scorer = match model["simulated"].as_bool() {
        Some(true) => Scorer::simulated_judge(judge, &name),
        _ => Scorer::judge(&asked, judge, &name),
    };
    accept(&source, &scorer, &verdicts, model, global)?;
    Ok(status)
}

/// The settings of a config, with the answers of a run that it selects.
fn with_answers(study: &Study, source: &RunSource) -> Result<JudgeSettings, CliError> {
    let settings = study.settings.experiment.read::<JudgeSettings>();
    let mut settings = settings.map_err(|e| CliError::usage(e.to_string()))?.into_owned();
    let mut reader = source.checked_reader()?;
    let run = source.run;
    let mut answers = Vec::new();
    each_answer::<CliError>(&mut reader, run, |reader, answer| {
        // Other choices and what is not read have no text of their own.
        let is_text = answer.choice.at == 0 && !answer.whole().text.is_empty();
        if !is_text || !settings.judges(&answer.call, &answer.labels) {
            return Ok(());
        }
        let request = reader.request(answer.prompt)?;
        let fault = EventFault::NoRequest { prompt: answer.prompt };
        let request = request.ok_or_else(|| LogError::corrupt(run, answer.seq, fault))?;
        let question = request.messages().pop().map(|(_, text)| text).unwrap_or_default();
        let text = answer.whole().text.to_owned();
        answers.push(JudgedAnswer {
            seq: answer.seq,
            call: answer.call,
            sample: answer.sample,
            labels: answer.labels,
            question,
            text,
        });
        Ok(())
    })?;
    answers.sort_by_key(|answer| answer.seq);
    if answers.is_empty() {
        return Err(CliError::usage(format!("run {run} has no answers that this judge judges"))
            .hint("`calls` and `labels` in the config select them; an answer without a text is left out"));
    }
    settings.of = Some(run);
    settings.answers = answers;
    Ok(settings)
}

/// The run of this judge that finished last.
fn find_finished(log: &Log, wanted: &Value) -> Result<RunId, CliError> {
    // A number such as 1.0 is recorded as 1.
    let wanted = as_recorded(wanted);
    let mut reader = log.reader()?;
    for head in reader.runs()?.into_iter().rev() {
        // A damaged run is reported by commands that are about it.
        let Ok(started) = select::run_start(reader.as_mut(), head.run) else { continue };
        let is_it = started.experiment == NAME && started.settings["experiment"] == wanted;
        if is_it && how_it_ended(reader.as_mut(), head.run)?.is_some() {
            return Ok(head.run);
        }
    }
    Err(CliError::new(Status::Io, "the run of the judge is not in the log any more"))
}

/// The verdicts of a judge, and how many of them are missing.
fn verdicts(log: &Log, judge: RunId) -> Result<(Scores, u64), CliError> {
    let mut reader = log.reader()?;
    let (mut events, mut scores, mut missing) = (RunEvents::new(judge), Scores::default(), 0);
    while let Some(stored) = events.next(reader.as_mut())? {
        let Event::Occurred(fact) = stored.event().map_err(LogError::from)? else { continue };
        let judged: Judged =
            serde_json::from_value(fact.fact).map_err(|e| CliError::usage(e.to_string()))?;
        // A verdict that is missing because the calls failed counts as missing, too.
        let failed = judged.samples.is_empty().then(|| "the calls of the judge failed".to_owned());
        missing += u64::from(judged.verdict.is_null());
        let score = Score {
            line: stored.seq.0,
            answer: AnswerName::Seq(judged.answer),
            call: None,
            choice: 0,
            value: judged.verdict,
            method: None,
            reasoning: None,
            warnings: judged.warnings.into_iter().chain(failed).collect(),
        };
        scores.add(score).map_err(|error| CliError::usage(error.to_string()))?;
    }
    Ok((scores, missing))
}

/// Records verdicts as decisions about the judged answers, made by this model.
fn accept(
    source: &RunSource,
    scorer: &Scorer,
    (scores, missing): &(Scores, u64),
    model: Value,
    global: &Global,
) -> Result<(), CliError> {
    let simulated = model["simulated"].as_bool().unwrap_or(false);
    let mut accepted = accepting::begin_by(source, Some(model))?;
    let mut reader = source.checked_reader()?;
    scores
        .accept(&mut reader, source.run, scorer, &mut accepted)
        .map_err(|error| CliError::usage(error.to_string()))?;
    if accepted.is_empty() {
        write_err("no verdicts were recorded: the judge gave none\n");
        return Ok(());
    }
    let backend = global.open_or_create()?;
    let judged = count_of(scores.len() as u64, "answer");
    let without = if *missing > 0 { format!(", {missing} of them missing") } else { String::new() };
    let said = if simulated { "SIMULATED " } else { "" };
    let (stored, known) = accepting::store(accepted, backend.as_ref())?;
    let known = known.map(|run| format!("run {run} has these verdicts already\n"));
    let stored = stored.map(|run| {
        let name = printable(&scorer.name, SHOWN);
        format!(
            "run {run}: {said}verdicts about {judged} of run {}, as {name}{without}\n",
            source.run
        )
    });
    write_err(&stored.or(known).unwrap_or_default());
    Ok(())
}
