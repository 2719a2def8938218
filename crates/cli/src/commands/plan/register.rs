//! `retold plan --register`: the plan of a study or a program, before anything is asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Args;
use super::alone::simulate;
use super::planned::PlannedRun;
use super::stored_plan::StoredPlan;
use crate::again::quote;
use crate::error::{CliError, Status};
use crate::global::Global;
use crate::model::ModelArgs;
use crate::output::Output;
use crate::runs::config::NamedConfig;
use crate::runs::run_figures::named_tables;
use crate::runs::settings::{as_json, as_recorded};
use crate::runs::simulated::SimulatedRun;
use crate::select::{self, RunSelection};
use retold::decide::RegisteredParser;
use retold::escaping::printable;
use retold::members::Members;
use retold::model::Prices;
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
    let definitions = definitions(&path, &file)?;
    if file.calls.is_some() {
        return Err(CliError::usage(format!("{}: `calls` is for programs", path.display()))
            .hint("the config says how much a study asks: leave `calls` out"));
    }
    parsers_exist(&path, &file, global)?;
    let judges = judges(&path, &file, args, global)?;
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
        calls: Some(planned.calls()),
    };
    let stem = config.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let stored = StoredPlan::store(&plan, &stem, global)?;
    if output.is_json() {
        let mut object = planned.json();
        object.set("config", config.display().to_string().into());
        object.set("experiment", started.experiment.into());
        object.set("simulated", true.into());
        stored.add_to(&mut object);
        output.object(&object)?;
        return Ok(Status::Fine);
    }
    let model = started.model_note();
    // What the plan was made with: a run without it would deviate.
    let named = args.model.iter().map(|model| ("--model", model));
    let given = args.settings.iter().map(|setting| ("--set", setting)).chain(named);
    let given = given.map(|(flag, value)| {
        format!(" {flag} {}", quote(value).unwrap_or_else(|| "..".to_owned()))
    });
    let records = format!("run {}{} --plan", config.display(), given.collect::<String>());
    output.text(&format!(
        "{}{}{}{model}{}",
        plan.text(),
        select::SIMULATED,
        planned.text("simulated"),
        stored.text(&records),
    ))?;
    Ok(Status::Fine)
}

/// Registers the plan of a program, by the name of its runs.
pub(super) fn register_program(
    name: &str,
    args: &Args,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let Some(path) = &args.hypotheses else {
        return Err(CliError::usage("the plan of a program needs hypotheses: --hypotheses FILE")
            .hint(EXAMPLE));
    };
    let file: HypothesesFile = load(path, &read_text(path)?)?;
    let definitions = definitions(path, &file)?;
    parsers_exist(path, &file, global)?;
    let judges = judges(path, &file, args, global)?;
    let plan = RegisteredPlan {
        study: name.to_owned(),
        seed: None,
        settings: Value::Null,
        hypotheses: definitions.iter().map(|of| PlannedFigure::new(of, &[])).collect(),
        stopping: file.stopping,
        exclusions: file.exclusions,
        deciders: BTreeMap::new(),
        parsers: file.parsers,
        judges: judges.iter().map(as_recorded).collect(),
        models: file.models,
        calls: file.calls,
    };
    let stored = StoredPlan::store(&plan, name, global)?;
    if output.is_json() {
        let mut object = json!({ "name": name });
        stored.add_to(&mut object);
        output.object(&object)?;
    } else {
        output.text(&format!("{}{}", plan.text(), stored.text("record --plan")))?;
    }
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

/// The figures of a file of hypotheses.
fn definitions(path: &Path, file: &HypothesesFile) -> Result<Vec<HypothesisDefinition>, CliError> {
    file.definitions().map_err(|error: HypothesesError| {
        let hint = if let HypothesesError::Definition(_) = error {
            DefinitionError::HINT
        } else {
            EXAMPLE
        };
        CliError::usage(format!("{}: {error}", path.display())).hint(hint)
    })
}

/// Checks the names of parsers that may decide.
fn parsers_exist(path: &Path, file: &HypothesesFile, global: &Global) -> Result<(), CliError> {
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
    Ok(())
}

/// The settings of the judges whose configs are named in a file.
fn judges(
    path: &Path,
    file: &HypothesesFile,
    args: &Args,
    global: &Global,
) -> Result<Vec<Value>, CliError> {
    file.judges.iter().map(|judge| judge_settings(path, judge, args, global)).collect()
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
