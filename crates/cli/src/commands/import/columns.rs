//! `retold import FILE --answer COLUMN`: a table of another program, whose columns are named on the command line.

mod path;
mod rows;

use std::io::Cursor;
use std::path::Path;

use retold::exchange::{Exchanges, GOLD, read_exchanges};
use retold::jsonl::JsonlReader;
use retold::run::clock;
use serde_json::{Map, Value, json};

use self::path::{ColumnError, ColumnPath};
use self::rows::{Row, read_rows};
use crate::error::{CliError, NOTHING_IMPORTED};
use retold::escaping::printable;

/// Where a table has what an exchange needs. `a.b.0` is the first of the list `b` in `a`; `=TEXT` is this text in every row.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Tables of other programs (CSV, JSON Lines, a list in JSON)")]
pub(super) struct ColumnArgs {
    /// The column with the answers: texts, or lists of texts, which are samples of one call.
    #[arg(long, value_name = "COLUMN", requires = "prompt")]
    answer: Option<ColumnPath>,
    /// The column with the prompts: texts, or lists of messages.
    #[arg(long, value_name = "COLUMN", requires = "answer")]
    prompt: Option<ColumnPath>,
    /// The column with the names of models.
    #[arg(long, value_name = "COLUMN", requires = "answer")]
    model: Option<ColumnPath>,
    /// The column with the right answers: the label `gold`.
    #[arg(long, value_name = "COLUMN", requires = "answer")]
    gold: Option<ColumnPath>,
    /// A label of each call, and its column, if that has another name. Can be repeated.
    #[arg(long = "label", value_name = "NAME[=COLUMN]", requires = "answer", value_parser = label)]
    labels: Vec<(String, ColumnPath)>,
    /// The column with the names of calls: rows with the same one and the same prompt are samples of it
    /// [default: a call per row].
    #[arg(long, value_name = "COLUMN", requires = "answer")]
    call: Option<ColumnPath>,
    /// Take only rows with this value. Can be repeated.
    #[arg(long = "where", value_name = "COLUMN=VALUE", requires = "answer", value_parser = condition)]
    conditions: Vec<(ColumnPath, String)>,
    /// Make one row of all rows with the same value in this column, such as an answer and its grade; rows without it are left
    /// out.
    #[arg(long, value_name = "COLUMN", requires = "answer")]
    join: Option<ColumnPath>,
    /// The place of the list of rows in a JSON file.
    #[arg(long, value_name = "PLACE", requires = "answer")]
    rows: Option<ColumnPath>,
}

fn label(text: &str) -> Result<(String, ColumnPath), ColumnError> {
    let (name, column) = text.split_once('=').unwrap_or((text, text));
    match name.is_empty() {
        true => Err(ColumnError::Label),
        false => Ok((name.to_owned(), column.parse()?)),
    }
}

fn condition(text: &str) -> Result<(ColumnPath, String), ColumnError> {
    let (column, value) = text.split_once('=').ok_or(ColumnError::Condition)?;
    Ok((column.parse()?, value.to_owned()))
}

/// A table that was read.
pub(super) struct ReadTable {
    pub(super) exchanges: Exchanges,
    /// How many rows have no answer.
    pub(super) without_answer: u64,
}

impl ColumnArgs {
    /// True if the file is a table whose columns are named.
    pub(super) fn is_given(&self) -> bool {
        self.answer.is_some()
    }

