//! The strategies of a parser file: where to look for a value, and what counts as one.

use std::collections::BTreeMap;

use regex::{Regex, RegexBuilder};
use serde_json::{Number, Value};

use super::fields::{NumberFields, Pick, StrategyFields, check_name};
use super::json_path::JsonPath;
use crate::config::{ConfigProblem, figure};
use retold::decide::NOTHING_FOUND;
use retold::escaping::printable;
use retold::parse::json_repair::{self, Repair};
use retold::parse::{FoundValue, OwnStrategy, WholeAnswer};

/// The most strategies of a parser, and the most options of a strategy.
const MOST_STRATEGIES: usize = 100;
const MOST_OPTIONS: usize = 1000;

/// The longest pattern, in bytes, and how large its program may be. Matching takes time in
/// proportion to the text times the size of the program.
const LONGEST_PATTERN: usize = 10_000;
const LARGEST_PROGRAM: usize = 1 << 20;

/// How many matches of a pattern are looked at: the time that each takes may grow with the text.
const MOST_MATCHES: usize = 10_000;

/// The longest option, in bytes.
const LONGEST_OPTION: usize = 1000;

/// Where a value is looked for.
enum ValuePlace {
    WholeText,
    LastLine,
    /// Its first group, or all of the match.
    Matches(Regex),
    Json(JsonPath),
    /// In the arguments of calls of this tool.
    Call(String, JsonPath),
}

/// What counts as a value.
enum Shape {
    /// The text without white space around it, or the JSON value as it is.
    Any,
    Number(NumberFields),
    /// The options in one pattern, with the longer ones first; and as they are written, by their
    /// lower case.
    OneOf(Regex, BTreeMap<String, String>),
}

/// The strategies of a parser.
///
/// # Errors
/// The first that cannot be used.
pub(super) fn all(
    fields: &[StrategyFields],
    key: &str,
) -> Result<Vec<OwnStrategy<Value>>, ConfigProblem> {
    if fields.is_empty() || fields.len() > MOST_STRATEGIES {
        let message = format!("a parser has from 1 to {MOST_STRATEGIES} strategies");
        return Err(ConfigProblem::new(key, message));
    }
    let mut made: Vec<OwnStrategy<Value>> = Vec::new();
    for (n, fields) in fields.iter().enumerate() {
        let key = format!("{key}[{n}]");
        let strategy = one(fields, &key)?;
        if made.iter().any(|other| other.method == strategy.method) {
            let message = format!(
                "there are two strategies with the method {:?}: give this one another name with `method: NAME`",
                strategy.method
            );
            return Err(ConfigProblem::new(&key, message));
        }
        made.push(strategy);
    }
    Ok(made)
}

fn one(fields: &StrategyFields, key: &str) -> Result<OwnStrategy<Value>, ConfigProblem> {
    let (place, from) = place(fields, key)?;
    let (shape, what) = shape(fields, key)?;
    let method = match &fields.method {
        Some(method) => {
            check_name(method, &format!("{key}.method"))?;
            method.clone()
        }
        None => match (from, what) {
            (None, None) => "whole_text".to_owned(),
            (Some(from), None) => from,
            (None, Some(what)) => what.to_owned(),
            (Some(from), Some(what)) => format!("{from}_{what}"),
        },
    };
    if method == NOTHING_FOUND {
        let message = format!("{method:?} is the method of answers in which nothing was found");
        return Err(ConfigProblem::new(&format!("{key}.method"), message));
    }
    let pick = fields.pick;
    let find = move |answer: WholeAnswer<'_>| {
        let text = answer.text;
        match &place {
            ValuePlace::WholeText => picked(pick, shape.in_text(text)),
            ValuePlace::LastLine => {
                let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
                picked(pick, shape.in_text(line))
            }
            ValuePlace::Matches(pattern) => {
                let pieces = pattern.captures_iter(text).take(MOST_MATCHES);
                let pieces = pieces.filter_map(|found| found.get(1).or_else(|| found.get(0)));
                picked(pick, pieces.flat_map(|piece| shape.in_text(piece.as_str())))
            }
            ValuePlace::Json(path) => {
                let mut search = JsonSearch::new(path, &shape);
                search.text(text);
                search.picked(pick)
            }
            ValuePlace::Call(tool, path) => {
                let mut search = JsonSearch::new(path, &shape);
                for call in answer.tool_calls().filter(|call| call.name == Some(tool.as_str())) {
                    match call.arguments {
                        Value::String(text) => search.text(text),
                        value => search.value(value, &[]),
                    }
                }
                search.picked(pick)
            }
        }
    };
    Ok(OwnStrategy { method, find: Box::new(find) })
}

