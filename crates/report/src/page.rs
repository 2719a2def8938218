//! The page as a whole.

use std::fmt::Write;

use retold::counted::count_of;
use retold::escaping::printable;
use retold::event::PROGRAM;
use retold::id::Time;
use retold_plan::BEYOND_THE_LOG;

use crate::draw_error::DrawError;
use crate::html::{escape, escape_lines};
use crate::texts::SCRIPT_HASH;
use crate::time_span::between;
use crate::{
    Medium, ReportPage, RunPart, about, agreement_picture, calls, decisions, figure_table, plotted,
    runs_table,
};

/// The style of the page.
const STYLE: &str = include_str!("style.css");

/// The most runs of which everything is shown at once.
const MOST_UNFOLDED: usize = 2;

impl ReportPage {
    /// The page.
    ///
    /// # Errors
    /// If a plot cannot be drawn.
    pub fn html(&self, medium: Medium) -> Result<String, DrawError> {
        let title = escape(&self.title(), 200);
        let script = self.texts.as_ref().map(|_| format!("; script-src '{SCRIPT_HASH}'"));
        let script = script.unwrap_or_default();
        let class = if self.runs.len() > 1 { " class=several" } else { "" };
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:{script}\">\n\
             <title>Report: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main{class}>\n"
        );
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(page, "<h1>{title}</h1>\n<p class=date>{}</p>", self.date_line());
        match self.runs.as_slice() {
            [one] => about::write_cautions(one, &mut page),
            runs => runs_table::write_cautions(runs, &mut page),
        }
        self.figures(&mut page)?;
        if self.runs.len() > 1 {
            runs_table::html(&self.runs, &mut page);
        }
        let are_many = self.runs.len() > MOST_UNFOLDED;
        if are_many && medium == Medium::Paper {
            page.push_str(
                "<p>What is about a single run is in its own report: <code>retold report RUN -o FILE.pdf</code></p>\n",
            );
        } else {
            for (at, part) in self.runs.iter().enumerate() {
                self.of_run(part, at, are_many, &mut page)?;
            }
        }
        if let Some(texts) = &self.texts {
            texts.html(&mut page)?;
        }
        if let [one] = self.runs.as_slice() {
            page.push_str("<h2>How it was recorded</h2>\n");
            about::html(one, &mut page);
        }
        page.push_str("</main>\n</body>\n</html>\n");
        Ok(page)
    }

    /// The subject of the page: `budgeting (deliberation), run 7a7a7a7a`, `"pilot", 16 runs`.
    pub fn title(&self) -> String {
        let runs = match self.runs.as_slice() {
            [one] => format!("run {}", one.summary.run.short(8)),
            runs => count_of(runs.len() as u64, "run"),
        };
        let Some(RunPart { summary, .. }) = self.runs.first() else { return runs };
        let started = &summary.started;
        let name = |part: &RunPart| part.summary.started.name().map(str::to_owned);
        // A name is what all runs have in common.
        let named = self.runs.first().and_then(name);
        let named =
            named.filter(|first| self.runs.iter().all(|part| name(part).as_ref() == Some(first)));
        let what = match (started.experiment.as_str(), named, self.runs.len()) {
            (PROGRAM, Some(name), _) => format!("\"{}\"", printable(&name, 100)),
            (PROGRAM, None, 1) => "a program".to_owned(),
            (PROGRAM, None, _) => "programs".to_owned(),
            (experiment, Some(name), _) => {
                format!("{} ({})", printable(&name, 100), printable(experiment, 100))
            }
            (experiment, None, _) => printable(experiment, 100),
        };
        format!("{what}, {runs}")
    }

    /// When the runs were recorded.
    fn date_line(&self) -> String {
        let began = self.runs.iter().map(|part| part.summary.began).min().unwrap_or_default();
        format!("recorded {}", between(began, self.end()))
    }

    /// When the last event of all runs was recorded.
    pub fn end(&self) -> Time {
        self.runs.iter().map(|part| part.summary.ended).max().unwrap_or_default()
    }

    /// The runs as they are typed.
    pub(crate) fn names(&self) -> String {
        let names: Vec<String> = self.runs.iter().map(|part| part.summary.run.short(8)).collect();
        names.join(" ")
    }

    fn figures(&self, page: &mut String) -> Result<(), DrawError> {
        // Writing to a string cannot fail.
        if self.tables.is_empty() {
            page.push_str("<p>No figures are suggested: a run needs decisions that are numbers or a few names.</p>\n");
        }
        for difference in &self.deciders {
            let _ = writeln!(page, "<p class=banner>{}.</p>", escape(&difference.text(), 1_000));
        }
        let searches = self.searches.iter().map(Some).chain(std::iter::repeat(None));
        for ((table, search), number) in self.tables.iter().zip(searches).zip(1..) {
            figure_table::html(table, search, number, &self.names(), page)?;
        }
        if !self.searches.is_empty() {
            let _ = writeln!(page, "<p>{}.</p>", escape(BEYOND_THE_LOG, 400));
        }
        self.runs.iter().for_each(|part| decisions::write_counts(&part.summary, page));
        Ok(())
    }

    /// The part about one run. On a page of many runs, it is folded, and its plots are left out.
    fn of_run(
        &self,
        part: &RunPart,
        at: usize,
        is_folded: bool,
        page: &mut String,
    ) -> Result<(), DrawError> {
        let name = part.summary.run.short(8);
        let of = if self.runs.len() > 1 { format!(", run {name}") } else { String::new() };
        if is_folded {
            let _ = writeln!(page, "<details><summary>Run {name}</summary>");
        }
        if self.runs.len() > 1 {
            about::write_cautions(part, page);
        }
        if is_folded && !part.charts.is_empty() {
            let _ = writeln!(
                page,
                "<p>The plots of this run are in its own report: <code>retold report {name} -o FILE.html</code></p>"
            );
        } else if !part.charts.is_empty() {
            let _ = writeln!(page, "<h2>Plots{of}</h2>");
            for chart in &part.charts {
                plotted::html(chart, &format!("{}_{}", chart.name, at + 1), &name, page)?;
            }
        }
        if let Some(found) = &part.agreement {
            agreement_picture::html(found, page)?;
        }
        let _ = writeln!(page, "<h2>How decisions were found{of}</h2>");
        decisions::by_method(&part.summary, page);
        let _ = writeln!(page, "<h2>Draws, shared answers, independence{of}</h2>");
        decisions::independence(&part.summary, page);
        let _ = writeln!(page, "<h2>Calls, tokens, latency{of}</h2>");
        calls::html(&part.summary, page);
        if !part.text.is_empty() {
            let text = escape_lines(&part.text);
            let _ = writeln!(
                page,
                "<details><summary>The study's own report{of}</summary>\n<pre tabindex=0>{text}</pre></details>"
            );
        }
        if self.runs.len() > 1 {
            let _ = writeln!(page, "<h2>How it was recorded{of}</h2>");
            about::html(part, page);
        }
        if is_folded {
            page.push_str("</details>\n");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_time_names_each_day_once() {
        let at = |ms: i64| Time(1_772_712_001_000 + ms);
        assert_eq!(between(at(0), at(999)), "2026-03-05 12:00:01 UTC");
        assert_eq!(between(at(0), at(61_000)), "2026-03-05 12:00:01 to 12:01:02 UTC");
        let next = between(at(0), at(86_400_000));
        assert_eq!(next, "2026-03-05 12:00:01 to 2026-03-06 12:00:01 UTC");
    }
}
