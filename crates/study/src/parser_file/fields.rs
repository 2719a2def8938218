//! What a parser file has, as it is written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::config::ConfigProblem;

/// The longest name of a parser or a method, in characters.
const LONGEST_NAME: usize = 100;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FileFields {
    /// The first that fits an answer makes the one decision about it.
    #[serde(default)]
    pub(super) parsers: Vec<ParserFields>,
    /// Several decisions about each answer, by name: for each of them, the first parser that fits decides.
    #[serde(default)]
    pub(super) decisions: BTreeMap<String, Vec<ParserFields>>,
}

/// A parser.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ParserFields {
    /// Its name; under `decisions`, that of the decision if it is not given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(super) name: String,
    /// The answers that it decides about.
    #[serde(default, rename = "for", skip_serializing_if = "ConditionFields::is_empty")]
    pub(super) conditions: ConditionFields,
    /// Tried in order.
    pub(super) strategies: Vec<StrategyFields>,
    /// The value if no strategy finds one.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub(super) default: Value,
}

/// All that are given must hold.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ConditionFields {
    /// A call, and the calls below it; `*` stands for any characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) call: Option<String>,
    /// The model as the request names it; `*` stands for any characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) model: Option<String>,
    /// A regular expression that is found in a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prompt: Option<String>,
}

/// One way to find a value: in which part of the answer (all of it, if nothing is named), where to look
/// (the whole text, if nothing is named), and what to look for (the text itself, if nothing is named).
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StrategyFields {
    /// The name under which decisions have it; made from the rest if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) method: Option<String>,
    /// Only in what comes after the last `</NAME>`, or after the last code fence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<String>,
    /// Only in what is outside `<NAME>` and `</NAME>`, or outside code fences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outside: Option<TagNames>,
    /// Between `<NAME>` and `</NAME>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<String>,
    /// At a path in JSON: of the text, or of a tool's arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) json: Option<String>,
    /// In the arguments of calls of the tool with this name, at the path if one is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    /// What the first group of a pattern matches, or all that it matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) regex: Option<String>,
    /// The last line that is not empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) last_line: Option<bool>,
    /// The whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) whole_text: Option<bool>,
    /// A number in a range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) number: Option<NumberFields>,
    /// A number on a scale, of which both ends are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<NumberFields>,
    /// One of some options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) one_of: Option<Vec<String>>,
    /// All of some options that apply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) choices: Option<Vec<String>>,
    /// Some options in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ranking: Option<Vec<String>>,
    /// A number for each of some options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) points: Option<Vec<String>>,
    /// How many of the options a ballot has, points of 0 left out; any number if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) count: Option<CountFields>,
    /// The spellings that count; if it is not given, options with one letter only are spelt exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) case: Option<LetterCase>,
    /// Which place counts if different values are found.
    #[serde(default, skip_serializing_if = "Pick::is_only")]
    pub(super) pick: Pick,
}

/// A name, or several.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "write the name of a tag, or a list of names")]
pub(super) enum TagNames {
    One(String),
    Several(Vec<String>),
}

impl TagNames {
    pub(super) fn as_slice(&self) -> &[String] {
        match self {
            TagNames::One(name) => std::slice::from_ref(name),
            TagNames::Several(names) => names,
        }
    }
}

/// A number of options, or a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "write a number of options, or {from: 1, to: 5}")]
pub(super) enum CountFields {
    Exactly(usize),
    Range(CountRange),
}

/// A range of numbers of options; without an end, it is open there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CountRange {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<usize>,
}

impl CountFields {
    /// The least and the most.
    fn ends(self) -> (usize, usize) {
        match self {
            CountFields::Exactly(count) => (count, count),
            CountFields::Range(CountRange { from, to }) => {
                (from.unwrap_or(0), to.unwrap_or(usize::MAX))
            }
        }
    }

    /// Checks that some number of the options fits.
    pub(super) fn check(self, options: usize, key: &str) -> Result<(), ConfigProblem> {
        let (from, to) = self.ends();
        if from > to || from > options {
            let message = format!("no ballot of {options} options has {self}");
            return Err(ConfigProblem::new(key, message));
        }
        Ok(())
    }

    /// True if a number of options fits.
    pub(super) fn has(self, count: usize) -> bool {
        let (from, to) = self.ends();
        (from..=to).contains(&count)
    }
}

impl std::fmt::Display for CountFields {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.ends() {
            (from, to) if from == to => write!(f, "{from}"),
            (from, usize::MAX) => write!(f, "at least {from}"),
            (0, to) => write!(f, "at most {to}"),
            (from, to) => write!(f, "from {from} to {to}"),
        }
    }
}

/// A range; without an end, it is open there.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NumberFields {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<f64>,
    /// Whether only whole numbers count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) whole: bool,
    /// The mark before decimals; the other one separates thousands.
    #[serde(default, skip_serializing_if = "DecimalMark::is_point")]
    pub(super) decimal: DecimalMark,
}

/// The mark before decimals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum DecimalMark {
    /// `3.5`
    #[default]
    Point,
    /// `3,5`
    Comma,
}

impl DecimalMark {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    fn is_point(&self) -> bool {
        *self == DecimalMark::Point
    }
}

/// Which spellings of an option a text may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum LetterCase {
    /// As the file spells it.
    Exact,
    /// In any letter case.
    Any,
}

/// Which of several places counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Pick {
    /// All: a strategy that finds different values has found nothing.
    #[default]
    Only,
    /// The first.
    First,
    /// The last.
    Last,
}

impl Pick {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
    fn is_only(&self) -> bool {
        *self == Pick::Only
    }
}

impl ConditionFields {
    fn is_empty(&self) -> bool {
        let ConditionFields { call, model, prompt } = self;
        call.is_none() && model.is_none() && prompt.is_none()
    }
}

impl ParserFields {
    /// Checks the name: it is shown next to its version, as `name@version`.
    pub(super) fn check_name(&self, key: &str) -> Result<(), ConfigProblem> {
        check_name(&self.name, &format!("{key}.name"))
    }
}

/// Checks that a name is made of letters, digits, `_`, `-` and `.`.
pub(super) fn check_name(name: &str, key: &str) -> Result<(), ConfigProblem> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
        let message = format!(
            "a name has from 1 to {LONGEST_NAME} letters (a to z), digits, \"_\", \"-\" and \".\""
        );
        return Err(ConfigProblem::new(key, message));
    }
    Ok(())
}
