//! All that the texts of a deposit are written from.

use std::collections::BTreeSet;

use retold::counted::count_of;
use retold::id::RunId;
use retold_plan::RegisteredPlan;
use retold_report::{ReportPage, RunPart, RunSummary};

use crate::manifest::Manifest;
use crate::markdown::{code, codes};
use crate::requests::RequestFacts;

/// What a deposit is about.
pub struct DepositFacts<'a> {
    /// The runs with their figures.
    pub page: &'a ReportPage,
    /// The requests of each run, in their order.
    pub requests: &'a [RequestFacts],
    /// The plan by which the runs were recorded.
    pub plan: Option<(RunId, &'a RegisteredPlan)>,
    /// All runs of the deposit.
    pub manifest: &'a Manifest,
    /// Whether a seal is in it.
    pub is_sealed: bool,
}

/// A file of a deposit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Its path in the deposit.
    pub name: String,
    /// What is in it.
    pub text: String,
}

impl TextFile {
    pub(crate) fn new(name: &str, text: impl Into<String>) -> Self {
        TextFile { name: name.to_owned(), text: text.into() }
    }
}

impl DepositFacts<'_> {
    pub(crate) fn has_texts(&self) -> bool {
        self.manifest.texts
    }

    pub(crate) fn summaries(&self) -> impl Iterator<Item = &RunSummary> {
        self.page.runs.iter().map(|part: &RunPart| &part.summary)
    }

    /// The study, as people call it.
    pub(crate) fn title(&self) -> String {
        self.page.title()
    }

    pub(crate) fn is_simulated(&self) -> bool {
        self.summaries().any(|summary| summary.started.is_simulated())
    }

    /// The models that were asked, with what servers called those that answered.
    pub(crate) fn models(&self) -> String {
        let asked: BTreeSet<&str> =
            self.summaries().flat_map(|of| of.figures.models.keys()).map(String::as_str).collect();
        let reported: BTreeSet<&str> = self
            .summaries()
            .flat_map(|of| of.figures.all.counts.reported_as.keys())
            .map(String::as_str)
            .collect();
        let kinds: BTreeSet<&str> =
            self.summaries().filter_map(|of| of.started.model["kind"].as_str()).collect();
        let reported = match reported.is_empty() {
            true => "; no answer says which version answered".to_owned(),
            false => format!("; the answers say that {} answered", codes(reported)),
        };
        let kinds = match kinds.is_empty() {
            true => String::new(),
            false => format!(" (kind of server: {})", codes(kinds)),
        };
        format!("{}{kinds}{reported}", codes(asked))
    }

    /// The first and the last day.
    pub(crate) fn days(&self) -> String {
        let day = |time: retold::id::Time| time.to_string().chars().take(10).collect::<String>();
        let first = self.summaries().map(|of| of.began).min().map(day).unwrap_or_default();
        let last = self.summaries().map(|of| of.ended).max().map(day).unwrap_or_default();
        if first == last { first } else { format!("{first} to {last}") }
    }

    pub(crate) fn calls(&self) -> u64 {
        self.summaries().map(|of| of.figures.all.counts.calls.asked).sum()
    }

    /// How many runs there are, and their seeds.
    pub(crate) fn runs(&self) -> String {
        let seeds: BTreeSet<String> = self
            .summaries()
            .filter_map(|of| of.started.drawn_from())
            .map(|seed| seed.to_string())
            .collect();
        let runs = count_of(self.page.runs.len() as u64, "run");
        let calls = count_of(self.calls(), "call");
        match seeds.is_empty() {
            true => format!("{runs} with {calls}"),
            false => {
                let seeds: Vec<String> = seeds.into_iter().collect();
                format!(
                    "{runs} with {calls}; seeds of the program's own random choices: {}",
                    seeds.join(", ")
                )
            }
        }
    }

    /// By model: each set of parameters.
    pub(crate) fn parameters(&self) -> Vec<String> {
        let mut lines = BTreeSet::new();
        for (model, sets) in self.requests.iter().flat_map(|of| &of.parameters) {
            for set in sets {
                let set = if self.has_texts() { set.clone() } else { without_words(set) };
                let set = if set == "{}" { "no parameters".to_owned() } else { code(&set) };
                lines.insert(format!("{}: {set}", code(model)));
            }
        }
        lines.into_iter().collect()
    }

    /// What decided, with how many decisions.
    pub(crate) fn deciders(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for summary in self.summaries() {
            let name = summary.run.short(8);
            for (parser, of) in &summary.figures.all.counts.parsers {
                let methods: Vec<String> = of
                    .methods
                    .iter()
                    .map(|method| {
                        let is_last = if method.is_last_resort { ", its last resort" } else { "" };
                        format!("{} {}{is_last}", code(&method.method), method.decisions)
                    })
                    .collect();
                let decisions = count_of(of.decisions, "decision");
                lines.push(format!(
                    "run {name}: {} made {decisions} ({})",
                    code(parser),
                    methods.join(", ")
                ));
            }
            for accepted in &summary.figures.accepted {
                for (parser, of) in &accepted.parsers {
                    let decisions = count_of(of.decisions, "decision");
                    lines.push(format!(
                        "run {name}: {} made {decisions}, which were accepted later",
                        code(parser)
                    ));
                }
            }
        }
        lines
    }

    /// How far those agree who decided about the same answers.
    pub(crate) fn agreement(&self) -> Vec<String> {
        let of_part = |part: &RunPart| {
            let paired = part.agreement.as_ref()?;
            let raters = codes(paired.raters.iter().map(|of| of.rater.as_str()));
            let rated = count_of(paired.rated, "answer");
            let differing = paired.differing.len();
            Some(format!("{raters} decided about the same {rated} and differ in {differing}"))
        };
        self.page.runs.iter().filter_map(of_part).collect()
    }

    /// Tokens and cost.
    pub(crate) fn spending(&self) -> Vec<String> {
        let of_run = |of: &RunSummary| {
            let all = &of.figures.all;
            format!(
                "run {}: tokens {}; cost: {}",
                of.run.short(8),
                all.counts.tokens.text(),
                all.cost.lines().join("; ")
            )
        };
        self.summaries().map(of_run).collect()
    }

    /// A sum over the requests.
    pub(crate) fn sum(&self, of: impl Fn(&RequestFacts) -> u64) -> u64 {
        self.requests.iter().map(of).sum()
    }
}

/// Parameters without the texts among their values.
fn without_words(set: &str) -> String {
    let parameters: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(set).unwrap_or_default();
    let shown = parameters.into_iter().map(|(name, value)| {
        let is_plain = value.is_number() || value.is_boolean() || value.is_null();
        (name, if is_plain { value } else { "not shown".into() })
    });
    serde_json::Value::Object(shown.collect()).to_string()
}
