//! How decisions were found.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{MOST, OTHERS};
use crate::decide::last_resort;
use crate::event::{DecisionMade, REPORTED};
use crate::parse::Parsers;

/// The decisions of one parser.
#[derive(Debug, Clone)]
pub(super) struct Decisions {
    /// The parser as it was recorded first.
    parser: Value,
    methods: BTreeMap<String, MethodCounts>,
    warned: u64,
}

/// The decisions of one method.
#[derive(Debug, Clone, Copy, Default)]
struct MethodCounts {
    decisions: u64,
    null: u64,
}

/// Decisions by parser.
#[derive(Debug, Clone, Default)]
pub(super) struct ByParser(BTreeMap<String, Decisions>);

/// The decisions of one parser.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ParserFigures {
    /// All of them.
    pub decisions: u64,
    /// Those whose value is null.
    pub null: u64,
    /// Those with warnings.
    pub with_warnings: u64,
    /// The share with a value that a strategy found: all but the last resort, and but null. `None` if it is not known which
    /// method that is.
    pub found: Option<f64>,
    /// By method, the most frequent first.
    pub methods: Vec<MethodFigures>,
}

/// The decisions of one method.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MethodFigures {
    /// The method.
    pub method: String,
    /// How many.
    pub decisions: u64,
    /// Those whose value is null.
    pub null: u64,
    /// Their share of the parser's decisions.
    pub share: f64,
    /// Whether it is the parser's last resort: nothing was found in the answer.
    pub is_last_resort: bool,
}

impl ByParser {
    pub(super) fn add(&mut self, made: &DecisionMade) {
        let parser = &made.by.parser;
        let name = made.by.made_by();
        let new = || Decisions { parser: parser.clone(), methods: BTreeMap::new(), warned: 0 };
        let of = entry(&mut self.0, &name, new);
        of.warned += u64::from(!made.details.warnings.is_empty());
        let method = entry(&mut of.methods, &made.by.method, MethodCounts::default);
        method.decisions += 1;
        method.null += u64::from(made.details.value.is_null());
    }

    /// Adds the decisions about other answers.
    pub(super) fn merge(&mut self, other: &ByParser) {
        for (name, more) in &other.0 {
            let Decisions { parser, methods, warned } = more;
            let new = || Decisions { parser: parser.clone(), methods: BTreeMap::new(), warned: 0 };
            let of = entry(&mut self.0, name, new);
            of.warned += warned;
            for (method, more) in methods {
                let of = entry(&mut of.methods, method, MethodCounts::default);
                of.decisions += more.decisions;
                of.null += more.null;
            }
        }
    }

    /// The figures that are shown. `parsers` know which methods are last resorts.
    pub(super) fn figures(&self, parsers: &Parsers) -> BTreeMap<String, ParserFigures> {
        let each = self.0.iter().map(|(name, of)| (name.clone(), of.figures(parsers)));
        each.collect()
    }
}

impl Decisions {
    fn figures(&self, parsers: &Parsers) -> ParserFigures {
        // Most programs do not say that they found nothing.
        let is_said =
            |last: &&str| self.parser["name"] != REPORTED || self.methods.contains_key(*last);
        let last_resort = last_resort(&self.parser, parsers).filter(is_said);
        let decisions: u64 = self.methods.values().map(|method| method.decisions).sum();
        let null = self.methods.values().map(|method| method.null).sum();
        let share = |count: u64| if decisions == 0 { 0.0 } else { count as f64 / decisions as f64 };
        let method = |(method, count): (&String, &MethodCounts)| MethodFigures {
            method: method.clone(),
            decisions: count.decisions,
            null: count.null,
            share: share(count.decisions),
            is_last_resort: last_resort == Some(method),
        };
        let mut methods: Vec<MethodFigures> = self.methods.iter().map(method).collect();
        methods.sort_by_key(|method| std::cmp::Reverse(method.decisions));
        let found = methods.iter().filter(|method| !method.is_last_resort);
        let found =
            last_resort.map(|_| share(found.map(|method| method.decisions - method.null).sum()));
        let with_warnings = self.warned;
        ParserFigures { decisions, null, with_warnings, found, methods }
    }
}

/// The entry with a name, or the one for all others if there are too many.
pub(super) fn entry<'a, T>(
    all: &'a mut BTreeMap<String, T>,
    name: &str,
    new: impl FnOnce() -> T,
) -> &'a mut T {
    let is_full = all.len() >= MOST && !all.contains_key(name);
    all.entry(if is_full { OTHERS } else { name }.to_owned()).or_insert_with(new)
}
