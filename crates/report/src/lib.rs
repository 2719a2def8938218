//! A run as one self-contained page: what was run, its headline figures with intervals, plots with
//! their numbers as CSV, and how its decisions were found.
//!
//! The page needs no network and no script, and can be printed. All text of models and files is
//! escaped, and control characters are shown as such.
//!
//! - [`RunSummary`]: what is said about any run.
//! - [`charts`]: the plots of a run whose experiment is not at hand.
//! - [`ReportPage`]: the page of one run, or of two.
//! - [`plot`]: the plots.

mod figure_table;
mod foreign;
pub mod plot;
mod summary;

use std::fmt::Write;

use retold::counted::counted;
use retold::escaping::printable;
use retold::totals::{Calls, Counts, Latency, Tokens};
use retold_figures::{ComparedFigure, Estimate, FigureTable, Pairing, other_seed};
use retold_study::charts::Chart;

pub use foreign::charts;
pub use summary::{Methods, RunSummary, methods};

/// What is reported about one run.
#[derive(Debug, Clone)]
pub struct RunPart {
    /// The run.
    pub summary: RunSummary,
    /// Its headline figures.
    pub figures: Vec<Estimate>,
    /// Its plots.
    pub charts: Vec<Chart>,
    /// The study's own report.
    pub text: String,
    /// Which decisions are in force, line by line; empty if none were accepted.
    pub in_force: String,
}

/// A page about one run, or about two.
#[derive(Debug, Clone)]
pub struct ReportPage {
    /// The runs.
    pub runs: Vec<RunPart>,
    /// Figures of any run, which come first.
    pub tables: Vec<FigureTable>,
    /// With two runs: their figures side by side.
    pub compared: Vec<ComparedFigure>,
}

/// The style of the page.
const STYLE: &str = include_str!("style.css");

/// A text as HTML shows it.
fn escaped(text: &str, most: usize) -> String {
    let mut out = String::new();
    for c in printable(text, most).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// A text of several lines as HTML shows it.
fn escaped_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", escaped(line, 400))).collect()
}

impl ReportPage {
    /// The page.
    ///
    /// # Errors
    /// If a plot cannot be drawn.
    pub fn html(&self) -> Result<String, Box<dyn std::error::Error + Send + Sync>> {
        let names: Vec<String> =
            self.runs.iter().map(|part| part.summary.run.to_string()).collect();
        let title = escaped(&names.join(" and "), 80);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n\
             <title>Report: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
        );
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(page, "<h1>Report</h1>");
        for part in &self.runs {
            about(part, &mut page);
        }
        self.tables.iter().for_each(|table| figure_table::html(table, &mut page));
        self.figures(&mut page);
        for (at, part) in self.runs.iter().enumerate() {
            let of =
                if self.runs.len() > 1 { format!(", run {}", names[at]) } else { String::new() };
            if !part.charts.is_empty() {
                let _ = writeln!(page, "<h2>Plots{of}</h2>");
            }
            for chart in &part.charts {
                plotted(chart, at, &mut page)?;
            }
            let _ = writeln!(page, "<h2>How decisions were found{of}</h2>");
            by_method(&part.summary, &mut page);
            let _ = writeln!(page, "<h2>Draws, shared answers, independence{of}</h2>");
            independence(&part.summary, &mut page);
            let _ = writeln!(page, "<h2>Calls, tokens, latency{of}</h2>");
            calls(&part.summary, &mut page);
            if !part.text.is_empty() {
                let text = escaped_lines(&part.text);
                let _ = writeln!(
                    page,
                    "<details><summary>The study's own report{of}</summary>\n<pre tabindex=0>{text}</pre></details>"
                );
            }
        }
        page.push_str("</main>\n</body>\n</html>\n");
        Ok(page)
    }

    fn figures(&self, page: &mut String) {
        // Figures of any run are what came out of a run that no study made.
        if self.has_only_tables() {
            return self.runs.iter().for_each(|part| found(&part.summary, page));
        }
        page.push_str("<h2>Headline figures</h2>\n");
        let [one] = self.runs.as_slice() else {
            return self.compared(page);
        };
        if one.figures.is_empty() {
            page.push_str("<p>This kind of run has no headline figures.</p>\n");
            found(&one.summary, page);
            return;
        }
        page.push_str(
            "<div class=wide tabindex=0>\n<table>\n<tr><th>figure</th><th>value</th><th>95 % interval</th><th>draws</th>\
             <th>clusters</th><th>interval</th></tr>\n",
        );
        for figure in &one.figures {
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td class=n data-pointer=\"{}\" data-value=\"{}\">{}</td><td class=n>{}</td>\
                 <td class=n>{}</td><td class=n>{}</td><td>{}</td></tr>",
                escaped(&figure.name, 100),
                escaped(figure.pointer.as_deref().unwrap_or(""), 200),
                figure.value.map_or_else(String::new, |value| value.to_string()),
                figure.value_text(),
                figure.interval_text(),
                figure.draws,
                figure.clusters,
                escaped(&sampled(figure), 200),
            );
        }
        page.push_str("</table>\n</div>\n");
        found(&one.summary, page);
    }

    fn has_only_tables(&self) -> bool {
        !self.tables.is_empty() && self.runs.iter().all(|part| part.figures.is_empty())
    }

    fn compared(&self, page: &mut String) {
        if self.compared.is_empty() {
            page.push_str("<p>These runs have no headline figures in common.</p>\n");
        } else {
            let pairing = self.compared.first().map(|figure| figure.pairing);
            let difference = pairing.map_or("difference", Pairing::difference);
            let _ = write!(
                page,
                "<div class=wide tabindex=0>\n<table>\n<tr><th>figure</th><th>first run</th><th>second run</th><th>{difference}</th>\
                 <th>95 % interval</th><th>lanes in both</th><th>changed</th></tr>\n",
            );
        }
        for figure in &self.compared {
            let ComparedFigure { one, other, lanes, lanes_changed, .. } = figure;
            let interval = match figure.no_interval() {
                Some(reason) => reason.to_owned(),
                None => figure.interval_text(),
            };
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td>\
                 <td class=n>{interval}</td><td class=n>{lanes}</td><td class=n>{lanes_changed}</td></tr>",
                escaped(&one.name, 100),
                one.text(),
                other.as_ref().map_or_else(|| "-".to_owned(), Estimate::text),
                figure.difference_text().unwrap_or_else(|| "-".to_owned()),
            );
        }
        if !self.compared.is_empty() {
            page.push_str("</table>\n</div>\n<ul class=sampled>\n");
            for ComparedFigure { one, other, .. } in &self.compared {
                let (name, how) = (escaped(&one.name, 100), sampled(one));
                let then = other.as_ref().map(sampled).filter(|then| *then != how);
                let how = escaped(&how, 200);
                let _ = match then {
                    None => writeln!(page, "<li>{name}: {how}</li>"),
                    Some(then) => {
                        let then = escaped(&then, 200);
                        writeln!(page, "<li>{name}, first run: {how}; second run: {then}</li>")
                    }
                };
            }
            page.push_str("</ul>\n");
            if let [one, other] = self.runs.as_slice()
                && let Some(caution) =
                    other_seed(one.summary.started.seed, other.summary.started.seed)
            {
                let _ = writeln!(page, "<p>Note: {}.</p>", escaped(&caution, 300));
            }
        }
        self.runs.iter().for_each(|part| found(&part.summary, page));
    }
}

