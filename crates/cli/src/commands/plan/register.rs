//! `retold plan CONFIG --register`: a plan in the log, before anything is asked.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Args;
use super::alone::simulate;
use super::planned::PlannedRun;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::run_id::new_run_id;
use crate::runs::config::NamedConfig;
use crate::runs::record::log_to_record;
use crate::runs::run_figures::named_tables;
use crate::runs::settings::{as_json, as_recorded};
use crate::runs::simulated::SimulatedRun;
use crate::select::{self, RunSelection};
use retold::decide::RegisteredParser;
use retold::escaping::printable;
use retold::id::RunId;
use retold::log::{Head, Log};
use retold::members::Members;
use retold::model::Prices;
use retold::run::clock;
use retold_figures::{DefinitionError, FigureTable};
use retold_plan::{
    HypothesesError, HypothesesFile, HypothesisDefinition, PlannedFigure, RegisteredPlan,
    decided_by,
};
use retold_study::config::{ModelKind, load, read_text};
use retold_study::study::Study;

/// The end of the name of the file with the hypotheses about a config.
const BESIDE: &str = "hypotheses.yaml";

/// An example of such a file, for who has none.
const EXAMPLE: &str = "it looks like this: `hypotheses: [{figure: share of vote = yes by condition, baseline: control, direction: greater}]`";

/// Registers a plan, and shows what its run would ask and cost, and how wide its intervals will be.
pub(super) fn register(
    config: &Path,
    args: &Args,
    prices: &Prices,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let (path, file) = hypotheses(config, args)?;
    let in_file = |error: HypothesesError| {
        let hint = if let HypothesesError::Definition(_) = error {
            DefinitionError::HINT
        } else {
            EXAMPLE
        };
        CliError::usage(format!("{}: {error}", path.display())).hint(hint)
    };
    let definitions = file.definitions().map_err(in_file)?;
    for parser in &file.parsers {
        let found = RegisteredParser::new(global.studies.parsers(), parser)?;
        if format!("{}@{}", found.name(), found.version()) != *parser {
            return Err(CliError::usage(format!(
                "{}: parser {} needs its version, such as {}@{}",
                path.display(),
                printable(parser, 60),
                found.name(),
                found.version()
            )));
        }
    }
    let judges = file.judges.iter().map(|judge| judge_settings(&path, judge, args, global));
    let judges = judges.collect::<Result<Vec<Value>, CliError>>()?;
    let (study, started) = planned_study(config, args, global)?;
    let seed = (!study.seed_is_drawn).then_some(study.seed);
    let SimulatedRun { selected, .. } = simulate(config, study, args, global)?;
    let (figures, tables) = planned_figures(&definitions, &judges, &selected, global)?;
    let planned = PlannedRun::read(&selected, args, &tables, prices, global)?;
    let plan = RegisteredPlan {
        study: started.experiment.clone(),
        seed,
        settings: as_recorded(&started.settings),
        hypotheses: figures,
        stopping: file.stopping,
        exclusions: file.exclusions,
        deciders: decided_by(&mut selected.checked_reader()?, selected.run)?,
        parsers: file.parsers,
        judges: judges.iter().map(as_recorded).collect(),
        models: file.models,
        calls: planned.calls(),
    };
    let name = plan_name(config);
    let log = log_to_record(None, global)?;
    let registered = RegisteredPlan::of_study(log.reader()?.as_mut(), &plan.study)?;
    let known = registered.into_iter().rfind(|(_, known)| *known == plan).map(|(run, _)| run);
    let run = match known {
        Some(run) => run,
        None => {
            let run = new_run_id()?;
            plan.store(log.backend().as_ref(), (run, &name), clock::now())?;
            run
        }
    };
    let head = head_of(&log, run)?;
    if output.is_json() {
        let mut object = planned.json();
        object.set("config", config.display().to_string().into());
        object.set("experiment", started.experiment.into());
        object.set("simulated", true.into());
        object.set("plan", run.to_string().into());
        object.set("head", head.hash.to_string().into());
        object.set("is_new", known.is_none().into());
        output.object(&object)?;
        return Ok(Status::Fine);
    }
    let shown = run.short(8);
    let stored = match known {
        None => format!("registered as {}, run {run}, head {}", printable(&name, 100), head.hash),
        Some(_) => format!("run {run} is this plan already, head {}", head.hash),
    };
    let model = started.model_note();
    output.text(&format!(
        "{}{}{}{model}{stored}\n`retold run {} --plan {shown}` records by it; `retold verify seal {shown} --key KEY` signs it, and `retold show {shown}` shows it again\n",
        plan.text(),
        select::SIMULATED,
        planned.text("simulated"),
        config.display(),
    ))?;
    Ok(Status::Fine)
}

