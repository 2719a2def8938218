//! The values of figures as a table, by which a reader compares.

use retold_figures::{
    ClusteredDraws, ComparedGroups, FigureGroup, FigureKind, FigureTable, GroupValue,
};
use retold_plan::FigureSearch;
use serde::{Deserialize, Serialize};

/// How far numbers may be apart: elementary functions differ in their last digits from machine to machine.
const TOLERANCE: f64 = 1e-9;

/// A group of a figure, or the difference between two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectedRow {
    /// Its number, from 1.
    pub row: u64,
    /// The figure, as it is written down.
    pub figure: String,
    /// `group` or `difference`.
    pub part: String,
    /// The labels of the group with their values, or both groups of a difference.
    pub group: String,
    /// `share` or `mean`.
    pub value: String,
    /// `answer` or `cluster`: what counts the same.
    pub per: String,
    /// The rows that a difference is between: the second minus the first.
    pub first: Option<u64>,
    /// The second of them.
    pub second: Option<u64>,
    /// Values that count.
    pub n: Option<u64>,
    /// Their clusters.
    pub clusters: Option<u64>,
    /// Values that are missing.
    pub missing: Option<u64>,
    /// Values that are a parser's last resort.
    pub fallback: Option<u64>,
    /// The share, the mean or the difference.
    pub estimate: Option<f64>,
    /// The lower end of its 95 % interval.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
    /// How the interval was computed.
    pub method: String,
    /// How often chance alone makes such a difference.
    pub p: Option<f64>,
    /// The same of all tests of the figure together, by Holm's correction.
    pub p_holm: Option<f64>,
    /// How the figure stands to a plan.
    pub plan: String,
}

/// The rows of figures.
pub fn expected_rows(tables: &[FigureTable], searches: &[FigureSearch]) -> Vec<ExpectedRow> {
    let mut rows = Vec::new();
    let searches = searches.iter().map(Some).chain(std::iter::repeat(None));
    for (table, search) in tables.iter().zip(searches) {
        let first = rows.len() as u64 + 1;
        let plan = search.map(|search| search.standing.text()).unwrap_or_default();
        let row = ExpectedRow {
            row: 0,
            figure: table.figure.clone(),
            part: "group".to_owned(),
            group: String::new(),
            value: value_name(table.kind).to_owned(),
            per: per(table),
            first: None,
            second: None,
            n: None,
            clusters: None,
            missing: None,
            fallback: None,
            estimate: None,
            low: None,
            high: None,
            method: String::new(),
            p: None,
            p_holm: None,
            plan,
        };
        let of_groups = table.groups.iter().map(|group| group_row(table, group, row.clone()));
        rows.extend(of_groups);
        let place = |group: &[GroupValue]| {
            let at = table.groups.iter().position(|of| of.group == group);
            at.map(|at| first + at as u64)
        };
        for ComparedGroups { one, other, found } in &table.differences {
            let test = found.test.as_ref();
            rows.push(ExpectedRow {
                part: "difference".to_owned(),
                group: format!("{} minus {}", group_name(table, other), group_name(table, one)),
                first: place(one),
                second: place(other),
                clusters: Some(found.clusters_in_both),
                estimate: found.difference,
                low: found.interval.map(|it| it.low),
                high: found.interval.map(|it| it.high),
                method: found.interval.map(|it| it.method.as_str()).unwrap_or_default().to_owned(),
                p: test.map(|test| test.p),
                p_holm: test.map(|test| test.p_holm),
                ..row.clone()
            });
        }
    }
    for (row, number) in rows.iter_mut().zip(1..) {
        row.row = number;
    }
    rows
}

fn group_row(table: &FigureTable, group: &FigureGroup, row: ExpectedRow) -> ExpectedRow {
    ExpectedRow {
        group: group_name(table, &group.group),
        n: Some(group.draws),
        clusters: Some(group.clusters),
        missing: Some(group.missing),
        fallback: Some(group.fallback),
        estimate: group.value,
        low: group.interval.map(|it| it.low),
        high: group.interval.map(|it| it.high),
        method: group.interval.map(|it| it.method.as_str()).unwrap_or_default().to_owned(),
        ..row
    }
}

fn value_name(kind: FigureKind) -> &'static str {
    match kind {
        FigureKind::Share | FigureKind::Proportion => "share",
        FigureKind::Mean => "mean",
    }
}

fn per(table: &FigureTable) -> String {
    let per = serde_json::to_value(table.per).unwrap_or_default();
    per.as_str().unwrap_or_default().to_owned()
}

/// The labels of a group with their values; `all` without labels. What comes from the log is inert.
fn group_name(table: &FigureTable, group: &[GroupValue]) -> String {
    let label = |label: &String| retold::escaping::printable(label, 60);
    let parts =
        table.labels.iter().zip(group).map(|(of, value)| format!("{} = {value}", label(of)));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "all".to_owned() } else { parts.join(", ") }
}

