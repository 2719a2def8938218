//! The decisions of a scorer beside those of the same name that are in force.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{ScoreError, Scores};
use crate::decided::{DecisionAbout, decisions_about};
use crate::id::{CallPath, RunId, Sample, Seq};
use crate::log::Reader;

/// How the decisions of a scorer differ from those in force.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ComparedScores {
    /// How many have the value that is in force.
    pub same: u64,
    /// How many are about answers without a decision of this name.
    pub new: u64,
    /// Those with another value, in the order of the run.
    pub flipped: Vec<ScoreFlip>,
}

/// A decision with another value than the one in force.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreFlip {
    /// The seq of the answer.
    pub seq: Seq,
    /// Its call.
    pub call: CallPath,
    /// Its sample.
    pub sample: Sample,
    /// The choice of the answer.
    pub choice: u32,
    /// The value in force.
    pub from: Value,
    /// The new value.
    pub to: Value,
    /// The text of the answer.
    pub text: String,
}

impl Scores {
    /// Compares them with the decisions about a run's answers that have a name and are in force.
    ///
    /// # Errors
    /// [`ScoreError`] if one of them names no answer, or more than one, or the log cannot be read.
    pub fn compare(
        &self,
        reader: &mut dyn Reader,
        of: RunId,
        name: &str,
    ) -> Result<ComparedScores, ScoreError> {
        let mut in_force: BTreeMap<(Seq, u32), Value> = BTreeMap::new();
        decisions_about(reader, of, |DecisionAbout { answer, joined, .. }| {
            if joined.in_force && joined.made.by.decides() == name {
                let choice = joined.made.details.choice.unwrap_or(0);
                in_force.insert((answer, choice), joined.made.details.value);
            }
        })?;
        let mut compared = ComparedScores::default();
        self.each(reader, of, |_, answer, score| {
            let choice = answer.choice.at;
            match in_force.remove(&(answer.seq, choice)) {
                None => compared.new += 1,
                Some(from) if from == score.value => compared.same += 1,
                Some(from) => {
                    let (to, text) = (score.value.clone(), answer.whole().text.to_owned());
                    let (seq, call, sample) = (answer.seq, answer.call, answer.sample);
                    compared.flipped.push(ScoreFlip { seq, call, sample, choice, from, to, text });
                }
            }
            Ok(())
        })?;
        Ok(compared)
    }
}
