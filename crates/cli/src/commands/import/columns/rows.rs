//! The rows of a table: of CSV, of JSON Lines, or of a list in a JSON file.

use std::collections::BTreeMap;
use std::path::Path;

use retold::encoding::decode;
use retold::jsonl::{JsonlReader, read_whole};
use serde_json::{Map, Value};

use super::path::{ColumnPath, within};
use crate::error::{CliError, NOTHING_IMPORTED};
use retold::exchange::ImportError;

/// The largest file that is read whole, in bytes.
const LARGEST: u64 = 256 << 20;

/// A row, its columns by name.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row(pub(super) Value);

/// Reads a file whose name ends in `.csv` or `.json`, or JSON Lines. `place` is that of the list in a JSON file.
pub(super) fn read_rows(file: &Path, place: Option<&ColumnPath>) -> Result<Vec<Row>, CliError> {
    let ends_in = |end: &str| file.extension().is_some_and(|it| it.eq_ignore_ascii_case(end));
    if ends_in("csv") {
        return csv(file, &whole(file)?);
    }
    if place.is_some() || ends_in("json") {
        return list(file, &whole(file)?, place);
    }
    let mut rows = Vec::new();
    for line in JsonlReader::open(file).map_err(ImportError::from)? {
        let (number, text) = line.map_err(ImportError::from)?;
        let row = serde_json::from_str(&text);
        rows.push(Row(row.map_err(|error| wrong(file, &format!("line {number}: {error}")))?));
    }
    Ok(rows)
}

fn wrong(file: &Path, why: &str) -> CliError {
    CliError::usage(format!("{}: {why}", file.display())).hint(NOTHING_IMPORTED)
}

fn whole(file: &Path) -> Result<String, CliError> {
    let bytes = read_whole(file, LARGEST).map_err(ImportError::from)?;
    let name = file.display().to_string();
    decode(bytes).map_err(|error| CliError::usage(error.sentence(&name)).hint(NOTHING_IMPORTED))
}

fn csv(file: &Path, text: &str) -> Result<Vec<Row>, CliError> {
    let mut reader = csv::ReaderBuilder::new().from_reader(text.as_bytes());
    let broken = |error: csv::Error| wrong(file, &error.to_string());
    let headers = reader.headers().map_err(broken)?.clone();
    let row = |record: Result<csv::StringRecord, csv::Error>| {
        let record = record.map_err(broken)?;
        let cells = headers.iter().zip(&record);
        let cells = cells.map(|(name, cell)| (name.trim().to_owned(), cell.into()));
        Ok(Row(Value::Object(cells.collect())))
    };
    reader.records().map(row).collect()
}

fn list(file: &Path, text: &str, place: Option<&ColumnPath>) -> Result<Vec<Row>, CliError> {
    let whole: Value =
        serde_json::from_str(text).map_err(|error| wrong(file, &error.to_string()))?;
    let found = match place {
        Some(ColumnPath::Place(place)) => within(&whole, place),
        _ => Some(&whole),
    };
    match found {
        Some(Value::Array(rows)) => Ok(rows.iter().cloned().map(Row).collect()),
        _ => {
            let why = match place {
                Some(place) => format!("--rows {place} does not lead to a list of rows"),
                None => "it is not a list: --rows PLACE says where the list of rows is".to_owned(),
            };
            Err(wrong(file, &why))
        }
    }
}

/// One row for all with the same value in a column, in the order of their first ones. What several have, the first one gives.
pub(super) fn joined(rows: Vec<Row>, by: &ColumnPath) -> Vec<Row> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut all: Vec<Row> = Vec::new();
    for row in rows {
        let Some(key) = by.text(&row) else { continue };
        match places.get(&key).and_then(|at| all.get_mut(*at)) {
            Some(first) => add(&mut first.0, row.0),
            None => {
                places.insert(key, all.len());
                all.push(row);
            }
        }
    }
    all
}

fn add(first: &mut Value, more: Value) {
    let (Value::Object(fields), Value::Object(more)) = (first, more) else { return };
    let more: Map<String, Value> = more;
    for (name, value) in more {
        match fields.get_mut(&name) {
            Some(known) => add(known, value),
            None => drop(fields.insert(name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_with_one_key_are_one_row() {
        let rows = [
            json!({"spec": 1}),
            json!({"id": "b", "type": "sampling", "data": {"sampled": "yes"}}),
            json!({"id": "a", "type": "sampling", "data": {"sampled": "no"}}),
            json!({"id": "b", "type": "match", "data": {"expected": "yes", "sampled": "YES"}}),
        ];
        let all = joined(rows.map(Row).into(), &"id".parse().unwrap());
        let due = [
            json!({"id": "b", "type": "sampling", "data": {"sampled": "yes", "expected": "yes"}}),
            json!({"id": "a", "type": "sampling", "data": {"sampled": "no"}}),
        ];
        assert_eq!(all, due.map(Row));
    }
}