/// What was run.
fn about(part: &RunPart, page: &mut String) {
    let RunSummary { run, started, outcome, figures, .. } = &part.summary;
    let _ = writeln!(page, "<section>");
    if started.is_simulated() {
        page.push_str(
            "<p class=banner>SIMULATED: a program made these answers up; they are not data</p>\n",
        );
    }
    if outcome.as_deref() != Some("finished") {
        page.push_str("<p class=banner>This run is not finished: all numbers are of what it has so far.</p>\n");
    }
    for line in part.in_force.lines() {
        let _ = writeln!(page, "<p class=note>{}</p>", escaped(line, 400));
    }
    let models = figures.all.counts.reported_as.iter();
    let models: Vec<String> = models
        .map(|(model, answers)| {
            format!("{} ({})", printable(model, 80), counted(*answers, "answer"))
        })
        .collect();
    let rows = [
        ("run", run.to_string()),
        ("experiment", started.experiment.clone()),
        ("model", started.model["kind"].as_str().unwrap_or("?").to_owned()),
        (
            "answered by",
            if models.is_empty() { "not reported".to_owned() } else { models.join(", ") },
        ),
        (
            "seed",
            started
                .drawn_from()
                .map_or_else(|| "none is drawn from".to_owned(), |it| it.to_string()),
        ),
        ("outcome", outcome.clone().unwrap_or_else(|| "unfinished".to_owned())),
        ("events", figures.events.to_string()),
        ("recorded by", started.program.clone()),
    ];
    page.push_str("<table class=about>\n");
    for (name, value) in rows {
        let _ = writeln!(page, "<tr><th>{name}</th><td>{}</td></tr>", escaped(&value, 600));
    }
    page.push_str("</table>\n");
    let settings = serde_json::to_string_pretty(&started.settings).unwrap_or_default();
    let cut: String = settings.chars().take(200_000).collect();
    let _ = writeln!(
        page,
        "<details><summary>Settings</summary>\n<pre tabindex=0>{}</pre></details>\n</section>",
        escaped_lines(&cut)
    );
}

