//! Labels as columns.

use std::collections::BTreeSet;

use retold::decided::DecidedQuestion;
use retold::event::Event;
use retold::id::RunId;
use retold::log::{LogError, Reader, RunEvents};

use crate::column::{Cell, Column, ColumnKind};
use crate::table::Table;

/// The labels of the calls of some runs, by name: each is a column, in every table about questions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelColumns(BTreeSet<String>);

impl LabelColumns {
    /// Adds the labels of a run.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read.
    pub fn add(&mut self, reader: &mut dyn Reader, run: RunId) -> Result<(), LogError> {
        let mut events = RunEvents::new(run);
        while let Some(stored) = events.next(reader)? {
            // Most events are no questions, and most questions have the labels of those before them.
            if !stored.is_question() || stored.body == "{}" {
                continue;
            }
            if let Event::RequestSent(sent) = stored.event()? {
                let new = sent.labels.into_keys().filter(|name| !self.0.contains(name));
                self.0.extend(new.collect::<Vec<_>>());
            }
        }
        Ok(())
    }

    /// The labels of these runs and of others.
    #[must_use]
    pub fn with(mut self, others: LabelColumns) -> Self {
        self.0.extend(others.0);
        self
    }

    /// A column for each. A label with the name of another column has `label_` before it, as often as is needed: names
    /// that differ in their case alone are the same for DuckDB and Spark.
    pub(crate) fn columns(&self) -> Vec<Column> {
        self.columns_beside(Table::has)
    }

    /// The same beside columns of other names.
    pub(crate) fn columns_beside(&self, has: impl Fn(&str) -> bool) -> Vec<Column> {
        let is_free = |label: &&String| !has(label);
        let mut taken: BTreeSet<String> =
            self.0.iter().filter(is_free).map(|label| label.to_lowercase()).collect();
        let mut kept: BTreeSet<String> = BTreeSet::new();
        let column = |label: &String| {
            let mut name = label.clone();
            if has(&name) || !kept.insert(name.to_lowercase()) {
                while has(&name) || taken.contains(&name.to_lowercase()) {
                    name.insert_str(0, "label_");
                }
                taken.insert(name.to_lowercase());
            }
            Column { name: name.into(), kind: ColumnKind::Text, about: "a label of the call" }
        };
        self.0.iter().map(column).collect()
    }

    /// The labels, in the order of their columns.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The labels of a question.
    pub(crate) fn cells<'a>(&'a self, of: &'a DecidedQuestion) -> impl Iterator<Item = Cell<'a>> {
        self.0.iter().map(|name| Cell::maybe(of.labels.get(name).map(String::as_str)))
    }
}
