//! The cells of a table.

use std::borrow::Cow;

use retold::counted::group_digits;
use retold::escaping::printable;
use retold::id::Seq;
use serde::Serialize;

use super::TableSource;
use super::columns::{ColumnOf, TableColumn};
use super::rows::RowQuestions;
use crate::decision_columns::{DecisionEntry, DecisionKey};
use crate::question_columns::{QuestionRow, QuestionStatus};
use crate::render::{dollars, seconds};
use crate::texts::NONE;

/// The longest text of a cell, in characters.
const LONGEST: usize = 160;

/// A cell: a text, or a number with how people read it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct TableCell {
    /// As it is shown.
    pub(crate) text: String,
    /// The number, if it is one.
    pub(crate) number: Option<f64>,
}

impl TableCell {
    /// As a file for other programs has it.
    pub(crate) fn plain(&self) -> String {
        self.number.map_or_else(|| self.text.clone(), |number| number.to_string())
    }
}

/// What rows are sorted by.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ColumnValue<'a> {
    Missing,
    Number(f64),
    Text(Cow<'a, str>),
}

impl<'a> ColumnValue<'a> {
    fn text(text: &'a str) -> Self {
        if text.is_empty() { ColumnValue::Missing } else { ColumnValue::Text(Cow::Borrowed(text)) }
    }

    /// A decision's value: a number if it can be read as one.
    fn from_decision(text: &'a str) -> Self {
        text.parse().map_or_else(|_| ColumnValue::text(text), ColumnValue::Number)
    }

    fn count(count: Option<u64>) -> Self {
        count.map_or(ColumnValue::Missing, |count| ColumnValue::Number(count as f64))
    }
}

impl TableColumn {
    /// The value that a row is sorted by.
    pub(super) fn value<'a>(
        &self,
        source: &TableSource<'a>,
        row: RowQuestions<'_>,
    ) -> ColumnValue<'a> {
        let questions = || row.questions.iter().filter_map(|at| source.question(*at));
        let Some((at, first)) = row.questions.first().zip(questions().next()) else {
            return ColumnValue::Missing;
        };
        let sum = |of: fn(&QuestionRow) -> Option<u64>| {
            let known = questions().filter_map(of);
            ColumnValue::count(known.fold(None, |sum, more| Some(sum.unwrap_or(0) + more)))
        };
        match self.of {
            ColumnOf::Name => match row.value {
                Some(value) => ColumnValue::text(source.roll.text(value)),
                None => ColumnValue::text(source.roll.text(first.call)),
            },
            ColumnOf::Label(name) => {
                let mut values =
                    row.questions.iter().filter_map(|at| source.roll.questions.label(name, *at));
                values
                    .next()
                    .map_or(ColumnValue::Missing, |v| ColumnValue::text(source.roll.text(v)))
            }
            ColumnOf::Model => {
                let asked = source.roll.text(first.model);
                ColumnValue::text(if asked.is_empty() {
                    source.roll.text(first.reported)
                } else {
                    asked
                })
            }
            ColumnOf::Status => ColumnValue::text(first.status.name()),
            ColumnOf::Decision | ColumnOf::Decided(_) => self
                .entry(source, *at)
                .and_then(|entry| source.decisions.value(entry))
                .map_or(ColumnValue::Missing, ColumnValue::from_decision),
            ColumnOf::Method => {
                let method =
                    self.entry(source, *at).and_then(|entry| source.decisions.method(entry));
                method.map_or(ColumnValue::Missing, ColumnValue::text)
            }
            ColumnOf::FirstAndLast(key) => first_and_last(source, row, key)
                .map_or(ColumnValue::Missing, |(_, last, _)| ColumnValue::from_decision(last)),
            ColumnOf::Calls => ColumnValue::Number(row.questions.len() as f64),
            ColumnOf::Failed => {
                let failed = questions().filter(|row| row.status == QuestionStatus::Failed);
                ColumnValue::Number(failed.count() as f64)
            }
            ColumnOf::TokensIn => sum(|row| row.usage().prompt_tokens),
            ColumnOf::TokensOut => sum(|row| row.usage().completion_tokens),
            ColumnOf::Cost => cost(source, row).0.map_or(ColumnValue::Missing, ColumnValue::Number),
            ColumnOf::Latency => ColumnValue::count(first.latency_ms().map(u64::from)),
        }
    }

    /// The last decision about a call that the column shows.
    fn entry<'a>(&self, source: &TableSource<'a>, at: u32) -> Option<&'a DecisionEntry> {
        let mut about = source.decisions.about(usize::try_from(at).ok()?);
        match self.of {
            ColumnOf::Decided(name) => about.find(|entry| entry.name == name),
            _ => about.next(),
        }
    }

    /// The cell of a row. `read` reads a value that is not in memory.
    pub(super) fn cell<E>(
        &self,
        source: &TableSource<'_>,
        row: RowQuestions<'_>,
        read: &mut dyn FnMut(Seq) -> Result<String, E>,
    ) -> Result<TableCell, E> {
        let value = self.value(source, row);
        let number = match value {
            ColumnValue::Number(number) => Some(number),
            _ => None,
        };
        let whole = |number: f64| group_digits(number as u64);
        let text = match (self.of, value) {
            (ColumnOf::Name, _) if row.value.is_none() => {
                let first = row.questions.first().and_then(|at| source.question(*at));
                first.map_or_else(String::new, |first| {
                    format!("{}#{}", source.roll.text(first.call), first.sample)
                })
            }
            (ColumnOf::FirstAndLast(key), _) => match first_and_last(source, row, key) {
                Some((first, _, 1)) => first.to_owned(),
                Some((first, last, count)) => {
                    return Ok(TableCell {
                        text: format!("{first} → {last} ({count})"),
                        number: None,
                    });
                }
                None => String::new(),
            },
            (ColumnOf::Decision | ColumnOf::Decided(_), ColumnValue::Missing) => {
                let at = row.questions.first().copied();
                let entry = at.and_then(|at| self.entry(source, at));
                match entry.and_then(|entry| source.decisions.place(entry)) {
                    Some(seq) => read(seq)?,
                    None => String::new(),
                }
            }
            (ColumnOf::Cost, _) => match cost(source, row) {
                (Some(known), true) => dollars(Some(known)),
                (Some(known), false) => format!("at least {}", dollars(Some(known))),
                (None, _) => String::new(),
            },
            (ColumnOf::Latency, ColumnValue::Number(ms)) => seconds(ms as i64),
            (_, ColumnValue::Number(n)) if self.is_number => whole(n),
            (_, ColumnValue::Number(n)) => n.to_string(),
            (_, ColumnValue::Text(text)) => text.into_owned(),
            (_, ColumnValue::Missing) => String::new(),
        };
        Ok(TableCell { text: printable(&text, LONGEST), number })
    }
}

