//! Writes the folder that goes beside a paper.

mod sealed;
mod written;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::limits::prices;
use crate::output::{Output, count_of};
use crate::runs::folder::refuse_existing;
use crate::runs::report_page::{read_texts, report_page};
use crate::runs::run_figures::{FiguresArgs, draws_of, planned};
use crate::select::{self, RunSelection};
use crate::table_files::labels_of;
use retold::event::Event;
use retold::exchange::accepted_about;
use retold::id::RunId;
use retold::log::{Log, Reader, RunEvents};
use retold_deposit::commitments::Commitments;
use retold_deposit::{DepositFacts, DepositedRun, Manifest, RequestFacts, RunPlace};
use retold_plan::{NamedPlan, RegisteredPlan};
use retold_report::MOST_RUNS;
use sealed::CopiedSeal;
use written::{DepositDraft, unwritable};

/// A deposit to be written.
pub(super) struct DepositExport {
    pub(super) runs: Vec<String>,
    pub(super) folder: Option<PathBuf>,
    pub(super) figures: FiguresArgs,
    /// Whether prompts and answers are part of it.
    pub(super) texts: bool,
    pub(super) seals: Vec<PathBuf>,
}

pub(super) fn run(
    export: DepositExport,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let DepositExport { runs, folder, figures, texts, seals } = export;
    let Some(folder) = folder.filter(|folder| folder != Path::new("-")) else {
        return Err(CliError::usage("a deposit is a folder: name one that does not exist")
            .hint("`retold export RUN FOLDER --as deposit`"));
    };
    refuse_existing(&folder)?;
    let nonces = nonces_file(&folder)?;
    if !texts {
        refuse_existing(&nonces)?;
    }
    if runs.len() > MOST_RUNS {
        let message =
            format!("a deposit has at most {MOST_RUNS} runs, and these are {}", runs.len());
        return Err(CliError::usage(message).hint("write several deposits"));
    }
    let selected = select::each_once(select::runs_to_read(global, &runs)?, |of| of.run);
    for RunSelection { log, run } in &selected {
        gate::sound(log, *run, NOTHING, output)?;
    }
    if !texts {
        refuse_suggested(&selected, &figures, global)?;
    }
    let all = all_runs(&selected, texts)?;
    let mut page = report_page(&selected, &figures, &prices(None)?, global)?;
    if texts {
        page.texts = read_texts(&selected)?;
    }
    let requests =
        selected.iter().map(|of| Ok(RequestFacts::read(&mut of.checked_reader()?, of.run)?));
    let requests = requests.collect::<Result<Vec<_>, CliError>>()?;
    let plan = plan_of(&selected)?;
    let manifest = Manifest::new(all.iter().map(|of| of.deposited.clone()).collect(), texts);
    let seals = seals.iter().map(|file| CopiedSeal::read(file, &manifest));
    let seals = seals.collect::<Result<Vec<_>, CliError>>()?;
    let facts = DepositFacts {
        page: &page,
        requests: &requests,
        plan: plan.as_ref().map(|(run, plan)| (*run, plan)),
        manifest: &manifest,
        is_sealed: !seals.is_empty(),
    };

    let draft = DepositDraft::new(&folder)?;
    for file in facts.texts() {
        draft.write(&file.name, file.text.as_bytes())?;
    }
    for seal in &seals {
        draft.write(&seal.name, seal.text.as_bytes())?;
    }
    draft.write_figures(&page, &draws_of(&selected, &page.tables, global)?)?;
    draft.write_tables(&selected, &labels_of(&selected)?, &facts)?;
    let mut commitments = Commitments::default();
    match texts {
        true => {
            draft.write_report(&page)?;
            all.iter().try_for_each(|of| draft.write_recording(&of.log, &of.deposited))?;
        }
        false => {
            for of in &selected {
                commitments.add_run(&mut of.checked_reader()?, of.run)?;
            }
            draft.write(
                retold_deposit::commitments::COMMITMENTS,
                commitments.commitments.as_bytes(),
            )?;
        }
    }
    // The nonces are there before the commitments that they open are seen by anybody.
    if !texts {
        written::write_new(&nonces, commitments.nonces.as_bytes())
            .map_err(|error| unwritable(&nonces, error))?;
    }
    let files = draft.finish(&folder).inspect_err(|_| {
        if !texts {
            let _ = std::fs::remove_file(&nonces);
        }
    })?;
    say(
        &folder,
        &manifest,
        files,
        (!texts).then_some((&*nonces, commitments.count)),
        facts_simulated(&page),
        output,
    )
}

const NOTHING: &str = "nothing was written";

/// Figures that nobody chose may name answers.
fn refuse_suggested(
    selected: &[RunSelection],
    figures: &FiguresArgs,
    global: &Global,
) -> Result<(), CliError> {
    if !figures.is_empty() || !planned(selected)?.is_empty() {
        return Ok(());
    }
    for of in selected {
        let started = select::run_start(&mut of.checked_reader()?, of.run)?;
        if global.studies.find(&started.experiment).is_none() {
            let message = "the figures that decisions suggest may name answers, and this deposit is to have no texts";
            return Err(CliError::usage(message)
                .hint("choose its figures: --figure FIGURE or --figures FILE"));
        }
    }
    Ok(())
}

