//! The facts of a judge and the state that they fold into.

use std::collections::BTreeMap;
use std::fmt::Write;

use retold::id::{CallPath, Sample, Seq};
use retold::run::Report;
use retold_figures::natural_order;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// An answer was judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Its seq in the judged run.
    pub answer: Seq,
    /// Its call.
    pub call: CallPath,
    /// Which answer to that call it is.
    pub sample: Sample,
    /// The verdict of each sample; null where none was read.
    pub samples: Vec<Value>,
    /// The verdict of each of several judges, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub judges: Vec<Value>,
    /// How many samples have no answer, because their calls failed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unanswered: u32,
    /// The verdict of all of them; null if there is none.
    pub verdict: Value,
    /// The warnings of the samples, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// How often each verdict was given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct JudgeTally {
    /// Answers by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Answers without a verdict, also because all calls failed.
    pub without: u64,
    /// Samples whose calls failed.
    pub unanswered: u64,
}

impl JudgeTally {
    pub(crate) fn add(&mut self, judged: &Judged) {
        self.unanswered += u64::from(judged.unanswered);
        let verdict = match &judged.verdict {
            Value::Null => {
                self.without += 1;
                return;
            }
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        *self.verdicts.entry(verdict).or_default() += 1;
    }

    pub(crate) fn report(&self, name: &str) -> Report {
        let JudgeTally { verdicts, without, unanswered } = self;
        let judged: u64 = verdicts.values().sum();
        let mut text = format!("{name}: {judged} answers judged, {without} without a verdict\n");
        let mut sorted: Vec<(&String, &u64)> = verdicts.iter().collect();
        sorted.sort_by(|(one, _), (other, _)| natural_order(one, other));
        for (verdict, n) in sorted {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {verdict:<20}{n:>8}");
        }
        if *unanswered > 0 {
            let _ = writeln!(text, "calls that failed: {unanswered}");
        }
        let empty_because = (judged == 0).then(|| "no answer has a verdict".to_owned());
        let json = json!({"name": name, "judged": judged, "without": without,
            "unanswered": unanswered, "verdicts": verdicts});
        Report { json, text, empty_because, failed: None }
    }
}
