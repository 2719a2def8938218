//! Checklists of venues, filled from the log as far as it goes.

mod acl;
mod guide_llm;
mod neurips;

use std::fmt::Write;

use crate::facts::{DepositFacts, TextFile};

/// The words for what a log does not have.
pub(crate) const OPEN: &str = "To be added by the authors";

/// An item of a checklist.
pub(crate) struct ChecklistItem {
    id: &'static str,
    question: &'static str,
    /// The answer that follows from the log, line by line.
    from_log: Vec<String>,
    /// The answer that only a person knows.
    open: Option<&'static str>,
}

impl ChecklistItem {
    fn new(id: &'static str, question: &'static str) -> Self {
        ChecklistItem { id, question, from_log: Vec::new(), open: None }
    }

    fn log(mut self, line: impl Into<String>) -> Self {
        self.from_log.push(line.into());
        self
    }

    fn log_all(mut self, lines: Vec<String>) -> Self {
        self.from_log.extend(lines);
        self
    }

    fn open(self, what: &'static str) -> Self {
        ChecklistItem { open: Some(what), ..self }
    }
}

/// The checklists as files.
pub(crate) fn files(facts: &DepositFacts<'_>) -> Vec<TextFile> {
    [
        ("GUIDE-LLM", "the reporting checklist for studies with large language models in the behavioural and social sciences", guide_llm::items(facts)),
        ("ACL", "the responsible NLP research checklist", acl::items(facts)),
        ("NeurIPS", "the paper checklist", neurips::items(facts)),
    ]
    .into_iter()
    .map(|(name, about, items)| {
        TextFile::new(&format!("checklists/{name}.md"), text(name, about, &items))
    })
    .collect()
}

fn text(name: &str, about: &str, items: &[ChecklistItem]) -> String {
    let open = items.iter().filter(|item| item.open.is_some()).count();
    let mut text = format!(
        "# {name}\n\nAnswers to {about}. retold filled in what the log shows. {open} of {} items have a part that only the authors \
         know; it is marked **{OPEN}**. The venue's own wording counts: compare the items with its form.\n",
        items.len()
    );
    for ChecklistItem { id, question, from_log, open } in items {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "\n## {id} {question}\n");
        for line in from_log {
            let _ = writeln!(text, "- {line}");
        }
        if let Some(open) = open {
            let _ = writeln!(text, "- **{OPEN}**: {open}");
        }
    }
    text
}

impl DepositFacts<'_> {
    /// Where the prompts are.
    fn prompts_place(&self) -> String {
        match self.has_texts() {
            true => "Every prompt is in `tables/messages`, in `report.html` and in `recordings`; the templates and the first prompt of each kind of call are in `prompts`.".to_owned(),
            false => "The prompts are not in this deposit; `commitments.csv` has a commitment to each.".to_owned(),
        }
    }

    /// How many calls have what, of all of them.
    fn of_calls(&self, count: u64, what: &str) -> String {
        format!("{count} of {} requests {what}.", self.sum(|of| of.requests))
    }

    /// What was made up.
    fn simulated_line(&self) -> Vec<String> {
        let line = "SIMULATED: a program made these answers up; they are not data.".to_owned();
        self.is_simulated().then_some(line).into_iter().collect()
    }

    /// How intervals and tests were made.
    fn statistics(&self) -> Vec<String> {
        let mut lines = vec![
            "Each figure has its 95 % interval with its method and the number of clusters that it is over; `figures.csv` has all of them. p is the level at which the interval of a difference ends at 0, and `p_holm` is corrected for all tests of the figure.".to_owned(),
            format!("{}.", self.runs()),
        ];
        lines.extend(self.page.tables.iter().map(|table| {
            format!(
                "{}: {}",
                crate::markdown::code(&table.figure),
                crate::markdown::code(&table.values_line())
            )
        }));
        lines.extend(self.page.searches.iter().map(|search| {
            format!(
                "{}: {}",
                crate::markdown::code(&search.figure),
                crate::markdown::code(&search.standing.text())
            )
        }));
        lines
    }

    /// How the deposit is replayed.
    fn replay_line(&self) -> String {
        match self.has_texts() {
            true => "`retold import .` replays the runs from the recorded answers and compares each figure (README.md).".to_owned(),
            false => "`figures.py` and `figures.R` compute each value again from `clusters.csv`; the answers are not in this deposit.".to_owned(),
        }
    }
}