/// The first and the last decision with this key about the calls of a row, and how many there are.
fn first_and_last<'a>(
    source: &TableSource<'a>,
    row: RowQuestions<'_>,
    (asked_for, name): DecisionKey,
) -> Option<(&'a str, &'a str, usize)> {
    let mut found: Option<(&str, &str, usize)> = None;
    for at in row.questions {
        let is_there = |question: &QuestionRow| [question.asked_for, NONE].contains(&asked_for);
        if source.question(*at).is_none_or(|question| !is_there(question)) {
            continue;
        }
        let mut about = source.decisions.about(usize::try_from(*at).ok()?);
        let entry = about.find(|entry| entry.name == name);
        if let Some(value) = entry.and_then(|entry| source.decisions.value(entry)) {
            let (first, _, count) = found.unwrap_or((value, value, 0));
            found = Some((first, value, count + 1));
        }
    }
    found
}

/// The cost of a row's answers, as far as it is known, and true if all of it is known.
fn cost(source: &TableSource<'_>, row: RowQuestions<'_>) -> (Option<f64>, bool) {
    let (mut sum, mut is_whole) = (None, true);
    for question in row.questions.iter().filter_map(|at| source.question(*at)) {
        if question.status != QuestionStatus::Answered || question.is_reused {
            continue;
        }
        match question.cost {
            Some(cost) => sum = Some(sum.unwrap_or(0.0) + cost),
            None => is_whole = false,
        }
    }
    (sum.map(without_noise), is_whole)
}

/// A sum of dollars without the digits that come from adding binary fractions: 0.30000000000000004 is 0.3.
fn without_noise(dollars: f64) -> f64 {
    (dollars * 1e12).round() / 1e12
}
