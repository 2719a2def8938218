//! The state of a run after any of its events.

use retold::id::Seq;
use serde::Serialize;
use serde_json::Value;

use super::row::{Row, row};
use super::{OfRun, Reply};
use crate::error::PageError;
use crate::facts::{At, Fold};
use crate::job::locked;
use crate::runs::Notice;
use crate::tree::{Node, tree};

#[derive(Serialize)]
struct State {
    /// The event after which this is the state.
    at: u64,
    end: u64,
    /// How many facts are in it, and how many the run has.
    facts: usize,
    all_facts: usize,
    /// The last fact up to there.
    fact: Option<Row>,
    /// The facts before and after that one.
    previous: Option<u64>,
    next: Option<u64>,
    /// The state as a tree, cut; `None` while it is being folded.
    tree: Option<Node>,
    /// The state itself, or the part of it that a pointer names: only in JSON.
    state: Option<Value>,
    /// The JSON pointer.
    pointer: Option<String>,
    /// How many facts have been folded so far.
    folded: usize,
    to_fold: usize,
}

pub(super) fn page(mut of: OfRun<'_>) -> Result<Reply, PageError> {
    let query = &of.asked.query;
    let pointer = query.text("pointer")?;
    let wanted = query.parsed::<u64>("at")?;
    let untrusted = of.asked.site.untrusted(&of.head);
    let slot = of.asked.site.roll(&of.head);
    let end = of.head.head.seq.max(slot.roll().end());
    if let Some(wanted) = wanted.filter(|wanted| *wanted > end.0) {
        return Err(PageError::NotFound(format!(
            "run {} has no event {wanted}: its last one is {end}",
            of.info.short
        )));
    }
    let study = of.asked.site.studies.find(&of.info.experiment);
    let Some(study) = study.filter(|_| of.info.kind == "study") else {
        let message = "Only runs of a study that this program has can be folded into a state.";
        return Err(PageError::NotFound(message.to_owned()));
    };
    let settings = of.settings().ok_or_else(|| without_settings(&of.info.short))?;
    let experiment = study.build(&settings).map_err(|error| {
        PageError::NotFound(format!(
            "The settings of this run do not work with this release: {error}"
        ))
    })?;
    let at = wanted.map_or(end, Seq);
    let fold = of.asked.site.fold(of.head.run);
    let mut fold = locked(&fold);
    let reader = of.reader.as_mut();
    if fold.is_none() {
        *fold = Some(Fold::new(reader, of.head.run, experiment.folding())?);
    }
    let Some(fold) = fold.as_mut() else { return Err(without_settings(&of.info.short)) };
    if fold.end() < end {
        fold.read_on(reader, end)?;
    }
    let found = fold.at(reader, at)?;
    let (last, next) = fold.around(at);
    let (previous, _) = fold.around(Seq(last.map_or(0, |last| last.0.saturating_sub(1))));
    let all_facts = fold.facts();
    let fact = match last {
        Some(last) => Some(row(of.head.run, &of.event(last)?, untrusted)),
        None => None,
    };
    let mut data = State {
        at: at.0,
        end: end.0,
        facts: 0,
        all_facts,
        fact,
        previous: last.and(Some(previous.map_or(0, |previous| previous.0))),
        next: next.map(|next| next.0),
        tree: None,
        state: None,
        pointer: None,
        folded: 0,
        to_fold: 0,
    };
    let title = format!("State at {at}");
    match found {
        At::State { state, before, facts } => {
            data.facts = facts;
            let part = |state: &Value| match &pointer {
                Some(pointer) => state.pointer(pointer).cloned(),
                None => Some(state.clone()),
            };
            let Some(state) = part(&state) else {
                let (name, instead) = (pointer.unwrap_or_default(), "a part is named like /key/0");
                return Err(PageError::missing("the state", "part", &name, instead));
            };
            let before = before.and_then(|before| part(&before));
            data.tree = Some(tree(&state, before.as_ref()));
            data.state = of.asked.json.then_some(state);
            data.pointer = pointer;
            of.page("state", title, false, data)
        }
        At::Folding { facts, of: all } => {
            (data.folded, data.to_fold) = (facts, all);
            of.page("state", title, true, data)
        }
        At::Broken { facts, why } => {
            data.folded = facts;
            let text = format!("The state can be followed up to fact {facts}: {why}");
            of.page_with("state", title, false, vec![Notice::danger(text)], data)
        }
    }
}

fn without_settings(run: &str) -> PageError {
    PageError::NotFound(format!(
        "run {run} has no state: the settings that it was recorded with cannot be read"
    ))
}