/// The rows as CSV.
pub fn rows_csv(rows: &[ExpectedRow]) -> Result<Vec<u8>, csv::Error> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    rows.iter().try_for_each(|row| csv.serialize(row))?;
    csv.into_inner().map_err(|error| error.into_error().into())
}

/// Reads rows.
///
/// # Errors
/// It is not such a table.
pub fn read_rows(csv: &[u8]) -> Result<Vec<ExpectedRow>, csv::Error> {
    csv::Reader::from_reader(csv).deserialize().collect()
}

/// The draws of each group, cluster by cluster, as CSV. `draws` has a list for each figure, in the order of its groups.
pub fn clusters_csv(
    tables: &[FigureTable],
    draws: &[Vec<(Vec<GroupValue>, ClusteredDraws)>],
) -> Result<Vec<u8>, csv::Error> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(["row", "cluster", "n", "sum"])?;
    let mut row = 0;
    for (table, draws) in tables.iter().zip(draws) {
        for (at, group) in table.groups.iter().enumerate() {
            let found = draws.iter().find(|(of, _)| *of == group.group);
            for (cluster, count, sum) in found.iter().flat_map(|(_, draws)| draws.sums()) {
                let number = (row + at as u64 + 1).to_string();
                csv.write_record([&number, cluster, &count.to_string(), &format!("{sum:?}")])?;
            }
        }
        row += (table.groups.len() + table.differences.len()) as u64;
    }
    csv.into_inner().map_err(|error| error.into_error().into())
}

/// An expected row, and what is found in its place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowComparison {
    /// The row; of one that is not expected, the one that was found.
    pub expected: ExpectedRow,
    /// The columns in which another value is found, with both values.
    pub different: Vec<ColumnDifference>,
}

/// A column in which two rows differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnDifference {
    /// The column.
    pub column: &'static str,
    /// As the deposit has it.
    pub expected: String,
    /// As it was computed.
    pub found: String,
}

/// Compares rows that were computed with those of a deposit, but for how figures stand to plans: that depends on what else is
/// in a log.
pub fn compare(expected: &[ExpectedRow], found: &[ExpectedRow]) -> Vec<RowComparison> {
    let most = expected.len().max(found.len());
    let each = (0..most).filter_map(|at| match (expected.get(at), found.get(at)) {
        (Some(one), Some(other)) => {
            Some(RowComparison { expected: one.clone(), different: differences(one, other) })
        }
        (Some(one), None) => Some(lone(one, "there", "missing")),
        (None, Some(other)) => Some(lone(other, "missing", "there")),
        (None, None) => None,
    });
    each.collect()
}

fn lone(row: &ExpectedRow, expected: &str, found: &str) -> RowComparison {
    let different =
        ColumnDifference { column: "row", expected: expected.to_owned(), found: found.to_owned() };
    RowComparison { expected: row.clone(), different: vec![different] }
}

fn differences(one: &ExpectedRow, other: &ExpectedRow) -> Vec<ColumnDifference> {
    let mut different = Vec::new();
    let mut note = |column, is_same: bool, expected: String, found: String| {
        if !is_same {
            different.push(ColumnDifference { column, expected, found });
        }
    };
    for (column, of) in TEXTS {
        note(column, of(one) == of(other), of(one).to_owned(), of(other).to_owned());
    }
    for (column, of) in COUNTS {
        note(column, of(one) == of(other), shown(of(one)), shown(of(other)));
    }
    for (column, of) in NUMBERS {
        note(column, is_near(of(one), of(other)), shown(of(one)), shown(of(other)));
    }
    different
}

type TextOf = (&'static str, fn(&ExpectedRow) -> &str);

type Of<T> = (&'static str, fn(&ExpectedRow) -> T);

const TEXTS: [TextOf; 6] = [
    ("figure", |row| &row.figure),
    ("part", |row| &row.part),
    ("group", |row| &row.group),
    ("value", |row| &row.value),
    ("per", |row| &row.per),
    ("method", |row| &row.method),
];

const COUNTS: [Of<Option<u64>>; 6] = [
    ("first", |row| row.first),
    ("second", |row| row.second),
    ("n", |row| row.n),
    ("clusters", |row| row.clusters),
    ("missing", |row| row.missing),
    ("fallback", |row| row.fallback),
];

const NUMBERS: [Of<Option<f64>>; 5] = [
    ("estimate", |row| row.estimate),
    ("low", |row| row.low),
    ("high", |row| row.high),
    ("p", |row| row.p),
    ("p_holm", |row| row.p_holm),
];

fn shown<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "none".to_owned(), |value| value.to_string())
}

fn is_near(one: Option<f64>, other: Option<f64>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => {
            (one - other).abs() <= TOLERANCE * one.abs().max(other.abs()).max(1.0)
        }
        (one, other) => one == other,
    }
}
