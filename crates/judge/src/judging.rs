//! The answers of judges about one answer, as they arrive.

use std::collections::BTreeSet;

use retold::run::{Answer, CallFailed, DecisionRef};
use serde_json::Value;

use crate::config::{JudgeSettings, JudgedAnswer};
use crate::rule::{JointVerdict, VerdictRule};
use crate::state::Judged;
use crate::verdicts::{TIE, Verdicts};

/// A call about an answer: which judge is asked, and in which order a pair is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JudgeCall {
    /// The number of the judge, from 0.
    pub(crate) judge: usize,
    pub(crate) is_swapped: bool,
    pub(crate) sample: u32,
}

impl JudgeCall {
    /// The calls about each answer, in order.
    pub(crate) fn each(settings: &JudgeSettings) -> impl Iterator<Item = JudgeCall> {
        let (samples, orders) = (settings.samples, 1 + usize::from(settings.swap));
        let judges = 0..settings.models().len();
        judges.flat_map(move |judge| {
            [false, true].into_iter().take(orders).flat_map(move |is_swapped| {
                (0..samples).map(move |sample| JudgeCall { judge, is_swapped, sample })
            })
        })
    }
}

/// What judges say of one answer.
pub(crate) struct Judging<'a> {
    answer: &'a JudgedAnswer,
    /// The calls that are still to be answered, in order.
    due: Vec<JudgeCall>,
    asked: usize,
    samples: Vec<(JudgeCall, Value)>,
    causes: Vec<DecisionRef>,
    warnings: BTreeSet<String>,
}

impl<'a> Judging<'a> {
    pub(crate) fn new(answer: &'a JudgedAnswer, settings: &JudgeSettings) -> Self {
        let (samples, causes, warnings) = (Vec::new(), Vec::new(), BTreeSet::new());
        let due = JudgeCall::each(settings).collect();
        Judging { answer, due, asked: 0, samples, causes, warnings }
    }

    /// True if all calls were answered, or failed.
    pub(crate) fn is_complete(&self) -> bool {
        self.asked >= self.due.len()
    }

    pub(crate) fn add(&mut self, answered: Result<Answer<Value>, CallFailed>) {
        let Some(call) = self.due.get(self.asked).copied() else { return };
        self.asked += 1;
        if let Ok(answered) = answered {
            let said = match self.answer.other {
                Some(_) => Verdicts::of_pair(&answered.value, call.is_swapped),
                None => answered.value,
            };
            self.samples.push((call, said));
            self.causes.push(answered.decision);
            self.warnings.extend(answered.warnings);
        }
    }

    pub(crate) fn into_judged(mut self, settings: &JudgeSettings) -> (Judged, Vec<DecisionRef>) {
        let rule = settings.rule.unwrap_or_else(|| VerdictRule::of(&settings.verdicts));
        let mut judges = Vec::new();
        for judge in 0..settings.models().len() {
            judges.push(self.verdict(judge, rule, settings));
        }
        let JointVerdict { verdict, warning } = match judges.as_slice() {
            [only] => JointVerdict { verdict: only.clone(), warning: None },
            several => rule.join(several, &settings.verdicts),
        };
        self.warnings.extend(warning);
        let Judging { answer, asked, samples, causes, warnings, .. } = self;
        let JudgedAnswer { seq, call, sample, .. } = answer;
        let unanswered = (asked - samples.len()) as u32;
        let judged = Judged {
            answer: *seq,
            call: call.clone(),
            sample: *sample,
            samples: samples.into_iter().map(|(_, said)| said).collect(),
            judges: if settings.judges.is_empty() { Vec::new() } else { judges },
            unanswered,
            verdict,
            warnings: warnings.into_iter().collect(),
        };
        (judged, causes)
    }

    /// The verdict of one judge: of a pair, a tie if it depends on the order, and none if one order has none.
    fn verdict(&mut self, judge: usize, rule: VerdictRule, settings: &JudgeSettings) -> Value {
        let mut in_order = |is_swapped: bool| {
            let is_it = |call: &JudgeCall| call.judge == judge && call.is_swapped == is_swapped;
            let said = self.samples.iter().filter(|(call, _)| is_it(call));
            let said: Vec<Value> = said.map(|(_, said)| said.clone()).collect();
            let JointVerdict { verdict, warning } = rule.join(&said, &settings.verdicts);
            self.warnings.extend(warning);
            verdict
        };
        let as_given = in_order(false);
        if !settings.swap {
            return as_given;
        }
        match in_order(true) {
            swapped if swapped == as_given => as_given,
            swapped if swapped.is_null() || as_given.is_null() => Value::Null,
            swapped => {
                let warning =
                    format!("the verdict depends on the order: {as_given}, then {swapped}");
                self.warnings.insert(warning);
                TIE.into()
            }
        }
    }
}
