//! Parsers that are written down in a YAML file instead of Rust.
//!
//! ```yaml
//! parsers:
//!   - name: stance
//!     for: {prompt: agree or disagree}
//!     strategies:
//!       - {tag: stance, one_of: [agree, disagree]}
//!       - {last_line: true, one_of: [agree, disagree]}
//! ```
//!
//! Each parser is a [sequence](StrategyParser) of named strategies, tried in order; the first parser whose
//! conditions fit the call, the model and the prompt of an answer decides about it. The version of
//! all parsers of a file is the beginning of the file's hash, and its settings have the whole hash
//! and its definition, so that a decision can be made again. docs/parsers.md describes the file.

mod attach;
mod candidate;
mod digit_group;
mod doubt;
mod fields;
mod json_path;
mod json_search;
mod latex;
mod letter;
mod negation;
mod number_context;
mod numerals;
mod options;
mod part;
mod pattern;
mod plain_text;
mod scale;
mod searched;
mod shape;
mod strategy;
mod words;

use std::path::Path;

use serde_json::{Value, json};

use self::attach::ParserConditions;
use self::fields::{FileFields, ParserFields};
use crate::config::{ConfigError, ConfigProblem, load, locate, read_text, schema_of};
use retold::decide::{Chooser, NOTHING_FOUND, PARSER_FILE};
use retold::id::CallPath;
use retold::parse::{AnyParser, ParserSpec, StrategyParser};
use retold::patterns::PatternBudget;
use retold::prompt::{Request, hash_of};

/// The most parsers in a file.
const MOST_PARSERS: usize = 1000;

/// The parsers of a file.
pub struct ParserFile {
    name: String,
    parsers: Vec<(ParserConditions, Box<dyn AnyParser>)>,
}

impl ParserFile {
    /// Reads a parser file.
    ///
    /// # Errors
    /// [`ConfigError`] with line and column.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        Self::new(path, &read_text(path)?)
    }

    /// The parsers in a text; `path` is for messages.
    ///
    /// # Errors
    /// [`ConfigError`] with line and column.
    pub fn new(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let file: FileFields = load(path, text)?;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Self::from_fields(&file, &name, &hash_of(text.as_bytes()))
            .map_err(|wrong| locate(wrong.at(path), path, text, &[]))
    }

    fn from_fields(file: &FileFields, name: &str, hash: &[u8; 32]) -> Result<Self, ConfigProblem> {
        let FileFields { parsers } = file;
        if parsers.is_empty() || parsers.len() > MOST_PARSERS {
            let message = format!("a file has from 1 to {MOST_PARSERS} parsers");
            return Err(ConfigProblem::new("parsers", message));
        }
        let of_strategies: usize = parsers.iter().map(|fields| fields.strategies.len()).sum();
        let mut patterns = PatternBudget::new(parsers.len() + of_strategies);
        let mut all: Vec<(ParserConditions, Box<dyn AnyParser>)> = Vec::new();
        for (n, fields) in parsers.iter().enumerate() {
            let key = format!("parsers[{n}]");
            if let Some((first, _)) =
                parsers.iter().take(n).enumerate().find(|(_, other)| other.name == fields.name)
            {
                let message = format!("parsers[{first}] already has the name {:?}", fields.name);
                return Err(ConfigProblem::new(&format!("{key}.name"), message));
            }
            fields.check_name(&key)?;
            let attached =
                ParserConditions::new(&fields.conditions, &mut patterns, &format!("{key}.for"))?;
            let parser = parser_of(fields, (name, hash), &mut patterns, &key)?;
            all.push((attached, Box::new(parser)));
        }
        Ok(ParserFile { name: name.to_owned(), parsers: all })
    }

    /// The name of the file, without its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its parsers.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parsers.iter().map(|(_, parser)| &*parser.spec().name)
    }

    /// The parser that decides about an answer, as far as its call and its request are known.
    pub fn fitting(
        &self,
        call: Option<&CallPath>,
        request: Option<&Request>,
    ) -> Option<&dyn AnyParser> {
        let found = self.parsers.iter().find(|(attached, _)| attached.fits(call, request));
        found.map(|(_, parser)| &**parser)
    }

    /// The parser with a name.
    pub fn get(&self, name: &str) -> Option<&dyn AnyParser> {
        let found = self.parsers.iter().find(|(_, parser)| parser.spec().name == name);
        found.map(|(_, parser)| &**parser)
    }
}

/// A parser of a file with this name and this hash; `key` is where the file has it.
fn parser_of(
    fields: &ParserFields,
    (name, hash): (&str, &[u8; 32]),
    patterns: &mut PatternBudget,
    key: &str,
) -> Result<StrategyParser<(), Value>, ConfigProblem> {
    let strategies = strategy::all(&fields.strategies, patterns, &format!("{key}.strategies"))?;
    let [a, b, c, d, ..] = *hash;
    let file = json!({
        "blake3": retold::id::PromptHash(*hash).to_string(),
        "file": name,
        "parser": fields,
    });
    let spec = ParserSpec {
        name: fields.name.clone().into(),
        version: u32::from_be_bytes([a, b, c, d]),
        params: json!({PARSER_FILE: file}),
    };
    let parser = StrategyParser::own(spec, strategies, (NOTHING_FOUND, fields.default.clone()));
    parser.map_err(|e| ConfigProblem::new(key, e.to_string()))
}

/// A parser that a config writes down as a parser file would: its name and its strategies.
///
/// # Errors
/// The key of the config, `name` or `strategies`, and the problem with it.
pub fn written_parser(
    name: &str,
    strategies: &Value,
) -> Result<StrategyParser<(), Value>, ConfigProblem> {
    let fields = json!({"name": name, "strategies": strategies});
    let hash = hash_of(fields.to_string().as_bytes());
    let fields: ParserFields = serde_json::from_value(fields)
        .map_err(|error| ConfigProblem::new("strategies", error.to_string()))?;
    let mut patterns = PatternBudget::new(fields.strategies.len());
    let parser = fields
        .check_name("")
        .and_then(|()| parser_of(&fields, ("config", &hash), &mut patterns, ""));
    parser.map_err(|ConfigProblem { key, message }| {
        ConfigProblem::new(key.trim_start_matches('.'), message)
    })
}

/// The JSON Schema of parser files.
pub fn parser_file_schema() -> serde_json::Value {
    schema_of::<FileFields>("A file of parsers")
}

impl Chooser for ParserFile {
    fn choose(&self, call: &CallPath, request: &Request) -> Option<&dyn AnyParser> {
        self.fitting(Some(call), Some(request))
    }
}

#[cfg(test)]
mod small_texts;
#[cfg(test)]
mod tests;
