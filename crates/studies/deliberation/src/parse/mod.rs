//! The demographics of a persona, as the source document asks for them: a JSON object with listed
//! values.
//!
//! `demographics@1` reads the whole answer as JSON (`json`), or otherwise the first JSON object in
//! it (`recovered_json`: fences, surrounding words, a missing end). Spellings are corrected with a
//! warning: `"42"` for 42, `female` for `F`, different case or apostrophes. If a value is missing
//! or outside its range, there are no demographics (`failed`), and the reason is given: replacing
//! it by a listed value would mean inventing it, and asking again is cheap.

mod fields;
mod recover;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::fields::OutOfRange;
use self::fields::{EDUCATION, INCOME, LEANING, LOCATION};
use retold::parse::text::free_text::FreeTextParams;
use retold::parse::{FoundValue, ParserFamily, Strategy, StrategyParser, thinking};
use retold::prompt::CanonicalError;

/// A persona's demographics.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Demographics {
    /// From 18 to 65.
    pub age: u32,
    /// `M` or `F`.
    pub sex: String,
    /// The highest degree.
    pub education: String,
    /// From `Low income` to `High income`.
    pub income: String,
    /// `urban`, `suburban` or `rural`.
    pub location_type: String,
    /// From `very liberal` to `very conservative`.
    pub political_leaning: String,
    /// Not asked for; kept if a model gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub occupation: Option<String>,
}

/// The demographics parser.
pub type DemographicsParser = StrategyParser<FreeTextParams, Option<Demographics>>;

const STRATEGIES: &[Strategy<FreeTextParams, Option<Demographics>>] = &[
    Strategy { method: "json", find: whole },
    Strategy { method: "recovered_json", find: recover_demographics },
];

/// `demographics`, in all its versions.
pub static DEMOGRAPHICS: ParserFamily = ParserFamily {
    name: "demographics",
    versions: &[1],
    make: |spec| {
        let FreeTextParams {} = spec.settings()?;
        Ok(Box::new(parser()?))
    },
};

/// `demographics@1`.
///
/// # Errors
/// [`CanonicalError`], which does not occur in practice: there are no settings.
pub fn parser() -> Result<DemographicsParser, CanonicalError> {
    StrategyParser::new("demographics", 1, FreeTextParams {}, STRATEGIES, ("failed", failure), None)
}

fn whole(text: &str, _: &FreeTextParams) -> Option<FoundValue<Option<Demographics>>> {
    let object = serde_json::from_str(thinking::split(text).1).ok()?;
    let (value, warnings) = read(&object).ok()?;
    Some(FoundValue { value: Some(value), reasoning: reasoning(text), warnings })
}

fn recover_demographics(
    text: &str,
    _: &FreeTextParams,
) -> Option<FoundValue<Option<Demographics>>> {
    let object = recover::first_object(thinking::split(text).1)?;
    let (value, warnings) = read(&object).ok()?;
    Some(FoundValue { value: Some(value), reasoning: reasoning(text), warnings })
}

fn failure(text: &str, _: &FreeTextParams) -> FoundValue<Option<Demographics>> {
    let warning = match recover::first_object(thinking::split(text).1).map(|object| read(&object)) {
        Some(Err(out)) => out.to_string(),
        _ => "there is no JSON object in it".to_owned(),
    };
    FoundValue { value: None, reasoning: reasoning(text), warnings: vec![warning] }
}

fn reasoning(text: &str) -> Option<String> {
    thinking::split(text).0.map(str::to_owned)
}

/// Reads and checks every field; corrected spellings are reported.
fn read(object: &Map<String, Value>) -> Result<(Demographics, Vec<String>), OutOfRange> {
    let mut warnings = Vec::new();
    let age = fields::age(object.get("age"), &mut warnings)?;
    let mut listed =
        |key: &str, list: &[&str]| fields::one_of(key, object.get(key), list, &mut warnings);
    let demographics = Demographics {
        age,
        sex: listed("sex", &["M", "F"])?,
        education: listed("education", EDUCATION)?,
        income: listed("income", INCOME)?,
        location_type: listed("location_type", LOCATION)?,
        political_leaning: listed("political_leaning", LEANING)?,
        occupation: object.get("occupation").and_then(Value::as_str).map(str::to_owned),
    };
    Ok((demographics, warnings))
}

/// The demographics in a JSON object from another source, such as a pool of personas, with the same
/// rules.
///
/// # Errors
/// [`OutOfRange`]: the field that is missing or outside its range.
pub fn from_object(object: &Map<String, Value>) -> Result<Demographics, OutOfRange> {
    read(object).map(|(demographics, _)| demographics)
}
