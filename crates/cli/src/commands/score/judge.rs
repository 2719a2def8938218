//! `retold score judge`: a model judges the answers of a run, in a run of its own.

use std::path::PathBuf;

use retold::escaping::printable;
use retold::event::Event;
use retold::id::RunId;
use retold::log::{Log, LogError, RunEvents};
use retold::run::latest_start;
use retold::scores::{AnswerName, Score, Scorer, Scores};
use retold_judge::{JudgeSettings, JudgeStudy, Judged, NAME};
use retold_study::Registration;
use retold_study::settings::ExperimentSettings;
use serde_json::Value;

use super::judged::{ToJudge, answers_to_judge, draw, has_structured_output, labelled_answers};
use crate::error::{CliError, Status, write_err};
use crate::gate;
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::{Output, count_of};
use crate::runs::accepting;
use crate::runs::config::NamedConfig;
use crate::runs::folder::FolderArgs;
use crate::runs::record::{StudyRecording, recording_to_begin};
use crate::runs::resume::same_study;
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
/// With --only labelled or --sample, the model is asked about some of the answers: a judge is worth its cost if it agrees with
/// people about those that they have labelled, which `retold score agreement` shows.
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
    /// Judge only some answers.
    #[arg(long, value_enum, value_name = "WHICH")]
    only: Option<OnlyJudged>,
    /// Judge so many of the answers, which follow from their calls: the same number stands for the same answers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    sample: Option<u32>,
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

/// Answers that are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum OnlyJudged {
    /// Those that a person has labelled.
    Labelled,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { run, config, settings, only, sample, resume, new, model } = args;
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
    let settings = study.settings.experiment.read::<JudgeSettings>();
    let mut judge = settings.map_err(|e| CliError::usage(e.to_string()))?.into_owned();
    // The model that the flags name has the verdict's form, or has it not.
    let mut asking = study.settings.clone();
    model.apply(global.studies, &study.experiment, &mut asking)?;
    judge.ask_structured(|request| has_structured_output(&asking.runtime.model, request));
    let mut reader = source.checked_reader()?;
    let ToJudge { mut answers, without_other } = answers_to_judge(&mut reader, source.run, &judge)?;
    if only == Some(OnlyJudged::Labelled) {
        let labelled = labelled_answers(&mut reader, source.run)?;
        answers.retain(|answer| labelled.contains(&answer.seq));
    }
    if let Some(sample) = sample {
        draw(&mut answers, sample);
    }
    if answers.is_empty() {
        let run = source.run;
        return Err(CliError::usage(format!("run {run} has no answers that this judge judges"))
            .hint("`calls`, `labels`, `against` in the config and --only select them; an answer without a text is left out"));
    }
    if without_other > 0 {
        write_err(&format!(
            "{} without another answer to be compared with, and left out\n",
            count_of(without_other, "answer")
        ));
    }
    (judge.of, judge.answers) = (Some(source.run), answers);
    let (name, asked) = (judge.name.clone(), judge.models().join(", "));
    study.settings.experiment = ExperimentSettings::new(judge);
    let tried = JudgeStudy.check(&study.settings.experiment);
    tried.map_err(|error| CliError::from(error.at(&config.path)).hint("nothing was asked"))?;
    let pending = match resume {
        true => same_study(&config, &study, model, FolderArgs::default(), global)?,
        false => {
            let config = Some(config);
            let recording = StudyRecording { config, new, ..StudyRecording::new(study, model) };
            recording_to_begin(recording, global)?
        }
    };
    let concluded = pending.conclude(global)?;
    let judge = concluded.run;
    let status = concluded.report(global, output)?;
    if status != Status::Fine {
        return Ok(status);
    }
    let log = select::open(global)?;
    let model = latest_start(log.reader()?.as_mut(), judge)?.model;
    let verdicts = verdicts(&log, judge)?;
    let scorer = match model["simulated"].as_bool() {
        Some(true) => Scorer::simulated_judge(judge, &name),
        _ => Scorer::judge(&asked, judge, &name),
    };
    accept(&source, &scorer, &verdicts, model, global)?;
    Ok(status)
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
