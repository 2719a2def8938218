//! The decisions about an audited answer that are in force.

use retold::audit::Audit;
use retold::decided::{AnswerDecision, CallDecisions};
use retold::effective::EffectiveDecisions;
use retold::escaping::printable;
use retold::log::Reader;
use retold::members::Members;
use serde_json::{Value, json};

use super::SHOWN;
use crate::error::CliError;

/// The decisions about the audited answer that are in force: those of its own run, and those that were accepted since.
pub(super) fn decisions_in_force(
    reader: &mut dyn Reader,
    of: &Audit,
    effective: &EffectiveDecisions,
) -> Result<Vec<AnswerDecision>, CliError> {
    if let Some(damage) = effective.damage() {
        return Err(damage.clone().into());
    }
    let decisions = CallDecisions::open(reader, of.run)?;
    let mut all = decisions.about(reader, (&of.call, of.sample))?;
    all.retain(|decision| decision.in_force);
    Ok(all)
}

pub(super) fn json(AnswerDecision { run, seq, made, .. }: &AnswerDecision) -> Value {
    let (name, method, details) = (made.by.decides(), &made.by.method, &made.details);
    let mut object =
        json!({"run": run, "seq": seq, "name": name, "method": method, "value": details.value});
    if let Some(choice) = details.choice {
        object.set("choice", choice.into());
    }
    object
}

/// The line about a decision that was accepted since.
pub(super) fn text(AnswerDecision { run, seq, made, .. }: &AnswerDecision) -> String {
    format!(
        "in force is a decision that was accepted since: {} {} ({}), run {run} seq {seq}\n",
        printable(made.by.decides(), SHOWN),
        printable(&made.details.value.to_string(), SHOWN),
        printable(&made.by.method, SHOWN),
    )
}