/// The place, and its part of the method.
fn place(
    fields: &StrategyFields,
    key: &str,
) -> Result<(ValuePlace, Option<String>), ConfigProblem> {
    let StrategyFields { tag, json, tool, regex, last_line, whole_text, .. } = fields;
    for (name, flag) in [("last_line", last_line), ("whole_text", whole_text)] {
        if *flag == Some(false) {
            let message = "write true, or leave it out";
            return Err(ConfigProblem::new(&format!("{key}.{name}"), message));
        }
    }
    let given = [
        ("tag", tag.is_some()),
        // With a tool, the path leads into its arguments.
        ("json", json.is_some() && tool.is_none()),
        ("tool", tool.is_some()),
        ("regex", regex.is_some()),
        ("last_line", last_line.is_some()),
        ("whole_text", whole_text.is_some()),
    ];
    let mut given = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name);
    if let (Some(first), Some(second)) = (given.next(), given.next()) {
        let message =
            format!("a strategy looks in one place, and this one has {first} and {second}");
        return Err(ConfigProblem::new(&format!("{key}.{second}"), message));
    }
    if let Some(tag) = tag {
        check_name(tag, &format!("{key}.tag"))?;
        let name = regex::escape(tag);
        let pattern = format!(r"(?is)<{name}(?:\s[^<>]*)?>(.*?)</{name}\s*>");
        let pattern = compiled(&pattern, &format!("{key}.tag"))?;
        return Ok((ValuePlace::Matches(pattern), Some(format!("{tag}_tag"))));
    }
    let path = json.as_deref().map(JsonPath::new).transpose();
    let path = path.map_err(|e| ConfigProblem::new(&format!("{key}.json"), e.to_string()))?;
    if let Some(tool) = tool {
        check_name(tool, &format!("{key}.tool"))?;
        let place = ValuePlace::Call(tool.clone(), path.unwrap_or_default());
        return Ok((place, Some(format!("{tool}_call"))));
    }
    if let Some(path) = path {
        return Ok((ValuePlace::Json(path), Some("json".to_owned())));
    }
    if let Some(pattern) = regex {
        let pattern = compiled(pattern, &format!("{key}.regex"))?;
        return Ok((ValuePlace::Matches(pattern), Some("regex".to_owned())));
    }
    Ok(match (last_line, whole_text) {
        (Some(_), _) => (ValuePlace::LastLine, Some("last_line".to_owned())),
        (_, Some(_)) => (ValuePlace::WholeText, Some("whole_text".to_owned())),
        _ => (ValuePlace::WholeText, None),
    })
}

/// The shape, and its part of the method.
fn shape(
    fields: &StrategyFields,
    key: &str,
) -> Result<(Shape, Option<&'static str>), ConfigProblem> {
    match (&fields.number, &fields.one_of) {
        (Some(_), Some(_)) => {
            let message = "a value is a number or one of some options, not both";
            Err(ConfigProblem::new(&format!("{key}.one_of"), message))
        }
        (None, None) => Ok((Shape::Any, None)),
        (Some(range), None) => {
            let NumberFields { from, to, whole: _ } = *range;
            let ends = [from, to].into_iter().flatten();
            if ends.clone().any(|end| !end.is_finite()) {
                let message = "the ends of the range are numbers";
                return Err(ConfigProblem::new(&format!("{key}.number"), message));
            }
            if let (Some(from), Some(to)) = (from, to)
                && from > to
            {
                let message = format!("no number is from {} to {}", figure(from), figure(to));
                return Err(ConfigProblem::new(&format!("{key}.number"), message));
            }
            Ok((Shape::Number(*range), Some("number")))
        }
        (None, Some(options)) => {
            let shape = options_shape(options, &format!("{key}.one_of"))?;
            Ok((shape, Some("one_of")))
        }
    }
}