/// The file of nonces beside a folder.
fn nonces_file(folder: &Path) -> Result<PathBuf, CliError> {
    let name = folder.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| {
        CliError::usage(format!("{} is not a name for a folder", folder.display()))
    })?;
    Ok(folder.with_file_name(format!("{name}-nonces.csv")))
}

fn facts_simulated(page: &retold_report::ReportPage) -> bool {
    page.runs.iter().any(|part| part.summary.started.is_simulated())
}

/// A run of the deposit, with its log.
struct RunOfDeposit {
    log: Log,
    deposited: DepositedRun,
}

/// All runs of a deposit, each after those that it needs: plans, the runs themselves, judges, and decisions that were accepted
/// about their answers.
fn all_runs(selected: &[RunSelection], texts: bool) -> Result<Vec<RunOfDeposit>, CliError> {
    let [mut plans, mut runs, mut judges, mut decisions]: [Vec<(&Log, RunId, RunPlace)>; 4] =
        Default::default();
    for RunSelection { log, run } in selected {
        let mut reader = log.reader()?;
        let there: BTreeSet<RunId> = reader.runs()?.into_iter().map(|head| head.run).collect();
        let plan = NamedPlan::of(&select::run_start(reader.as_mut(), *run)?).map(|plan| plan.run);
        let plan = plan.filter(|plan| there.contains(plan));
        plans.extend(plan.map(|plan| (log, plan, RunPlace::Plan)));
        runs.push((log, *run, RunPlace::Figures));
        for accepted in accepted_about(reader.as_mut(), *run)? {
            let of = judges_of(reader.as_mut(), accepted)?;
            let of = of.into_iter().filter(|judge| there.contains(judge));
            judges.extend(of.map(|judge| (log, judge, RunPlace::Judge)));
            decisions.push((log, accepted, RunPlace::Decisions));
        }
    }
    let (mut known, mut all) = (BTreeSet::new(), Vec::new());
    for (log, run, place) in [plans, runs, judges, decisions].into_iter().flatten() {
        if !known.insert(run) {
            continue;
        }
        let verified = select::sound(log, run, NOTHING)?;
        let experiment = select::run_start(log.reader()?.as_mut(), run)?.experiment;
        let head = texts.then_some(verified.head.hash);
        let deposited = DepositedRun { run, experiment, place, events: verified.head.seq, head };
        all.push(RunOfDeposit { log: log.clone(), deposited });
    }
    Ok(all)
}

/// The runs of the judges whose verdicts were accepted.
fn judges_of(reader: &mut dyn Reader, accepted: RunId) -> Result<BTreeSet<RunId>, CliError> {
    let (mut judges, mut events) = (BTreeSet::new(), RunEvents::new(accepted));
    while let Some(stored) = events.next(reader)? {
        if !stored.is_decision() {
            continue;
        }
        if let Event::DecisionMade(made) = stored.event().map_err(retold::log::LogError::from)?
            && made.by.is_by_judge()
        {
            let run = made.by.parser["params"]["run"].as_str();
            let run: Option<RunId> = run.and_then(|run| run.parse().ok());
            judges.extend(run);
        }
    }
    Ok(judges)
}

/// The plan that the runs name; `None` if they name none, or several.
fn plan_of(selected: &[RunSelection]) -> Result<Option<(RunId, RegisteredPlan)>, CliError> {
    let mut plans = Vec::new();
    for of in selected {
        let mut reader = of.checked_reader()?;
        let named = NamedPlan::of(&select::run_start(&mut reader, of.run)?).map(|plan| plan.run);
        let there = reader.runs()?.into_iter().map(|head| head.run).find(|run| Some(*run) == named);
        let read = there
            .map(|run| Ok::<_, CliError>((run, select::run_start(&mut reader, run)?)))
            .transpose()?;
        plans.push(read.and_then(|(run, started)| Some((run, RegisteredPlan::of(&started)?))));
    }
    let first = plans.first().cloned().flatten();
    let is_one =
        plans.iter().all(|plan| plan.as_ref().map(|of| of.0) == first.as_ref().map(|of| of.0));
    Ok(first.filter(|_| is_one))
}

fn say(
    folder: &Path,
    manifest: &Manifest,
    files: usize,
    nonces: Option<(&Path, u64)>,
    is_simulated: bool,
    output: &Output,
) -> Result<Status, CliError> {
    let shown = folder.display().to_string();
    if output.is_json() {
        let nonces = nonces
            .map(|(file, count)| json!({"file": file.display().to_string(), "commitments": count}));
        output.object(&json!({
            "folder": shown, "files": files, "runs": manifest.runs, "texts": manifest.texts, "nonces": nonces,
            "simulated": is_simulated,
        }))?;
        return Ok(Status::Fine);
    }
    let (runs, files) =
        (count_of(manifest.runs.len() as u64, "run"), count_of(files as u64, "file"));
    let mut text = format!("deposit of {runs} written to {shown}: {files}\n");
    if is_simulated {
        text.push_str(select::SIMULATED);
    }
    if let Some((file, count)) = nonces {
        text.push_str(&format!(
            "no text is in it; the nonces of its {} are in {}: keep this file, and publish none of it but what you want to open\n",
            count_of(count, "commitment"),
            file.display()
        ));
    }
    text.push_str(
        "what only you know is marked \"To be added by the authors\" in CITATION.cff, croissant.json and checklists\n",
    );
    output.text(&text)?;
    Ok(Status::Fine)
}
