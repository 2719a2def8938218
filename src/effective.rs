//! Which decisions are in force: those recorded in a run, and those that were accepted about its
//! answers, as runs of their own. Recorded decisions are never replaced in the run itself.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::counted::{count_of, group_digits};
use crate::decided::{JoinedDecision, decisions_of};
use crate::exchange::{AcceptedChain, accepted_about};
use crate::id::{RunId, Seq};
use crate::log::{LogError, Reader};

/// The longest run whose accepted decisions are compared with its own, in events.
const MOST_COMPARED: u64 = 100_000;

/// Two sets of decisions about the same answers.
#[derive(Debug, Clone, Serialize)]
pub struct DecisionReplacement {
    /// The other run.
    pub run: RunId,
    /// The accepted decisions; `None` if they were not compared.
    #[serde(skip)]
    pub accepted: Option<u64>,
    /// How many accepted decisions are in place of a recorded one: they have the same name and are about the same choice of
    /// the same answer. `None` if they were not compared.
    pub decisions: Option<u64>,
    /// How many of these have another value.
    pub flips: Option<u64>,
    /// How many of the accepted decisions are in force: nothing that was accepted later replaces them.
    /// `None` if they were not compared.
    pub in_force: Option<u64>,
    /// Which run is damaged, if that is why it cannot be told which of the accepted decisions are in force.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub damage: Option<LogError>,
}

fn as_text<S: Serializer>(error: &Option<LogError>, serializer: S) -> Result<S::Ok, S::Error> {
    error.as_ref().map(ToString::to_string).serialize(serializer)
}

/// The other sets of decisions about a run's answers, which are not in the run itself.
#[derive(Debug, Clone, Default, Serialize)]
pub struct EffectiveDecisions {
    /// The runs of accepted decisions about its answers, in the order in which they were accepted.
    pub accepted: Vec<DecisionReplacement>,
    /// For a run of accepted decisions: the run whose answers they are about.
    pub decides_about: Option<DecisionReplacement>,
    /// Whether that run is not in this log.
    pub is_elsewhere: bool,
    /// For a run of accepted decisions: the runs of decisions that were accepted later about the same
    /// run.
    pub later: Vec<RunId>,
}

/// Finds out which other decisions there are about the answers of a run. `reader` and `others` read
/// the same log.
///
/// # Errors
/// [`LogError`] if the log or the beginning of the run cannot be read.
pub fn effective_decisions(
    reader: &mut dyn Reader,
    others: &mut dyn Reader,
    run: RunId,
) -> Result<EffectiveDecisions, LogError> {
    let mut found = EffectiveDecisions::default();
    if let Some(AcceptedChain { of, .. }) = AcceptedChain::from(reader, run)? {
        found.is_elsewhere = !reader.runs()?.iter().any(|head| head.run == of);
        let accepted = accepted_about(others, of)?;
        let at = accepted.iter().position(|accepted| *accepted == run);
        found.later = at.map_or(Vec::new(), |at| accepted[at + 1..].to_vec());
        let replaced = replacement(reader, others, of, run)?;
        found.decides_about = Some(DecisionReplacement { run: of, ..replaced });
        return Ok(found);
    }
    for accepted in accepted_about(others, run)? {
        found.accepted.push(replacement(others, reader, run, accepted)?);
    }
    Ok(found)
}

/// An answer of a run with the choice and the name of a decision about it.
type DecidedAnswer = (Seq, u32, String);

fn is_long(reader: &mut dyn Reader, run: RunId) -> Result<bool, LogError> {
    let head = reader.runs()?.into_iter().find(|head| head.run == run);
    Ok(head.is_none_or(|head| head.head.seq.0 > MOST_COMPARED))
}

/// Compares accepted decisions with the recorded ones in whose place they are: those with the same name about the same
/// choice of the same answer.
fn replacement(
    reader: &mut dyn Reader,
    others: &mut dyn Reader,
    recorded: RunId,
    accepted: RunId,
) -> Result<DecisionReplacement, LogError> {
    let unknown = DecisionReplacement {
        run: accepted,
        accepted: None,
        decisions: None,
        flips: None,
        in_force: None,
        damage: None,
    };
    if is_long(reader, accepted)? {
        return Ok(unknown);
    }
    let (mut new, mut in_force) = (BTreeMap::<DecidedAnswer, Value>::new(), 0);
    let read = decisions_of(reader, accepted, |joined| {
        in_force += u64::from(joined.in_force);
        let answer = decided_answer(&joined);
        new.extend(answer.map(|answer| (answer, joined.made.details.value)));
    });
    match read {
        Err(error) if error.is_damage() => {
            return Ok(DecisionReplacement { damage: Some(error), ..unknown });
        }
        Err(error) => return Err(error),
        Ok(()) => {}
    }
    let counted = DecisionReplacement {
        accepted: Some(new.len() as u64),
        in_force: Some(in_force),
        ..unknown
    };
    if is_long(others, recorded)? {
        return Ok(counted);
    }
    let (mut decisions, mut flips) = (0, 0);
    // If this one is damaged, it is not compared: whoever shows it says so.
    let read = decisions_of(others, recorded, |joined| {
        // A program may report the same once more.
        if let Some(value) = decided_answer(&joined).and_then(|answer| new.remove(&answer)) {
            decisions += 1;
            flips += u64::from(value != joined.made.details.value);
        }
    });
    let known = read.is_ok();
    let count = |count: u64| known.then_some(count);
    Ok(DecisionReplacement { decisions: count(decisions), flips: count(flips), ..counted })
}