fn options_shape(options: &[String], key: &str) -> Result<Shape, ConfigProblem> {
    if options.is_empty() || options.len() > MOST_OPTIONS {
        let message = format!("write from 1 to {MOST_OPTIONS} options");
        return Err(ConfigProblem::new(key, message));
    }
    let mut longest: Vec<&String> = options.iter().collect();
    longest.sort_by_key(|option| std::cmp::Reverse(option.len()));
    let mut alternatives = Vec::new();
    let mut written = BTreeMap::new();
    for (n, option) in options.iter().enumerate() {
        let key = format!("{key}[{n}]");
        if option.trim() != option || option.is_empty() || option.len() > LONGEST_OPTION {
            let message = format!(
                "an option has from 1 to {LONGEST_OPTION} bytes, and no white space around it"
            );
            return Err(ConfigProblem::new(&key, message));
        }
        if written.insert(option.to_lowercase(), option.clone()).is_some() {
            return Err(ConfigProblem::new(&key, "this option is there already"));
        }
    }
    for option in longest {
        // Whole words: `agree` is not in `disagree`.
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        let before = if word(option.chars().next()) { r"\b" } else { "" };
        let after = if word(option.chars().last()) { r"\b" } else { "" };
        alternatives.push(format!("{before}{}{after}", regex::escape(option)));
    }
    let pattern = built(&format!("(?i){}", alternatives.join("|")), key)?;
    Ok(Shape::OneOf(pattern, written))
}

/// A pattern of the user's.
///
/// # Errors
/// What is wrong with it.
pub(super) fn compiled(pattern: &str, key: &str) -> Result<Regex, ConfigProblem> {
    if pattern.len() > LONGEST_PATTERN {
        let message = format!("a pattern has at most {LONGEST_PATTERN} bytes");
        return Err(ConfigProblem::new(key, message));
    }
    built(pattern, key)
}

fn built(pattern: &str, key: &str) -> Result<Regex, ConfigProblem> {
    let regex = RegexBuilder::new(pattern).size_limit(LARGEST_PROGRAM).nest_limit(100).build();
    regex.map_err(|error| {
        let message = match error {
            regex::Error::CompiledTooBig(_) => {
                "the pattern is too large: it repeats too much".to_owned()
            }
            other => {
                // The last line says what is wrong; those above it point into the pattern.
                let said = other.to_string();
                let said = said.lines().last().unwrap_or("").trim();
                let said = said.strip_prefix("error: ").unwrap_or(said);
                format!("this is not a regular expression: {}", printable(said, 200))
            }
        };
        ConfigProblem::new(key, message)
    })
}

/// The value that counts, of those that were found.
fn picked(pick: Pick, mut found: impl Iterator<Item = Value>) -> Option<FoundValue<Value>> {
    let first = found.next()?;
    let value = match pick {
        Pick::First => first,
        Pick::Last => found.last().unwrap_or(first),
        Pick::Only => found.all(|other| other == first).then_some(first)?,
    };
    Some(FoundValue::plain(value))
}

/// What is found at a path in JSON: in a whole text, or between other text. JSON that is malformed is
/// repaired, which the warnings say.
struct JsonSearch<'a> {
    path: &'a JsonPath,
    shape: &'a Shape,
    found: Vec<Value>,
    repairs: Vec<Repair>,
}

impl<'a> JsonSearch<'a> {
    fn new(path: &'a JsonPath, shape: &'a Shape) -> Self {
        JsonSearch { path, shape, found: Vec::new(), repairs: Vec::new() }
    }

