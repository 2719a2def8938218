//! The facts of the experiment and the state they fold into.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::{Deserialize, Serialize};

use retold::members::Members;
use retold::run::Report;

/// The verdict for a correct answer.
const VALID: &str = "valid";

/// All samples of one puzzle have been answered and graded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GradedPuzzle {
    /// How many samples were decided by each method.
    pub methods: BTreeMap<String, u32>,
    /// The puzzle's numbers.
    pub puzzle: String,
    /// Its row in the list, from 0.
    pub row: u64,
    /// How many samples were asked for.
    pub samples: u32,
    /// The samples whose call failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unanswered: Vec<u32>,
    /// How many samples got each verdict: `valid`, or the reason why not.
    pub verdicts: BTreeMap<String, u32>,
    /// The samples that solved it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solved_by: Vec<u32>,
}

impl GradedPuzzle {
    pub(super) fn add(&mut self, sample: u32, verdict: &str, method: &str) {
        count(&mut self.verdicts, verdict, 1);
        count(&mut self.methods, method, 1);
        if verdict == VALID {
            self.solved_by.push(sample);
        }
    }
}

fn count<N: std::ops::AddAssign + Default>(map: &mut BTreeMap<String, N>, key: &str, by: N) {
    match map.get_mut(key) {
        Some(n) => *n += by,
        None => drop(map.insert(key.to_owned(), by)),
    }
}

/// The state, per puzzle and overall.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Tally {
    /// Graded answers, excluding failed calls.
    pub answers: u64,
    /// Calls that failed.
    pub unanswered: u64,
    /// Answers by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Answers by method.
    pub methods: BTreeMap<String, u64>,
    /// Correct answers and all answers of each puzzle, by row.
    pub puzzles: BTreeMap<u64, PuzzleTally>,
}

/// One puzzle.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PuzzleTally {
    /// Its numbers.
    pub puzzle: String,
    /// Correct answers.
    pub solved: u32,
    /// Answers.
    pub answers: u32,
}

impl Tally {
    pub(super) fn add(&mut self, graded: &GradedPuzzle) {
        let GradedPuzzle { methods, puzzle, row, samples, unanswered, verdicts, solved_by: _ } =
            graded;
        let failed = u32::try_from(unanswered.len()).unwrap_or(*samples);
        let answers = samples.saturating_sub(failed);
        self.answers += u64::from(answers);
        self.unanswered += u64::from(failed);
        verdicts.iter().for_each(|(key, n)| count(&mut self.verdicts, key, u64::from(*n)));
        methods.iter().for_each(|(key, n)| count(&mut self.methods, key, u64::from(*n)));
        let solved = verdicts.get(VALID).copied().unwrap_or(0);
        self.puzzles.insert(*row, PuzzleTally { puzzle: puzzle.clone(), solved, answers });
    }

    fn share(&self, n: u64) -> f64 {
        if self.answers == 0 { 0.0 } else { n as f64 / self.answers as f64 }
    }

    /// The report, if that many puzzles are to be graded in all.
    pub(super) fn report(&self, due: usize) -> Report {
        let solved = self.verdicts.get(VALID).copied().unwrap_or(0);
        let puzzles_solved = self.puzzles.values().filter(|p| p.solved > 0).count();
        let mut text = String::new();
        // Writing to a string cannot fail.
        let graded = self.puzzles.len();
        let is_complete = graded >= due;
        if !is_complete {
            let _ = writeln!(text, "graded so far: {graded} of {due} puzzles");
        }
        if is_complete || graded > 0 {
            let _ = writeln!(
                text,
                "solved {solved} of {} answers ({:.2} %); {puzzles_solved} of {graded} puzzles at least once",
                self.answers,
                self.share(solved) * 100.0,
            );
        }
        // Until the end, these are only the failed calls of graded puzzles.
        if is_complete && self.unanswered > 0 {
            let _ = writeln!(text, "calls that failed: {}", self.unanswered);
        }
        for (title, table) in [("by verdict", &self.verdicts), ("by method", &self.methods)] {
            if !table.is_empty() {
                let _ = writeln!(text, "{title}:");
            }
            for (key, n) in table {
                let _ = writeln!(text, "  {key:<24}{n:>8}  {:>6.2} %", self.share(*n) * 100.0);
            }
        }
        let mut json = serde_json::json!(self);
        json.set("solve_rate", self.share(solved).into());
        Report { json, text, ..Report::default() }
    }
}
