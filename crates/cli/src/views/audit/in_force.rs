//! The decisions about an audited answer that are in force.

use retold::audit::Audit;
use retold::decided::accepted_decisions;
use retold::effective::EffectiveDecisions;
use retold::escaping::printable;
use retold::event::DecisionMade;
use retold::id::{RunId, Seq};
use retold::log::Reader;
use retold::members::Members;
use serde_json::{Value, json};

use super::SHOWN;
use crate::error::CliError;

/// A decision that is in force, and where it is.
pub(super) struct DecisionInForce {
    pub(super) run: RunId,
    seq: Seq,
    made: DecisionMade,
}

/// The decisions about the audited answer that are in force: those of its own run, and those that were accepted since.
pub(super) fn decisions_in_force(
    reader: &mut dyn Reader,
    of: &Audit,
    effective: &EffectiveDecisions,
) -> Result<Vec<DecisionInForce>, CliError> {
    if let Some(damage) = effective.damage() {
        return Err(damage.clone().into());
    }
    let since = accepted_decisions(reader, of.run, (&of.call, of.sample))?;
    let mut own: Vec<_> = of.others.iter().chain(&of.decision).collect();
    own.sort_by_key(|link| link.seq);
    let replaced = |at: usize| {
        let made: &DecisionMade = &own[at].event;
        let mut later = own[at + 1..].iter().map(|link| &link.event);
        later.any(|later| later.replaces(made)) || since.iter().any(|it| it.made.replaces(made))
    };
    let in_force = |run: RunId, seq: Seq, made: &DecisionMade| DecisionInForce {
        run,
        seq,
        made: made.clone(),
    };
    let left = (0..own.len()).filter(|at| !replaced(*at));
    let left = left.map(|at| in_force(of.run, own[at].seq, &own[at].event));
    let accepted = since.iter().filter(|it| it.in_force);
    Ok(left.chain(accepted.map(|it| in_force(it.run, it.seq, &it.made))).collect())
}

impl DecisionInForce {
    pub(super) fn json(&self) -> Value {
        let DecisionInForce { run, seq, made } = self;
        let (name, method, details) = (made.by.decides(), &made.by.method, &made.details);
        let mut object =
            json!({"run": run, "seq": seq, "name": name, "method": method, "value": details.value});
        if let Some(choice) = details.choice {
            object.set("choice", choice.into());
        }
        object
    }

    /// The line about one that was accepted since.
    pub(super) fn text(&self) -> String {
        let DecisionInForce { run, seq, made } = self;
        format!(
            "in force is a decision that was accepted since: {} {} ({}), run {run} seq {seq}\n",
            printable(made.by.decides(), SHOWN),
            printable(&made.details.value.to_string(), SHOWN),
            printable(&made.by.method, SHOWN),
        )
    }
}