/// How many decisions a strategy found.
fn found(summary: &RunSummary, page: &mut String) {
    if let Some(said) = summary.found().says(&summary.run.to_string()) {
        // Nothing in it is from the log.
        let _ = writeln!(page, "<p>{said}</p>");
    }
}

/// How the interval was computed, and what was resampled; or why there is none.
fn sampled(figure: &Estimate) -> String {
    match figure.interval {
        Some(interval) => format!("{} over {}", interval.method.as_str(), figure.unit),
        None if figure.draws == 0 => "none: there are no draws".to_owned(),
        None if figure.clusters > 1 => "none: all clusters have the same value".to_owned(),
        None => format!("none with fewer than two {}", figure.unit),
    }
}

fn plotted(
    chart: &Chart,
    run: usize,
    page: &mut String,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let (columns, rows) = chart.data.table();
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(&columns)?;
    for row in &rows {
        writer.write_record(row)?;
    }
    let bytes = writer.into_inner().map_err(|e| e.to_string())?;
    let file = format!("{}_{}.csv", chart.name, run + 1);
    let _ = writeln!(
        page,
        "<figure role=group aria-label=\"{0}\">\n<figcaption>{0} <a download=\"{1}\" href=\"data:text/csv;base64,{2}\">CSV</a></figcaption>\n<div class=wide tabindex=0>{3}</div></figure>",
        escaped(&chart.title, 160),
        escaped(&file, 100),
        data_encoding::BASE64.encode(&bytes),
        plot::svg(chart)?
    );
    Ok(())
}

fn by_method(summary: &RunSummary, page: &mut String) {
    if summary.found().decisions == 0 {
        page.push_str("<p>This run has no decisions of its own.</p>\n");
        return;
    }
    page.push_str("<div class=wide tabindex=0>\n<table>\n<tr><th>calls</th><th>method</th><th>decisions</th><th>share</th><th></th></tr>\n");
    for (kind, of) in &summary.figures.kinds {
        let methods = methods(&of.parsers);
        let all: u64 = methods.values().sum();
        for ((method, is_last_resort), decisions) in &methods {
            let note =
                if *is_last_resort { "last resort: nothing was found in the answer" } else { "" };
            let class = if *is_last_resort { " class=warn" } else { "" };
            let _ = writeln!(
                page,
                "<tr{class}><td>{}</td><td>{}</td><td class=n>{decisions}</td><td class=n>{:.2} %</td><td>{note}</td></tr>",
                escaped(kind, 100),
                escaped(method, 100),
                100.0 * *decisions as f64 / all.max(1) as f64
            );
        }
    }
    page.push_str("</table>\n</div>\n");
}

/// What decisions rest on: the sentences of `retold audit --independence`.
fn independence(summary: &RunSummary, page: &mut String) {
    page.push_str("<ul>\n");
    for sentence in summary.independence.sentences() {
        let _ = writeln!(page, "<li>{}</li>", escaped(&sentence, 600));
    }
    page.push_str("</ul>\n");
}

fn calls(summary: &RunSummary, page: &mut String) {
    page.push_str(
        "<div class=wide tabindex=0>\n<table>\n<tr><th>calls</th><th>asked</th><th>answered</th><th>failed</th>\
         <th>not answered</th><th>tokens in</th><th>tokens out</th><th>median, ms</th>\
         <th>90th percentile, ms</th><th>99th percentile, ms</th></tr>\n",
    );
    for (kind, Counts { calls, tokens, latency_ms, .. }) in &summary.figures.kinds {
        let Calls { asked, answered, failed, open, .. } = calls;
        let latency = |of: fn(&Latency) -> u64| {
            latency_ms.as_ref().map_or_else(|| "-".to_owned(), |latency| of(latency).to_string())
        };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td class=n>{asked}</td><td class=n>{answered}</td><td class=n>{failed}</td>\
             <td class=n>{open}</td><td class=n>{}</td><td class=n>{}</td><td class=n>{}</td>\
             <td class=n>{}</td><td class=n>{}</td></tr>",
            escaped(kind, 100),
            known(tokens.prompt, tokens),
            known(tokens.completion, tokens),
            latency(|latency| latency.p50),
            latency(|latency| latency.p90),
            latency(|latency| latency.p99)
        );
    }
    page.push_str("</table>\n</div>\n");
}

/// A number of tokens, and in how many answers none were counted.
fn known(number: Option<u64>, tokens: &Tokens) -> String {
    match (number, tokens.uncounted) {
        _ if tokens.counted + tokens.uncounted == 0 => "-".to_owned(),
        (None, _) => "unknown".to_owned(),
        (Some(number), 0) => number.to_string(),
        (Some(number), uncounted) => {
            format!("{number}, unknown for {}", counted(uncounted, "answer"))
        }
    }
}
