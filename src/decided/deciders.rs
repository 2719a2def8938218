//! Names under which runs have decisions of different parsers.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{DecisionAbout, decisions_about};
use crate::counted::count_of;
use crate::escaping::printable;
use crate::event::DecidedBy;
use crate::id::RunId;
use crate::log::{LogError, Reader};

/// How much of the names of parsers is shown, in characters.
const SHOWN: usize = 120;

/// The most runs that a sentence names.
const MOST_NAMED: usize = 4;

/// The makers of the decisions in force about the answers of a run.
#[derive(Debug, Clone)]
pub struct RunDeciders {
    run: RunId,
    /// By the name of the decisions: who made them, and whether a parser did, which can decide about other answers.
    by_name: BTreeMap<String, BTreeMap<String, bool>>,
}

/// A name under which runs have decisions of different parsers, so that a difference of their values is not one of the answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeciderDifference {
    /// The name.
    pub name: String,
    /// Runs that were decided alike, with what decided them.
    pub groups: Vec<DecidedRuns>,
    /// Whether parsers made all of them.
    #[serde(skip)]
    can_be_decided_again: bool,
}

/// Runs whose decisions with a name were made by the same parsers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DecidedRuns {
    /// What decided.
    pub by: Vec<String>,
    /// The runs.
    pub runs: Vec<RunId>,
}

impl RunDeciders {
    /// None so far.
    pub fn new(run: RunId) -> Self {
        RunDeciders { run, by_name: BTreeMap::new() }
    }

    /// Those of a run.
    ///
    /// # Errors
    /// [`LogError`] if the run cannot be read, or one of accepted decisions about its answers.
    pub fn read(reader: &mut dyn Reader, run: RunId) -> Result<Self, LogError> {
        let mut deciders = RunDeciders::new(run);
        decisions_about(reader, run, |DecisionAbout { joined, .. }| {
            if joined.in_force {
                deciders.add(&joined.made.by);
            }
        })?;
        Ok(deciders)
    }

    /// Adds the maker of a decision that is in force.
    pub fn add(&mut self, by: &DecidedBy) {
        let (name, made_by) = (by.decides(), by.made_by());
        match self.by_name.get_mut(name) {
            Some(all) => drop(all.insert(made_by, !by.is_reported())),
            None => {
                let all = BTreeMap::from([(made_by, !by.is_reported())]);
                self.by_name.insert(name.to_owned(), all);
            }
        }
    }
}

/// The names under which several of the runs have decisions, but not of the same parsers.
pub fn decider_differences(runs: &[RunDeciders]) -> Vec<DeciderDifference> {
    let names: BTreeSet<&String> = runs.iter().flat_map(|run| run.by_name.keys()).collect();
    let mut differences = Vec::new();
    for name in names {
        let mut groups: Vec<DecidedRuns> = Vec::new();
        let mut can_be_decided_again = true;
        for (run, deciders) in runs.iter().filter_map(|of| Some((of.run, of.by_name.get(name)?))) {
            can_be_decided_again &= deciders.values().all(|is_parser| *is_parser);
            let by: Vec<String> = deciders.keys().cloned().collect();
            match groups.iter_mut().find(|group| group.by == by) {
                Some(group) => group.runs.push(run),
                None => groups.push(DecidedRuns { by, runs: vec![run] }),
            }
        }
        if groups.len() > 1 {
            differences.push(DeciderDifference {
                name: name.clone(),
                groups,
                can_be_decided_again,
            });
        }
    }
    differences
}

impl DeciderDifference {
    /// A sentence about it, with the command that decides all of the runs alike.
    pub fn text(&self) -> String {
        let shown = |text: &str| printable(text, SHOWN);
        let by = self.groups.iter().map(|DecidedRuns { by, runs }| {
            let named: Vec<String> = runs.iter().take(MOST_NAMED).map(|run| run.short(8)).collect();
            let more = match runs.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let runs = if runs.len() > 1 { "runs" } else { "run" };
            format!("by {} in {runs} {}{more}", shown(&by.join(", ")), named.join(", "))
        });
        let by: Vec<String> = by.collect();
        let all: Vec<&RunId> = self.groups.iter().flat_map(|group| &group.runs).collect();
        let mend = if !self.can_be_decided_again {
            "a difference between the runs may be one between these".to_owned()
        } else if all.len() > 2 * MOST_NAMED {
            let all = count_of(all.len() as u64, "run");
            format!(
                "`retold check RUN.. --accept` with all {all} decides them alike by the latest version, or with --parser or --parsers by another"
            )
        } else {
            let all: Vec<String> = all.iter().map(|run| run.short(8)).collect();
            format!(
                "`retold check {} --accept` decides all alike by the latest version, or with --parser or --parsers by another",
                all.join(" ")
            )
        };
        format!("{} was decided {}; {mend}", shown(&self.name), by.join(" and "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(id: u8, deciders: &[(&str, u64)]) -> RunDeciders {
        let mut run = RunDeciders::new(RunId([id; 8]));
        for (name, version) in deciders {
            let parser = json!({"name": name, "params": {}, "version": version});
            run.add(&DecidedBy { name: None, method: "m".to_owned(), parser });
        }
        run
    }

    #[test]
    fn runs_that_were_decided_alike_are_named_together() {
        let runs = [
            run(1, &[("vote", 1), ("mood", 1)]),
            run(2, &[("vote", 2), ("mood", 1)]),
            run(3, &[("vote", 1)]),
        ];
        let differences = decider_differences(&runs);
        let text: Vec<String> = differences.iter().map(DeciderDifference::text).collect();
        assert_eq!(
            text,
            [
                "vote was decided by vote@1 in runs 01010101, 03030303 and by vote@2 in run 02020202; `retold check 01010101 \
                 03030303 02020202 --accept` decides all alike by the latest version, or with --parser or --parsers by another"
            ]
        );
        assert!(decider_differences(&runs[..1]).is_empty());
        assert!(decider_differences(&[run(4, &[("vote", 1)]), run(5, &[("mood", 2)])]).is_empty());
    }

    #[test]
    fn no_command_is_offered_for_what_a_person_decided() {
        let person =
            json!({"name": "person", "params": {"name": "vote", "person": "ada"}, "version": 1});
        let mut labelled = RunDeciders::new(RunId([2; 8]));
        labelled.add(&DecidedBy { name: None, method: "labelled".to_owned(), parser: person });
        let differences = decider_differences(&[run(1, &[("vote", 1)]), labelled]);
        let text = differences[0].text();
        assert!(
            text.contains("by a person, ada: vote in run") && !text.contains("check"),
            "{text}"
        );
    }
}