/// The answer of a decision with its choice and its name; `None` if the answer is not known.
fn decided_answer(joined: &JoinedDecision) -> Option<DecidedAnswer> {
    let (name, choice) = joined.made.subject();
    Some((joined.accepted_as?, choice, name.to_owned()))
}

impl EffectiveDecisions {
    /// Whether there is anything to say.
    pub fn is_plain(&self) -> bool {
        self.accepted.is_empty() && self.decides_about.is_none()
    }

    /// Why it cannot be told which decisions are in force: a run of accepted decisions is damaged.
    pub fn damage(&self) -> Option<&LogError> {
        self.accepted.iter().chain(&self.decides_about).find_map(|run| run.damage.as_ref())
    }

    /// What there is to say, line by line: which decisions are in force, and which are not any more.
    pub fn lines(&self) -> Vec<String> {
        if let Some(of) = &self.decides_about {
            return vec![self.about(of)];
        }
        let as_recorded = "the decisions of this run itself are as they were recorded".to_owned();
        if let Some(damage) = self.damage() {
            let unknown = format!(
                "decisions about these answers were accepted, but nobody can tell which are in force: {damage}"
            );
            return vec![unknown, as_recorded];
        }
        match self.accepted.as_slice() {
            [] => Vec::new(),
            [one] => {
                let run = one.run;
                let compared = one.difference();
                vec![
                    format!(
                        "decisions accepted about these answers are in force, in run {run}{compared}"
                    ),
                    as_recorded,
                ]
            }
            several => {
                let mut lines = vec![format!(
                    "decisions about these answers were accepted {}; of those with one name about one answer, the last is in force",
                    count_of(several.len() as u64, "time")
                )];
                lines.extend(several.iter().map(|accepted| {
                    let DecisionReplacement { run, accepted: all, in_force, .. } = accepted;
                    let in_force = match (in_force, all) {
                        (None, _) => String::new(),
                        (Some(0), _) => "; none is in force any more".to_owned(),
                        (Some(some), Some(all)) if some == all => "; all are in force".to_owned(),
                        (Some(some), _) => format!("; {} in force", group_digits(*some)),
                    };
                    format!("in run {run}{}{in_force}", accepted.difference())
                }));
                lines.push(as_recorded);
                lines
            }
        }
    }

    /// What there is to say about a run of accepted decisions.
    fn about(&self, of: &DecisionReplacement) -> String {
        let elsewhere = if self.is_elsewhere { ", which is not in this log" } else { "" };
        let later: Vec<String> = self.later.iter().map(ToString::to_string).collect();
        let later = later.join(", ");
        let stand = match of.in_force {
            _ if let Some(damage) = &of.damage => {
                format!("nobody can tell which of them are in force: {damage}")
            }
            _ if self.later.is_empty() && of.decisions == Some(0) => "they are in force".to_owned(),
            _ if self.later.is_empty() => "they replace the ones recorded there".to_owned(),
            Some(all) if of.accepted == Some(all) => "they are in force".to_owned(),
            Some(0) => format!("none of them is in force any more: later ones are in run {later}"),
            Some(some) => format!(
                "{} of them in force, the others are replaced by later ones, in run {later}",
                group_digits(some)
            ),
            None => format!("where run {later} decides about the same answer, that is in force"),
        };
        let compared = of.difference();
        format!(
            "accepted decisions about the answers of run {}{elsewhere}{compared}; {stand}",
            of.run
        )
    }
}

impl DecisionReplacement {
    /// How the two sets differ, if they were compared.
    fn difference(&self) -> String {
        let (Some(accepted), Some(both), Some(flips)) = (self.accepted, self.decisions, self.flips)
        else {
            return String::new();
        };
        let all = count_of(accepted, "decision");
        match both {
            0 => format!(": {all}, none in place of a recorded one"),
            both if both == accepted => {
                format!(": {all}, {} with another value", group_digits(flips))
            }
            both => format!(
                ": {all}, {} in place of a recorded one, {} of these with another value",
                group_digits(both),
                group_digits(flips)
            ),
        }
    }
}
