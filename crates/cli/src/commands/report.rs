//! `retold report`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::output::Output;
use crate::runs::effective;
use crate::runs::figures::figures_of;
use crate::runs::run_figures::FiguresArgs;
use crate::runs::settings::{experiment_of, settings_of};
use crate::select::{self, RunSelection};
use crate::views::{self, program};
use retold::draft::Draft;
use retold::escaping::printable;
use retold::run::RunRecord;
use retold_figures::{Figure, Pairing, compared_figures};
use retold_report::{ReportPage, RunPart, RunSummary};
use retold_wire::PROGRAM;

/// Write a run, or two side by side, as one self-contained page.
///
/// It has what was run, headline figures with 95 % intervals, plots with their numbers as CSV, and by
/// which methods its decisions were found.
///
/// With two runs, the page compares them: both sets of figures and plots, and the difference of
/// each figure: over the lanes (participants, puzzles) that both runs have if they have the same seed,
/// otherwise unpaired. The page needs no network and has no script.
///
/// Figures of --figure and --figures come first, as `stats` shows them; without these options, a run
/// that no study made has those that its decisions suggest.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run (first digits of its id, or `latest`) or a recording's file; a second one to compare
    /// it with.
    #[arg(required = true, num_args = 1..=2, value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    figures: FiguresArgs,
    /// The file, or `-` for stdout.
    #[arg(short, long, value_name = "FILE.html")]
    output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { runs, figures: of_any, output: file, force } = args;
    let is_stdout = file == Path::new("-");
    if is_stdout && output.is_json() {
        return Err(CliError::usage("--json and -o - both write to stdout")
            .hint("name a file for the page"));
    }
    if is_stdout {
        output.is_a_document();
    } else {
        CliError::refuse_log(&file)?;
        only_html(&file)?;
    }
    if !is_stdout && file.exists() && !force {
        return Err(CliError::usage(format!("{}: the file exists", file.display()))
            .hint("--force replaces it"));
    }
    let selected = runs.iter().map(|name| select::to_read(global, name));
    let selected = selected.collect::<Result<Vec<_>, CliError>>()?;
    // A page is passed on without the log, so that it is only made from sound runs.
    for RunSelection { log, run } in &selected {
        gate::sound(log, *run, "no report was written", output)?;
    }
    of_one_experiment(&selected)?;
    let tables = of_any.tables(&selected, global)?;
    let mut parts = Vec::new();
    let mut figures: Vec<Vec<Figure>> = Vec::new();
    for selected in &selected {
        let (part, of) = part(selected, global)?;
        parts.push(part);
        figures.push(of);
    }
    let seeds: Vec<u64> = parts.iter().map(|part| part.summary.started.seed).collect();
    let compared = match (figures.as_slice(), seeds.as_slice()) {
        ([one, other], [first, second]) => {
            compared_figures(one, other, Pairing::of_seeds(*first, *second))
        }
        _ => Vec::new(),
    };
    let simulated = parts.iter().any(|part| part.summary.started.is_simulated());
    let page = ReportPage { runs: parts, tables, compared };
    let html = page.html().map_err(|e| CliError::usage(format!("a plot cannot be drawn: {e}")))?;
    if is_stdout {
        output.raw(html.as_bytes())?;
        return Ok(Status::Fine);
    }
    write(&file, &html)?;
    let of: Vec<String> = page.runs.iter().map(|part| part.summary.run.to_string()).collect();
    if output.is_json() {
        let plots: usize = page.runs.iter().map(|part| part.charts.len()).sum();
        output.object(&json!({
            "runs": of,
            "file": file.display().to_string(),
            "bytes": html.len(),
            "plots": plots,
            "simulated": simulated,
        }))?;
    } else {
        let shown = if simulated { select::SIMULATED } else { "" };
        let of = of.join(" and ");
        output.text(&format!("report of run {of} written to {}\n{shown}", file.display()))?;
    }
    Ok(Status::Fine)
}

/// Refuses a file whose name says that it is something else. A device has any name.
fn only_html(file: &Path) -> Result<(), CliError> {
    let is_html = file.extension().is_some_and(|extension| {
        ["html", "htm"].iter().any(|html| extension.eq_ignore_ascii_case(html))
    });
    let is_device = file.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir());
    if is_html || is_device {
        return Ok(());
    }
    let name = printable(&file.display().to_string(), 300);
    Err(CliError::usage(format!("{name}: a report is an HTML page")).hint(
        "name a file that ends with .html or .htm (a browser prints it to PDF), or `-` for stdout",
    ))
}

/// Refuses runs that have nothing in common to compare.
fn of_one_experiment(selected: &[RunSelection]) -> Result<(), CliError> {
    let mut experiments = Vec::new();
    for selected in selected {
        experiments.push(select::started(&mut selected.checked()?, selected.run)?.experiment);
    }
    match experiments.as_slice() {
        [one, other] if one != other => Err(CliError::usage(format!(
            "a report compares two runs of one experiment, and these are of {} and {}",
            printable(one, 60),
            printable(other, 60)
        ))
        .hint("write a report of each run")),
        _ => Ok(()),
    }
}

/// Writes the page as a whole or not at all, unless the file is a device or a link: these are written to as
/// they are.
fn write(path: &Path, html: &str) -> Result<(), CliError> {
    let write = || -> io::Result<()> {
        if path.symlink_metadata().is_ok_and(|there| !there.is_file()) {
            return std::fs::write(path, html);
        }
        let (draft, mut file) = Draft::file(path)?;
        file.write_all(html.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(draft.path(), path)
    };
    write()
        .map_err(|e| CliError::new(Status::Io, format!("{}: cannot write it: {e}", path.display())))
}

/// What is reported about a run, and its figures.
fn part(selected: &RunSelection, global: &Global) -> Result<(RunPart, Vec<Figure>), CliError> {
    let studies = global.studies;
    let mut reader = selected.checked()?;
    let in_force = effective::text(&effective::of(selected)?);
    let clusters = views::independence::declared_clusters(studies, &mut reader, selected.run)?;
    let summary = RunSummary::read(&mut reader, selected.run, studies.parsers(), clusters)?;
    let started = summary.started.clone();
    let Some(study) = studies.find(&started.experiment) else {
        let report = if started.experiment == PROGRAM {
            program::report(&started).text
        } else {
            String::new()
        };
        let charts = retold_report::charts(&summary);
        let part = RunPart { summary, figures: Vec::new(), charts, text: report, in_force };
        return Ok((part, Vec::new()));
    };
    let figures = figures_of(studies, &mut reader, selected.run)?;
    let record = RunRecord::read(&mut reader, selected.run)?;
    let settings = settings_of(studies, &started)?;
    let charts = study.charts(&settings.experiment, &record.facts).map_err(|e| {
        CliError::usage(format!("the plots of the run: {}", printable(&e.to_string(), 500)))
    })?;
    // A study without plots of its own, such as an imported society, has those of any run.
    let charts = if charts.is_empty() { retold_report::charts(&summary) } else { charts };
    let text = experiment_of(studies, &record)?.fold(&record.facts)?.text;
    let estimates = figures.iter().map(Figure::estimate).collect();
    Ok((RunPart { summary, figures: estimates, charts, text, in_force }, figures))
}