/// The file of hypotheses, and what is in it.
fn hypotheses(config: &Path, args: &Args) -> Result<(PathBuf, HypothesesFile), CliError> {
    let path = args.hypotheses.clone().unwrap_or_else(|| config.with_extension(BESIDE));
    if args.hypotheses.is_none() && !path.exists() {
        return Err(CliError::usage(format!(
            "a plan needs hypotheses, and there is no file {} beside the config",
            path.display()
        ))
        .hint("write one, or name another with --hypotheses FILE")
        .hint(EXAMPLE));
    }
    let file = load(&path, &read_text(&path)?)?;
    Ok((path, file))
}

/// The settings of a judge whose config is named in a file.
fn judge_settings(
    file: &Path,
    judge: &Path,
    args: &Args,
    global: &Global,
) -> Result<Value, CliError> {
    let path = file.parent().unwrap_or(Path::new("")).join(judge);
    let judge = NamedConfig {
        path,
        experiment: Some(retold_judge::NAME.to_owned()),
        settings: Vec::new(),
        shard: None,
        model: ModelArgs::trusting(args.trust),
    };
    as_json(&judge.study(global.studies)?.settings.experiment)
}

/// The study as it would be recorded, and its first event.
fn planned_study(
    config: &Path,
    args: &Args,
    global: &Global,
) -> Result<(Study, PlannedStart), CliError> {
    let model = ModelArgs::naming(args.model.as_deref(), args.trust)?;
    let (path, settings) = (config.to_owned(), args.settings.clone());
    let named = NamedConfig { path, experiment: None, settings, shard: None, model };
    let mut study = named.study(global.studies)?;
    named.model.apply(global.studies, &study.experiment, &mut study.settings)?;
    named.model.keys_fit(&study.settings.runtime, &named)?;
    global.studies.supply(config, &mut study, &args.settings, args.trust)?;
    let settings = serde_json::to_value(&study.settings);
    let settings = settings.map_err(|e| CliError::usage(format!("settings: {e}")))?;
    let is_simulated = study.settings.runtime.model.kind == ModelKind::Simulated;
    let experiment = study.experiment.clone();
    Ok((study, PlannedStart { experiment, settings, is_simulated }))
}

/// The beginning of the planned run.
struct PlannedStart {
    experiment: String,
    settings: Value,
    is_simulated: bool,
}

impl PlannedStart {
    /// What to know if the planned run asks nobody.
    fn model_note(&self) -> &'static str {
        match self.is_simulated {
            true => {
                "the planned run has made-up answers: with --model, the plan is of a run that asks that model\n"
            }
            false => "",
        }
    }
}

/// The planned figures, with their groups in the simulated run, and the tables of these. What a judge decides is not there yet.
fn planned_figures(
    definitions: &[HypothesisDefinition],
    judges: &[Value],
    selected: &RunSelection,
    global: &Global,
) -> Result<(Vec<PlannedFigure>, Vec<FigureTable>), CliError> {
    let (mut figures, mut all) = (Vec::new(), Vec::new());
    for definition in definitions {
        let is_judged = |name: &&str| judges.iter().any(|judge| judge["name"] == **name);
        let tables = match definition.figure.measure.names().iter().any(is_judged) {
            true => Vec::new(),
            false => {
                let figure = std::slice::from_ref(&definition.figure);
                named_tables(std::slice::from_ref(selected), figure, global)?
            }
        };
        let expected: Vec<_> = tables.iter().flat_map(FigureTable::expected_intervals).collect();
        figures.push(PlannedFigure::new(definition, &expected));
        all.extend(tables);
    }
    Ok((figures, all))
}

/// The name of the plan of a config.
fn plan_name(config: &Path) -> String {
    let stem = config.file_stem().map(|stem| stem.to_string_lossy());
    format!("{}-plan", stem.unwrap_or_default())
}

/// The end of the plan's run.
fn head_of(log: &Log, run: RunId) -> Result<Head, CliError> {
    let head = log.reader()?.runs()?.into_iter().find(|head| head.run == run);
    head.map(|head| head.head)
        .ok_or_else(|| CliError::new(Status::Io, "the plan is not in the log any more"))
}
