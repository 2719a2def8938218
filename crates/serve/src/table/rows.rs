//! Which questions each row of a table is made from.

use std::collections::BTreeMap;

use retold_figures::natural_order;

use super::TableSource;
use crate::texts::NONE;

/// The questions of each row, one row after the other.
pub(super) struct RowMembers {
    questions: Vec<u32>,
    /// For rows by a label: its value, and where the row ends; `None` if each question is a row.
    groups: Option<Vec<(u32, usize)>>,
}

/// The questions of a row.
#[derive(Clone, Copy)]
pub(super) struct RowQuestions<'a> {
    /// The value of the label that the row is about.
    pub(super) value: Option<u32>,
    pub(super) questions: &'a [u32],
}

impl RowMembers {
    /// Rows of questions: each by itself, or all with the same value of a label. Questions without the label are in no
    /// row.
    pub(super) fn new(source: &TableSource<'_>, by: Option<u32>, questions: Vec<u32>) -> Self {
        let Some(by) = by else { return RowMembers { questions, groups: None } };
        let mut by_value: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for at in questions {
            if let Some(value) = source.roll.questions.label(by, at) {
                by_value.entry(value).or_default().push(at);
            }
        }
        let mut values: Vec<u32> = by_value.keys().copied().collect();
        values
            .sort_by(|one, other| natural_order(source.roll.text(*one), source.roll.text(*other)));
        let (mut questions, mut groups) = (Vec::new(), Vec::new());
        for value in values {
            questions.append(by_value.get_mut(&value).unwrap_or(&mut Vec::new()));
            groups.push((value, questions.len()));
        }
        RowMembers { questions, groups: Some(groups) }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.groups.as_ref().map_or(self.questions.len(), Vec::len)
    }

    /// How many questions are in a row.
    pub(super) fn questions(&self) -> usize {
        self.questions.len()
    }

    /// A row.
    pub(super) fn row(&self, at: usize) -> RowQuestions<'_> {
        let Some(groups) = &self.groups else {
            let questions = self.questions.get(at..=at).unwrap_or(&[]);
            return RowQuestions { value: None, questions };
        };
        let begin =
            at.checked_sub(1).and_then(|before| groups.get(before)).map_or(0, |(_, end)| *end);
        let (value, end) = groups.get(at).copied().unwrap_or((NONE, begin));
        let questions = self.questions.get(begin..end).unwrap_or(&[]);
        RowQuestions { value: Some(value), questions }
    }

    /// Whether each row is one question.
    pub(super) fn are_calls(&self) -> bool {
        self.groups.is_none()
    }
}
