//! `retold report`.

mod pdf;

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::document_file::DocumentFile;
use crate::error::{CliError, Status};
use crate::gate;
use crate::global::Global;
use crate::limits::prices;
use crate::output::Output;
use crate::runs::effective;
use crate::runs::run_figures::{FiguresArgs, decider_differences, searches};
use crate::runs::settings::{experiment_of, settings_of};
use crate::select::{self, RunSelection};
use crate::views::{self, program};
use retold::escaping::printable;
use retold::id::RunId;
use retold::model::Prices;
use retold::run::RunRecord;
use retold_figures::agreement::{MeasurementLevel, PairedRaters, RatedAnswers};
use retold_report::{MOST_RUNS, Medium, ReportPage, ReportTexts, RunPart, RunSummary};
use retold_wire::PROGRAM;

/// The longest texts of a page, in bytes.
const MOST_TEXT: usize = 200 << 20;

/// Write a run, or several side by side, as one self-contained page.
///
/// It has what was run, when and at what cost, figures with 95 % intervals, plots with their
/// numbers as CSV, and by which methods its decisions were found. It needs no network and has no script, unless it has texts.
/// A file that ends with .pdf is the same page printed by Chromium, Chrome, Edge or Brave, whichever is installed
/// (CHROME_PATH names one).
///
/// Several runs of one experiment are compared: a table has the settings in which they differ, and
/// others the figures of all runs and their differences: over the clusters (participants, puzzles) that
/// both have if their seeds are the same, otherwise unpaired. If they were decided by different parsers, the page says so, with the
/// command that decides all alike. With more than two runs, what is
/// about a single run is folded, and its plots are left to its own report.
///
/// Figures are those that `stats` shows: those of --figure and --figures, or else those that the study leads with or that
/// the decisions of a run suggest.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The run (first digits of its id, its name, or `latest`) or a recording's file; up to 30 of them, of which
    /// the others are compared with the first.
    #[arg(default_value = "latest", value_name = "RUN")]
    runs: Vec<String>,
    #[command(flatten)]
    figures: FiguresArgs,
    /// The file, which ends with .html or .pdf, or `-` for HTML on stdout.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Also put every prompt and answer into the page, with a search over them: one file that can be put beside a paper.
    #[arg(long)]
    texts: bool,
    /// Replace the file if it exists.
    #[arg(long)]
    force: bool,
    /// The prices: a file like config/prices.yaml, used instead of the built-in prices.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { runs, figures: of_any, output: file, texts, force, prices: price_file } = args;
    let document = DocumentFile::new(file.clone(), force, output)?;
    let format = ReportFormat::of(&file)?;
    if texts && format == ReportFormat::Pdf {
        return Err(CliError::usage("--texts is for an HTML page: paper cannot be searched")
            .hint("name a file that ends with .html"));
    }
    if runs.len() > MOST_RUNS {
        return Err(CliError::usage(format!(
            "a report has at most {MOST_RUNS} runs, and these are {}",
            runs.len()
        ))
        .hint("`retold stats RUN.. --figure FIGURE` compares any number of runs"));
    }
    let prices = prices(price_file.as_deref())?;
    let selected = select::each_once(select::runs_to_read(global, &runs)?, |of| of.run);
    // A page is passed on without the log, so that it is only made from sound runs.
    for RunSelection { log, run } in &selected {
        gate::sound(log, *run, "no report was written", output)?;
    }
    of_one_experiment(&selected)?;
    let ids: Vec<RunId> = selected.iter().map(|of| of.run).collect();
    let without_others = |error| gate::without_others(error, &ids);
    let tables = of_any.tables(&selected, global).map_err(without_others)?;
    let deciders = decider_differences(&selected).map_err(without_others)?;
    let parts = selected.iter().map(|selected| part(selected, &prices, global));
    let mut parts = parts.collect::<Result<Vec<_>, CliError>>().map_err(without_others)?;
    if let ([selected], [part]) = (selected.as_slice(), parts.as_mut_slice()) {
        part.agreement = agreement(selected, global)?;
    }
    let searches = searches(&selected, &tables, global).map_err(without_others)?;
    let simulated = parts.iter().any(|part| part.summary.started.is_simulated());
    let texts = texts.then(|| read_texts(&selected)).transpose()?;
    let page = ReportPage { runs: parts, tables, searches, deciders, texts };
    let medium = match format {
        ReportFormat::Html => Medium::Screen,
        ReportFormat::Pdf => Medium::Paper,
    };
    let html = page.html(medium);
    let html = html.map_err(|e| CliError::usage(format!("a plot cannot be drawn: {e}")))?;
    let (bytes, browser) = match format {
        ReportFormat::Html => (html.into_bytes(), None),
        ReportFormat::Pdf => {
            let printed = pdf::print(&html, page.end())?;
            (printed.bytes, Some(printed.browser.display().to_string()))
        }
    };
    document.write(&bytes, output)?;
    let Some(file) = document.path() else { return Ok(Status::Fine) };
    let of: Vec<String> = page.runs.iter().map(|part| part.summary.run.to_string()).collect();
    if output.is_json() {
        let plots: usize = page.runs.iter().map(|part| part.charts.len()).sum();
        output.object(&json!({
            "runs": of,
            "file": file.display().to_string(),
            "bytes": bytes.len(),
            "printed_by": browser,
            "plots": plots,
            "simulated": simulated,
        }))?;
    } else {
        let shown = if simulated { select::SIMULATED } else { "" };
        let of = match of.as_slice() {
            [one] => format!("run {one}"),
            several => format!("runs {}", several.join(", ")),
        };
        let by = browser.map_or_else(String::new, |browser| format!(", printed by {browser}"));
        output.text(&format!("report of {of} written to {}{by}\n{shown}", file.display()))?;
    }
    Ok(Status::Fine)
}

