//! The values at a path in JSON: in a whole text, or between other text.

use serde_json::Value;

use super::candidate::{Candidate, pick_value};
use super::doubt::ReadingDoubt;
use super::fields::Pick;
use super::json_path::JsonPath;
use super::latex::eaten;
use super::shape::Shape;
use retold::parse::FoundValue;
use retold::parse::json_repair::{EmbeddedJson, Repair, each_value};

/// Continuations of a text: a value that any of them changes was cut off.
const CONTINUATIONS: [&str; 2] = ["9", ",\"9\":9"];

/// A search. JSON that is malformed is repaired, which the warnings say.
pub(super) struct JsonSearch<'a> {
    path: &'a JsonPath,
    shape: &'a Shape,
    /// The value at the path of each JSON value that has one.
    found: Vec<Option<Candidate>>,
    repairs: Vec<Repair>,
    doubts: Vec<ReadingDoubt>,
}

impl<'a> JsonSearch<'a> {
    pub(super) fn new(path: &'a JsonPath, shape: &'a Shape) -> Self {
        let (found, repairs, doubts) = (Vec::new(), Vec::new(), Vec::new());
        JsonSearch { path, shape, found, repairs, doubts }
    }

    pub(super) fn text(&mut self, text: &str) {
        if let Ok(value) = serde_json::from_str::<Value>(text.trim()) {
            self.value(&value, &[]);
            return;
        }
        let mut values = each_value(text).peekable();
        while let Some(embedded) = values.next() {
            let is_last = values.peek().is_none();
            if is_last && self.is_cut(text, &embedded) {
                self.found.push(Some(Candidate::Doubtful(ReadingDoubt::CutJson)));
            } else {
                self.value(&embedded.value, &embedded.repairs);
            }
        }
    }

    /// True if the value at the path would be another one if the text went on.
    fn is_cut(&self, text: &str, last: &EmbeddedJson) -> bool {
        let rest = text.get(last.start..).unwrap_or("");
        let known = self.path.find(&last.value).filter(|value| !value.is_null());
        known.is_some()
            && last.repairs.iter().any(|repair| is_open(*repair))
            && CONTINUATIONS.iter().any(|more| {
                let longer = each_value(&format!("{rest}{more}")).next();
                longer.is_none_or(|longer| self.path.find(&longer.value) != known)
            })
    }

    pub(super) fn value(&mut self, value: &Value, repaired: &[Repair]) {
        let Some(value) = self.path.find(value) else { return };
        let found = self.shape.in_json(value);
        if found.is_some() {
            self.repairs.extend(repaired);
            self.doubts.extend(eaten(value).map(ReadingDoubt::EatenLatex));
        }
        self.found.push(found);
    }

    /// The value that counts, with the warnings.
    pub(super) fn pick(mut self, pick: Pick) -> Result<FoundValue<Value>, Vec<String>> {
        let picked = pick_value(pick, self.found)?;
        self.repairs.sort_unstable();
        self.repairs.dedup();
        self.doubts.dedup();
        let repairs = self.repairs.iter().map(|repair| repair.as_str().to_owned());
        let doubts = self.doubts.iter().map(ToString::to_string);
        Ok(FoundValue { warnings: repairs.chain(doubts).collect(), ..picked })
    }
}

/// True if a repair may have ended something that the text does not end.
fn is_open(repair: Repair) -> bool {
    matches!(repair, Repair::UnclosedContainer | Repair::UnclosedString)
}
