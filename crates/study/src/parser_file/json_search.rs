//! The values at a path in JSON: in a whole text, or between other text.

use serde_json::Value;

use super::candidate::{Candidate, pick_value};
use super::doubt::ReadingDoubt;
use super::fields::Pick;
use super::json_path::JsonPath;
use super::latex::eaten;
use super::rules::FileRules;
use super::shape::Shape;
use retold::parse::FoundValue;
use retold::parse::json_repair::{self, Repair};

/// A search. JSON that is malformed is repaired, which the warnings say.
pub(super) struct JsonSearch<'a> {
    rules: FileRules,
    path: &'a JsonPath,
    shape: &'a Shape,
    found: Vec<Candidate>,
    repairs: Vec<Repair>,
    doubts: Vec<ReadingDoubt>,
}

impl<'a> JsonSearch<'a> {
    pub(super) fn new(rules: FileRules, path: &'a JsonPath, shape: &'a Shape) -> Self {
        let (found, repairs, doubts) = (Vec::new(), Vec::new(), Vec::new());
        JsonSearch { rules, path, shape, found, repairs, doubts }
    }

    pub(super) fn text(&mut self, text: &str) {
        match serde_json::from_str::<Value>(text.trim()) {
            Ok(value) => self.value(&value, &[]),
            Err(_) => {
                for embedded in json_repair::each_value(text) {
                    self.value(&embedded.value, &embedded.repairs);
                }
            }
        }
    }

    pub(super) fn value(&mut self, value: &Value, repaired: &[Repair]) {
        let Some(value) = self.path.find(value) else { return };
        let found = self.shape.in_json(value);
        if found.is_empty() {
            return;
        }
        self.repairs.extend(repaired);
        if self.rules != FileRules::First {
            self.doubts.extend(eaten(value).map(ReadingDoubt::EatenLatex));
        }
        self.found.extend(found);
    }

    /// The value that counts, with the warnings.
    pub(super) fn pick(mut self, pick: Pick) -> Result<FoundValue<Value>, Vec<String>> {
        let picked = pick_value(pick, self.found.into_iter())?;
        self.repairs.sort_unstable();
        self.repairs.dedup();
        self.doubts.dedup();
        let repairs = self.repairs.iter().map(|repair| repair.as_str().to_owned());
        let doubts = self.doubts.iter().map(ToString::to_string);
        Ok(FoundValue { warnings: repairs.chain(doubts).collect(), ..picked })
    }
}