    fn text(&mut self, text: &str) {
        match serde_json::from_str::<Value>(text.trim()) {
            Ok(value) => self.value(&value, &[]),
            Err(_) => {
                for embedded in json_repair::each_value(text) {
                    self.value(&embedded.value, &embedded.repairs);
                }
            }
        }
    }

    fn value(&mut self, value: &Value, repaired: &[Repair]) {
        let found = self.path.find(value).map_or_else(Vec::new, |value| self.shape.in_json(value));
        if !found.is_empty() {
            self.repairs.extend(repaired);
        }
        self.found.extend(found);
    }

    fn picked(mut self, pick: Pick) -> Option<FoundValue<Value>> {
        let picked = picked(pick, self.found.into_iter())?;
        self.repairs.sort_unstable();
        self.repairs.dedup();
        let warnings = self.repairs.iter().map(|repair| repair.as_str().to_owned()).collect();
        Some(FoundValue { warnings, ..picked })
    }
}

impl Shape {
    /// The values in a piece of text.
    fn in_text<'t>(&'t self, text: &'t str) -> Box<dyn Iterator<Item = Value> + 't> {
        match self {
            Shape::Any => {
                let text = text.trim();
                Box::new((!text.is_empty()).then(|| Value::from(text)).into_iter())
            }
            Shape::Number(range) => Box::new(numbers(text).filter_map(|text| range.read(&text))),
            Shape::OneOf(pattern, options) => {
                let found = pattern.find_iter(text).map(|found| found.as_str().to_lowercase());
                Box::new(found.filter_map(|found| Some(options.get(&found)?.as_str().into())))
            }
        }
    }

    /// The values in a JSON value.
    fn in_json(&self, value: &Value) -> Vec<Value> {
        match (self, value) {
            (_, Value::Null) => Vec::new(),
            (Shape::Any, value) => vec![value.clone()],
            (Shape::Number(range), Value::Number(number)) => {
                range.read(&number.to_string()).into_iter().collect()
            }
            (_, Value::String(text)) => self.in_text(text).collect(),
            _ => Vec::new(),
        }
    }
}

impl NumberFields {
    /// A number, if it is in range. A whole number stays one.
    fn read(&self, text: &str) -> Option<Value> {
        let NumberFields { from, to, whole } = *self;
        let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
        let fits = from.is_none_or(|from| value >= from)
            && to.is_none_or(|to| value <= to)
            && (!whole || value.fract() == 0.0);
        let number = || match text.parse::<i64>() {
            Ok(whole) => Some(Number::from(whole)),
            Err(_) => Number::from_f64(value),
        };
        fits.then(number)?.map(Value::Number)
    }
}

/// The numbers in a text, with thousands separators left out. A minus directly after a letter, a
/// digit or a bracket is a dash (`3-5`), and digits that continue a word are part of it.
fn numbers(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        loop {
            let start = at + bytes.get(at..)?.iter().position(u8::is_ascii_digit)?;
            let mut end = start + digits(&bytes[start..]);
            let mut number = text[start..end].to_owned();
            // One to three digits, then groups of three.
            while (end - start <= 3 || number.len() < end - start)
                && bytes.get(end) == Some(&b',')
                && digits(&bytes[end + 1..]) == 3
            {
                number.push_str(&text[end + 1..end + 4]);
                end += 4;
            }
            if bytes.get(end) == Some(&b'.') {
                let decimals = digits(&bytes[end + 1..]);
                if decimals > 0 {
                    number.push_str(&text[end..=end + decimals]);
                    end += 1 + decimals;
                }
            }
            at = end;
            let before = text[..start].chars().next_back();
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            if before.is_some_and(is_word) || text[end..].chars().next().is_some_and(is_word) {
                continue;
            }
            if before == Some('-') {
                let earlier = text[..start - 1].chars().next_back();
                if earlier.is_none_or(|c| !is_word(c) && !")]".contains(c)) {
                    number.insert(0, '-');
                }
            }
            return Some(number);
        }
    })
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}
