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
use crate::runs::report_page::{MOST_TEXT, read_texts, report_page};
use crate::runs::run_figures::FiguresArgs;
use crate::select::{self, RunSelection};
use retold::escaping::printable;
use retold_report::{MOST_RUNS, Medium};

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
    let mut page = report_page(&selected, &of_any, &prices, global)?;
    let simulated = page.runs.iter().any(|part| part.summary.started.is_simulated());
    if texts {
        page.texts = Some(read_texts(&selected)?.ok_or_else(too_much_text)?);
    }
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

fn too_much_text() -> CliError {
    CliError::usage(format!(
        "the prompts and answers are more than {} MB of text, which no browser reads well",
        MOST_TEXT >> 20
    ))
    .hint("leave out --texts; `retold table RUN --table exchanges` writes them for other programs")
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
