//! The columns of a table.

use std::collections::BTreeSet;

use serde::Serialize;

use super::TableSource;
use super::rows::{RowMembers, RowQuestions};
use crate::decision_columns::DecisionKey;
use crate::texts::NONE;

/// The most columns of labels, and of decisions.
const MOST: usize = 8;

/// Of how many rows it is looked at whether the values of a label are the same within each.
const LOOKED_AT: usize = 50;

/// The property of a row that a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnOf {
    /// The call and the sample, or the value of the label that rows are about.
    Name,
    Label(u32),
    Model,
    Status,
    /// The decision about a call, of any name.
    Decision,
    /// The decision of a name about a call.
    Decided(u32),
    Method,
    /// The first and the last decision with this key.
    FirstAndLast(DecisionKey),
    Calls,
    Failed,
    TokensIn,
    TokensOut,
    Cost,
    Latency,
}

/// A column.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TableColumn {
    /// Its name in `sort`.
    pub(crate) key: String,
    /// Its heading, for people.
    pub(crate) heading: String,
    /// Whether it has numbers.
    pub(crate) is_number: bool,
    #[serde(skip)]
    pub(super) of: ColumnOf,
}

/// The columns of a table.
pub(super) fn columns(
    source: &TableSource<'_>,
    by: Option<u32>,
    members: &RowMembers,
) -> Vec<TableColumn> {
    let mut columns = Vec::new();
    let mut add = |of, key: &str, heading: &str| {
        let (key, heading) = (key.to_owned(), heading.to_owned());
        let is_number = matches!(
            of,
            ColumnOf::Calls
                | ColumnOf::Failed
                | ColumnOf::TokensIn
                | ColumnOf::TokensOut
                | ColumnOf::Cost
                | ColumnOf::Latency
        );
        columns.push(TableColumn { key, heading, is_number, of });
    };
    add(ColumnOf::Name, "name", by.map_or("call", |by| source.roll.text(by)));
    for label in labels(source, by, members).into_iter().take(MOST) {
        let name = source.roll.text(label);
        add(ColumnOf::Label(label), &format!("label:{name}"), name);
    }
    if members.are_calls() {
        add(ColumnOf::Model, "model", "model");
        add(ColumnOf::Status, "status", "status");
        let names = source.decisions.names();
        if source.decisions.has_several {
            for name in names.into_iter().take(MOST) {
                let text = source.decisions.text(name);
                add(ColumnOf::Decided(name), &format!("decision:{text}"), text);
            }
        } else if !names.is_empty() {
            let heading = match names.as_slice() {
                [only] => source.decisions.text(*only),
                _ => "decision",
            };
            add(ColumnOf::Decision, "decision", heading);
            add(ColumnOf::Method, "method", "method");
        }
    } else {
        for (key, heading) in keys(source).into_iter().take(MOST) {
            add(ColumnOf::FirstAndLast(key), &format!("decision:{heading}"), &heading);
        }
        add(ColumnOf::Calls, "calls", "calls");
        add(ColumnOf::Failed, "failed", "failed");
    }
    add(ColumnOf::TokensIn, "in", "tokens in");
    add(ColumnOf::TokensOut, "out", "tokens out");
    add(ColumnOf::Cost, "cost", "cost");
    if members.are_calls() {
        add(ColumnOf::Latency, "latency", "latency");
    }
    columns
}

/// The labels that have a column: of calls, all; of other rows, those that have one value within each row.
fn labels(source: &TableSource<'_>, by: Option<u32>, members: &RowMembers) -> Vec<u32> {
    let questions = &source.roll.questions;
    let is_one = |name: u32| {
        (0..members.len().min(LOOKED_AT)).all(|at| {
            let RowQuestions { questions: of, .. } = members.row(at);
            let values = of.iter().filter_map(|at| questions.label(name, *at));
            values.collect::<BTreeSet<u32>>().len() <= 1
        })
    };
    questions
        .label_names()
        .filter(|name| by.is_none_or(|by| by != *name && is_one(*name)))
        .collect()
}

/// The keys of decisions that can be compared at a glance, each with its heading: the name, or like `before.vote` if it is
/// decided at several places. A name that is decided at more places than there is room for is one column for all of them.
fn keys(source: &TableSource<'_>) -> Vec<(DecisionKey, String)> {
    let all = source.decisions.keys();
    let comparable = all.iter().filter(|(_, name)| source.decisions.is_comparable(*name));
    let mut keys: Vec<(DecisionKey, String)> = Vec::new();
    for &(place, name) in comparable {
        let text = source.decisions.text(name);
        match all.iter().filter(|(_, other)| *other == name).count() {
            1 => keys.push(((place, name), text.to_owned())),
            2..=MOST => keys.push(((place, name), format!("{}.{text}", source.roll.text(place)))),
            _ if keys.iter().any(|(key, _)| *key == (NONE, name)) => {}
            _ => keys.push(((NONE, name), text.to_owned())),
        }
    }
    keys
}
