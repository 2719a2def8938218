//! The strategies of a parser file: where to look for a value.

use regex::Regex;
use serde_json::Value;

use super::candidate::pick_value;
use super::doubt::ReadingDoubt;
use super::fields::{Pick, StrategyFields, check_name};
use super::json_path::JsonPath;
use super::json_search::JsonSearch;
use super::part::{AnswerPart, SearchedPart, without_open_reasoning};
use super::pattern::built;
use super::searched::Place;
use super::shape::Shape;
use crate::config::ConfigProblem;
use retold::decide::NOTHING_FOUND;
use retold::parse::{FoundValue, OwnStrategy, WholeAnswer};
use retold::patterns::PatternBudget;

/// The most strategies of a parser.
const MOST_STRATEGIES: usize = 100;

/// The longest pattern, in bytes.
const LONGEST_PATTERN: usize = 10_000;

/// How many matches of a pattern are looked at: the time that each takes may grow with the text.
const MOST_MATCHES: usize = 10_000;

/// Where a value is looked for.
enum ValuePlace {
    WholeText,
    LastLine,
    /// The first group of a pattern, or all of the match.
    Matches(Regex),
    /// What tags with a name enclose.
    Tags(Regex),
    Json(JsonPath),
    /// In the arguments of calls of this tool.
    Call(String, JsonPath),
}

/// The strategies of a parser.
///
/// # Errors
/// The first that cannot be used.
pub(super) fn all(
    fields: &[StrategyFields],
    patterns: &mut PatternBudget,
    key: &str,
) -> Result<Vec<OwnStrategy<Value>>, ConfigProblem> {
    if fields.is_empty() || fields.len() > MOST_STRATEGIES {
        let message = format!("a parser has from 1 to {MOST_STRATEGIES} strategies");
        return Err(ConfigProblem::new(key, message));
    }
    let mut made: Vec<OwnStrategy<Value>> = Vec::new();
    for (n, fields) in fields.iter().enumerate() {
        let key = format!("{key}[{n}]");
        let strategy = one(fields, patterns, &key)?;
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

fn one(
    fields: &StrategyFields,
    patterns: &mut PatternBudget,
    key: &str,
) -> Result<OwnStrategy<Value>, ConfigProblem> {
    let (part, of) = AnswerPart::new(fields, patterns, key)?;
    let (place, from) = place(fields, patterns, key)?;
    let (shape, what) = Shape::new(fields, key)?;
    let method = match &fields.method {
        Some(method) => {
            check_name(method, &format!("{key}.method"))?;
            method.clone()
        }
        None => {
            let place = (from.is_none() && what.is_none()).then(|| "whole_text".to_owned());
            let pieces = [of, from.or(place), what.map(str::to_owned)];
            pieces.into_iter().flatten().collect::<Vec<_>>().join("_")
        }
    };
    if method == NOTHING_FOUND {
        let message = format!("{method:?} is the method of answers in which nothing was found");
        return Err(ConfigProblem::new(&format!("{key}.method"), message));
    }
    let pick = fields.pick;
    // Reasoning that was cut off is not an answer, but `whole_text` asks for the text as it is.
    let is_answer =
        !(matches!((&place, &shape), (ValuePlace::WholeText, Shape::Any)) && part.is_all());
    let look = move |answer: WholeAnswer<'_>| {
        if let ValuePlace::Call(tool, path) = &place {
            let mut search = JsonSearch::new(path, &shape);
            for call in answer.tool_calls().filter(|call| call.name == Some(tool.as_str())) {
                match call.arguments {
                    Value::String(text) => search.text(text),
                    value => search.value(value, &[]),
                }
            }
            return search.pick(pick);
        }
        let answered = match is_answer {
            true => without_open_reasoning(answer.text),
            false => SearchedPart::whole(answer.text),
        };
        let searched = part.of(&answered.text);
        place.pick(&searched.text, &shape, pick).map_err(|mut warnings| {
            let left_out = answered.left_out.or(searched.left_out);
            warnings.extend(left_out.map(|doubt| doubt.to_string()));
            warnings
        })
    };
    let find = move |answer: WholeAnswer<'_>| {
        let limit = answer.is_cut_off().then(|| ReadingDoubt::LengthLimit.to_string());
        match look(answer) {
            Ok(mut found) => {
                found.warnings.extend(limit);
                Ok(found)
            }
            Err(warnings) => Err(warnings.into_iter().chain(limit).collect()),
        }
    };
    Ok(OwnStrategy { method, find: Box::new(find) })
}

impl ValuePlace {
    /// The value that counts in a text.
    fn pick(
        &self,
        text: &str,
        shape: &Shape,
        pick: Pick,
    ) -> Result<FoundValue<Value>, Vec<String>> {
        match self {
            ValuePlace::WholeText => {
                pick_value(pick, shape.in_each_mention(text, Place::of(0..text.len())))
            }
            ValuePlace::LastLine => {
                let end = text.trim_end().len();
                let start =
                    text.get(..end).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
                pick_value(pick, shape.in_each_mention(text, Place::of(start..end)))
            }
            ValuePlace::Matches(pattern) => {
                pick_value(pick, shape.in_matches(text, &matches(pattern, text), pick))
            }
            ValuePlace::Tags(pattern) => {
                pick_value(pick, shape.in_places(text, &matches(pattern, text)))
            }
            ValuePlace::Json(path) => {
                let mut search = JsonSearch::new(path, shape);
                search.text(text);
                search.pick(pick)
            }
            // Its arguments are no part of the text.
            ValuePlace::Call(..) => Err(Vec::new()),
        }
    }
}

/// The places that a pattern matches.
fn matches(pattern: &Regex, text: &str) -> Vec<Place> {
    let found = pattern.captures_iter(text).take(MOST_MATCHES);
    let place = |found: regex::Captures<'_>| {
        let all = found.get(0)?;
        let at = found.get(1).unwrap_or(all).range();
        Some(Place { at, matched: all.range() })
    };
    found.filter_map(place).collect()
}

/// The place, and its part of the method.
fn place(
    fields: &StrategyFields,
    patterns: &mut PatternBudget,
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
        let pattern = compile(&pattern, patterns, &format!("{key}.tag"))?;
        return Ok((ValuePlace::Tags(pattern), Some(format!("{tag}_tag"))));
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
        let pattern = compile(pattern, patterns, &format!("{key}.regex"))?;
        return Ok((ValuePlace::Matches(pattern), Some("regex".to_owned())));
    }
    Ok(match (last_line, whole_text) {
        (Some(_), _) => (ValuePlace::LastLine, Some("last_line".to_owned())),
        (_, Some(_)) => (ValuePlace::WholeText, Some("whole_text".to_owned())),
        _ => (ValuePlace::WholeText, None),
    })
}

/// A pattern of the user's.
///
/// # Errors
/// The key, and the problem with the pattern.
pub(super) fn compile(
    pattern: &str,
    patterns: &mut PatternBudget,
    key: &str,
) -> Result<Regex, ConfigProblem> {
    if pattern.len() > LONGEST_PATTERN {
        let message = format!("a pattern has at most {LONGEST_PATTERN} bytes");
        return Err(ConfigProblem::new(key, message));
    }
    built(pattern, patterns, key)
}