    /// Reads a table.
    ///
    /// # Errors
    /// [`CliError`] if the file cannot be read, a column is in none of its rows, or a row cannot be an exchange.
    pub(super) fn read(&self, file: &Path) -> Result<ReadTable, CliError> {
        let (Some(answer), Some(prompt)) = (&self.answer, &self.prompt) else {
            return Err(CliError::usage("--answer and --prompt name the columns of a table"));
        };
        let name = file.display().to_string();
        let mut rows = read_rows(file, self.rows.as_ref())?;
        if let Some(join) = &self.join {
            rows = rows::joined(rows, join);
        }
        rows.retain(|row| {
            let has =
                |(column, value): &(ColumnPath, String)| column.text(row).as_deref() == Some(value);
            self.conditions.iter().all(has)
        });
        self.all_are_there(&name, &rows)?;
        let (mut lines, mut without_answer) = (String::new(), 0);
        for (number, row) in rows.iter().enumerate() {
            let answers = match answer.value(row) {
                Some(Value::Array(answers)) => answers.clone(),
                Some(one) => vec![one.clone()],
                None => Vec::new(),
            };
            let answers: Vec<String> = answers.iter().filter_map(path::text_of).collect();
            without_answer += u64::from(answers.is_empty());
            for answer in answers {
                let line = self.exchange(&name, number, row, prompt, &answer)?;
                lines.push_str(&line.to_string());
                lines.push('\n');
            }
        }
        let lines = JsonlReader::from_reader(name, Cursor::new(lines));
        Ok(ReadTable { exchanges: read_exchanges(lines, clock::now())?, without_answer })
    }

    /// A row as a line of an exchanges file.
    fn exchange(
        &self,
        name: &str,
        number: usize,
        row: &Row,
        prompt: &ColumnPath,
        answer: &str,
    ) -> Result<Value, CliError> {
        let Some(asked) = prompt.value(row).filter(|asked| !asked.is_null()) else {
            let message = format!("{name}: row {} has an answer and no {prompt}", number + 1);
            return Err(CliError::usage(message).hint(NOTHING_IMPORTED));
        };
        let mut request = Map::from_iter([("messages".to_owned(), messages(asked))]);
        let model = self.model.as_ref().and_then(|model| model.text(row));
        request.extend(model.map(|model| ("model".to_owned(), model.into())));
        let mut label = Map::new();
        let gold = self.gold.as_ref().map(|gold| (GOLD, gold));
        let labels = self.labels.iter().map(|(name, column)| (name.as_str(), column));
        for (name, column) in labels.chain(gold) {
            label.extend(column.value(row).map(|value| (name.to_owned(), value.clone())));
        }
        let call = self.call.as_ref().and_then(|call| call.text(row));
        let call = call.unwrap_or_else(|| format!("row/{}", number + 1));
        Ok(json!({"call": call, "request": request, "response": {"content": answer},
            "label": if label.is_empty() { Value::Null } else { label.into() }}))
    }

    /// Refuses a column that is in none of the rows: its name is misspelt.
    fn all_are_there(&self, name: &str, rows: &[Row]) -> Result<(), CliError> {
        let labels = self.labels.iter().map(|(_, column)| column);
        let single = [&self.answer, &self.prompt, &self.model, &self.gold, &self.call];
        let mut columns = single.into_iter().flatten().chain(labels);
        let is_nowhere = |column: &&ColumnPath| rows.iter().all(|row| column.value(row).is_none());
        let Some(first) = rows.first() else {
            let message = format!("{name} has no rows to import");
            return Err(CliError::usage(message).hint(NOTHING_IMPORTED));
        };
        let Some(column) = columns.find(is_nowhere) else { return Ok(()) };
        let message = format!("{name}: none of the rows to import has a column {column}");
        let places: Vec<String> =
            path::places(first).iter().take(40).map(|place| printable(place, 60)).collect();
        Err(CliError::usage(message)
            .hint(format!("the first row has {}", places.join(", ")))
            .hint(NOTHING_IMPORTED))
    }
}

/// The messages of a prompt: a list of messages, also if it is a text of JSON, or one message of a user.
fn messages(prompt: &Value) -> Value {
    let is_message = |of: &Value| of["role"].is_string();
    let is_list = |value: &Value| {
        value.as_array().is_some_and(|list| !list.is_empty() && list.iter().all(is_message))
    };
    if is_list(prompt) {
        return prompt.clone();
    }
    let text = path::text_of(prompt).unwrap_or_default();
    match serde_json::from_str::<Value>(&text) {
        Ok(read) if is_list(&read) => read,
        _ => json!([{"role": "user", "content": text}]),
    }
}
