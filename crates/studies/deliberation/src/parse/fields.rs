//! The ranges in the source document, and accepted spellings of listed values.

use std::ops::RangeInclusive;

use serde_json::Value;

use retold::escaping::printable;
use retold::parse::vote::comparable;

pub(super) const AGES: RangeInclusive<u32> = 18..=65;
pub(super) const EDUCATION: &[&str] =
    &["High school", "Some college", "Bachelor's degree", "Master's degree", "Doctorate"];
pub(super) const INCOME: &[&str] =
    &["Low income", "Lower-middle income", "Middle income", "Upper-middle income", "High income"];
pub(super) const LOCATION: &[&str] = &["urban", "suburban", "rural"];
pub(super) const LEANING: &[&str] =
    &["very liberal", "liberal", "moderate", "conservative", "very conservative"];

/// The longest excerpt of a wrong value that is shown.
const SHOWN: usize = 60;

/// A field that is missing or outside its range: which, and what would fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct OutOfRange(String);

pub(super) fn age(value: Option<&Value>, warnings: &mut Vec<String>) -> Result<u32, OutOfRange> {
    let value = value.ok_or_else(|| OutOfRange("\"age\" is missing".to_owned()))?;
    let age = match value {
        Value::String(text) => {
            warnings.push(format!("\"age\" is the text {:?}", printable(text, SHOWN)));
            text.trim().parse().ok()
        }
        // 42.0 is a whole number in another spelling.
        value => value.as_f64().filter(|age| age.fract() == 0.0 && (0.0..=1000.0).contains(age)),
    };
    // The range above makes the conversion exact.
    let age = age.map(|age: f64| age as u32).filter(|age| AGES.contains(age));
    age.ok_or_else(|| {
        let found = printable(&value.to_string(), SHOWN);
        OutOfRange(format!("\"age\" must be from 18 to 65, not {found}"))
    })
}

pub(super) fn one_of(
    key: &str,
    value: Option<&Value>,
    list: &[&str],
    warnings: &mut Vec<String>,
) -> Result<String, OutOfRange> {
    let value = value.ok_or_else(|| OutOfRange(format!("{key:?} is missing")))?;
    let text = value.as_str().unwrap_or("");
    if let Some(same) = list.iter().find(|item| **item == text) {
        return Ok((*same).to_owned());
    }
    let spelled = comparable(text);
    let other_name = |item: &str| {
        matches!(
            (spelled.join(" ").as_str(), item),
            ("male" | "man", "M") | ("female" | "woman", "F")
        )
    };
    match list.iter().find(|item| comparable(item) == spelled || other_name(item)) {
        Some(meant) => {
            warnings.push(format!("{key:?} is spelled {:?}", printable(text, SHOWN)));
            Ok((*meant).to_owned())
        }
        None => {
            let found = printable(&value.to_string(), SHOWN);
            Err(OutOfRange(format!("{key:?} must be one of {list:?}, not {found}")))
        }
    }
}