/// The prompts and answers of runs.
fn read_texts(selected: &[RunSelection]) -> Result<ReportTexts, CliError> {
    let mut texts = ReportTexts::default();
    for RunSelection { log, run } in selected {
        let name = (selected.len() > 1).then(|| run.short(8));
        texts.read(&mut log.checked_reader()?, *run, name.as_deref())?;
        if texts.bytes() > MOST_TEXT {
            return Err(CliError::usage(format!(
                "the prompts and answers are more than {} MB of text, which no browser reads well",
                MOST_TEXT >> 20
            ))
            .hint("leave out --texts; `retold table RUN --table exchanges` writes them for other programs"));
        }
    }
    Ok(texts)
}

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReportFormat {
    Html,
    Pdf,
}

impl ReportFormat {
    /// That which the name of a file says. A device has any name, and gets HTML, as stdout does.
    ///
    /// # Errors
    /// A name that says something else.
    fn of(file: &Path) -> Result<Self, CliError> {
        let is = |name: &str| file.extension().is_some_and(|it| it.eq_ignore_ascii_case(name));
        let is_device = file.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir());
        if file == Path::new("-") || is("html") || is("htm") || is_device {
            return Ok(ReportFormat::Html);
        }
        if is("pdf") {
            return Ok(ReportFormat::Pdf);
        }
        let name = printable(&file.display().to_string(), 300);
        Err(CliError::usage(format!("{name}: a report is an HTML page or a PDF file"))
            .hint("name a file that ends with .html, .htm or .pdf, or `-` for HTML on stdout"))
    }
}

/// How far those agree who decided under one name; `None` where only one did.
fn agreement(selected: &RunSelection, global: &Global) -> Result<Option<PairedRaters>, CliError> {
    let mut reader = selected.checked_reader()?;
    let rated = RatedAnswers::read(&mut reader, selected.run, global.studies.parsers())?;
    // The names that were not asked for need not be several.
    let Ok(choice) = rated.choice(&[], &[]) else { return Ok(None) };
    Ok(Some(rated.agreement(&choice, MeasurementLevel::Nominal)))
}

/// Refuses runs that have nothing in common to compare.
fn of_one_experiment(selected: &[RunSelection]) -> Result<(), CliError> {
    let mut experiments = Vec::new();
    for selected in selected {
        experiments
            .push(select::run_start(&mut selected.checked_reader()?, selected.run)?.experiment);
    }
    let first = experiments.first();
    match experiments.iter().find(|other| Some(*other) != first).zip(first) {
        Some((other, one)) => Err(CliError::usage(format!(
            "a report compares runs of one experiment, and these are of {} and {}",
            printable(one, 60),
            printable(other, 60)
        ))
        .hint("write a report of each experiment")),
        None => Ok(()),
    }
}

/// What is reported about a run.
fn part(selected: &RunSelection, prices: &Prices, global: &Global) -> Result<RunPart, CliError> {
    let studies = global.studies;
    let mut reader = selected.checked_reader()?;
    let in_force = effective::of(selected)?;
    // The figures of a page may not be those of the decisions in force.
    if let Some(damage) = in_force.damage() {
        return Err(CliError::from(damage.clone()).hint("no report was written"));
    }
    let in_force = effective::text(&in_force);
    let clusters = views::independence::declared_clusters(studies, &mut reader, selected.run)?;
    let (run, parsers) = (selected.run, studies.parsers());
    let summary = RunSummary::read(&mut reader, run, parsers, prices, clusters)?;
    let started = summary.started.clone();
    let Some(study) = studies.find(&started.experiment) else {
        let text = match started.experiment == PROGRAM {
            true => program::report(&started).text,
            false => String::new(),
        };
        let charts = retold_report::charts(&summary);
        return Ok(RunPart { summary, charts, text, agreement: None, in_force });
    };
    let record = RunRecord::read(&mut reader, run)?;
    let settings = settings_of(studies, &started)?;
    let charts = study.charts(&settings.experiment, &record.facts).map_err(|e| {
        CliError::usage(format!("the plots of the run: {}", printable(&e.to_string(), 500)))
    })?;
    // A study without plots of its own, such as an imported society, has those of any run.
    let charts = if charts.is_empty() { retold_report::charts(&summary) } else { charts };
    let text = experiment_of(studies, &record)?.fold(&record.facts)?.text;
    Ok(RunPart { summary, charts, text, agreement: None, in_force })
}
