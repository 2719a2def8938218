//! What else there is to a figure, as people read it.

use retold::counted::{count_of, group_digits};
use retold::escaping::printable;

use crate::search::FigureSearch;
use crate::spread::SpreadRow;
use crate::tries::{StudyRun, StudyRuns};

/// What no log can show. It is said once, below the figures.
pub const BEYOND_THE_LOG: &str = "a log has runs, not looks at them, and no calls that were made past it: there may have been more tries than it counts, and no p is adjusted for them";

/// How much of a line is shown.
const SHOWN: usize = 300;

/// A line with others below it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct SearchLine {
    /// The line.
    pub text: String,
    /// Those below it.
    pub details: Vec<String>,
}

impl FigureSearch {
    /// It in lines: how it stands to a plan, what was expected, the other runs, and other decisions.
    pub fn lines(&self) -> Vec<SearchLine> {
        let FigureSearch { standing, deviations, expected, as_expected, others, spread, .. } = self;
        let line = |text: String, details: Vec<String>| SearchLine { text, details };
        let deviations = deviations.iter().map(|it| printable(&it.to_string(), SHOWN)).collect();
        let expected = expected.filter(|_| !as_expected.is_empty()).map(|direction| {
            line(format!("expected: {}", direction.as_str()), as_expected.clone())
        });
        let spread = (!spread.is_empty()).then(|| line(spread_text(spread), spread_rows(spread)));
        [Some(line(standing.text(), deviations)), expected]
            .into_iter()
            .flatten()
            .chain([line(
                runs_text(&self.study, self.runs),
                others.iter().map(|of| self.run_text(of)).collect(),
            )])
            .chain(spread)
            .collect()
    }

    fn run_text(&self, of: &StudyRun) -> String {
        let day: String = of.began.to_string().chars().take(10).collect();
        let values = of.values.as_deref().unwrap_or("not computed");
        let this = Some("this run").filter(|_| of.run == self.run);
        let kind = Some(of.kind.as_str()).filter(|kind| !kind.is_empty());
        let differs = of.differs.iter().map(String::as_str);
        let about: Vec<&str> = this.into_iter().chain(differs).chain(kind).collect();
        let about =
            if about.is_empty() { String::new() } else { format!(" ({})", about.join("; ")) };
        printable(&format!("{} {day}: {values}{about}", of.run.short(8)), SHOWN)
    }
}

fn runs_text(study: &str, runs: StudyRuns) -> String {
    let StudyRuns { real, simulated, forks, shards, unreadable } = runs;
    let counted = match real {
        0 => format!("no real run of {} is in this log", printable(study, 60)),
        1 => format!("at least 1 real run of {} is in this log", printable(study, 60)),
        real => format!(
            "at least {} real runs of {} are in this log",
            group_digits(real),
            printable(study, 60)
        ),
    };
    let apart = [(simulated, "simulated run"), (forks, "fork"), (shards, "shard")];
    let apart = apart.into_iter().filter(|(count, _)| *count > 0);
    let apart: Vec<String> = apart.map(|(count, what)| count_of(count, what)).collect();
    let apart = if apart.is_empty() {
        String::new()
    } else {
        format!("; not counted: {}", apart.join(", "))
    };
    let unreadable = match unreadable {
        0 => String::new(),
        damaged => format!("; {} cannot be read", count_of(damaged, "run")),
    };
    format!("{counted}{apart}{unreadable}")
}

fn spread_text(rows: &[SpreadRow]) -> String {
    format!("with each of {} sets of decisions about the same answers", rows.len())
}

fn spread_rows(rows: &[SpreadRow]) -> Vec<String> {
    rows.iter()
        .map(|SpreadRow { by, values, .. }| printable(&format!("{values}: {by}"), SHOWN))
        .collect()
}
