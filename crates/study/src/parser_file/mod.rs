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
mod ballot;
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

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use self::attach::ParserConditions;
use self::fields::{FileFields, ParserFields, check_name};
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
    decisions: Vec<FileDecision>,
}

/// A decision that a file makes about each answer: the first of its parsers that fits makes it.
pub struct FileDecision {
    name: Option<String>,
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
        Self::from_fields(file, &name, &hash_of(text.as_bytes()))
            .map_err(|wrong| locate(wrong.at(path), path, text, &[]))
    }

    fn from_fields(file: FileFields, name: &str, hash: &[u8; 32]) -> Result<Self, ConfigProblem> {
        let FileFields { parsers, decisions } = file;
        let all = || parsers.iter().chain(decisions.values().flatten());
        let count = all().count();
        if count == 0 || count > MOST_PARSERS {
            let message = format!("a file has from 1 to {MOST_PARSERS} parsers");
            return Err(ConfigProblem::new("parsers", message));
        }
        if !parsers.is_empty() && !decisions.is_empty() {
            let message = "a file has either parsers or decisions, each with parsers of its own";
            return Err(ConfigProblem::new("decisions", message));
        }
        let of_strategies: usize = all().map(|fields| fields.strategies.len()).sum();
        let mut making = Making {
            file: (name, hash),
            patterns: PatternBudget::new(count + of_strategies),
            known: BTreeMap::new(),
        };
        let mut made = Vec::new();
        if !parsers.is_empty() {
            made.push(making.decision(None, parsers, "parsers")?);
        }
        for (decision, parsers) in decisions {
            let key = format!("decisions.{decision}");
            check_name(&decision, &key)?;
            made.push(making.decision(Some(decision), parsers, &key)?);
        }
        Ok(ParserFile { name: name.to_owned(), decisions: made })
    }

    /// The name of the file, without its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The decisions that it makes about each answer.
    pub fn decisions(&self) -> &[FileDecision] {
        &self.decisions
    }

    /// The same, without the file.
    pub fn into_decisions(self) -> Vec<FileDecision> {
        self.decisions
    }

    /// The parser with a name.
    pub fn get(&self, name: &str) -> Option<&dyn AnyParser> {
        self.decisions.iter().flat_map(FileDecision::parsers).find(|it| it.spec().name == name)
    }
}

impl FileDecision {
    /// Its name, if it is not that of the parser.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Its parsers, in order.
    pub fn parsers(&self) -> impl Iterator<Item = &dyn AnyParser> {
        self.parsers.iter().map(|(_, parser)| &**parser)
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
}

/// A file whose parsers are made.
struct Making<'f> {
    /// Its name and its hash.
    file: (&'f str, &'f [u8; 32]),
    patterns: PatternBudget,
    /// The names of parsers, each with the key of the parser that has it.
    known: BTreeMap<String, String>,
}

impl Making<'_> {
    /// A decision with these parsers; `key` is where the file has them.
    fn decision(
        &mut self,
        name: Option<String>,
        parsers: Vec<ParserFields>,
        key: &str,
    ) -> Result<FileDecision, ConfigProblem> {
        if parsers.is_empty() {
            return Err(ConfigProblem::new(key, "a decision has at least one parser"));
        }
        let mut made: Vec<(ParserConditions, Box<dyn AnyParser>)> = Vec::new();
        for (n, mut fields) in parsers.into_iter().enumerate() {
            let key = format!("{key}[{n}]");
            if let (true, Some(name)) = (fields.name.is_empty(), &name) {
                fields.name.clone_from(name);
            }
            if let Some(first) = self.known.insert(fields.name.clone(), key.clone()) {
                let message = format!("{first} already has the name {:?}", fields.name);
                return Err(ConfigProblem::new(&format!("{key}.name"), message));
            }
            fields.check_name(&key)?;
            let (conditions, at) = (&fields.conditions, format!("{key}.for"));
            let attached = ParserConditions::new(conditions, &mut self.patterns, &at)?;
            let parser = parser_of(&fields, self.file, &mut self.patterns, &key)?;
            made.push((attached, Box::new(parser)));
        }
        Ok(FileDecision { name, parsers: made })
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

impl Chooser for FileDecision {
    fn choose(&self, call: &CallPath, request: &Request) -> Option<&dyn AnyParser> {
        self.fitting(Some(call), Some(request))
    }
}

#[cfg(test)]
mod small_texts;
#[cfg(test)]
mod tests;
