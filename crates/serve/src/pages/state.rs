//! The state of a run after any of its events.

use retold::id::{RunId, Seq};
use retold::log::{EndedReader, LogError, Reader};
use retold::members::Members;
use retold::run::Folding;
use retold_study::settings::ExperimentSettings;
use serde::Serialize;
use serde_json::Value;

use super::row::{ListedEvent, row};
use super::{PageReply, RunPageRequest};
use crate::background::lock;
use crate::error::PageError;
use crate::facts::{At, Fold, StateError};
use crate::runs::Notice;
use crate::tree::{TreeNode, tree};
use retold_archive::Damage;

#[derive(Serialize)]
struct State {
    /// The event after which this is the state.
    at: u64,
    end: u64,
    /// How many facts there are up to there, and how many the run has.
    facts: usize,
    all_facts: usize,
    /// The last fact up to there.
    fact: Option<ListedEvent>,
    /// The facts before and after that one.
    previous: Option<u64>,
    next: Option<u64>,
    /// The state as a tree, cut; `None` while it is being folded.
    tree: Option<TreeNode>,
    /// The state itself, or the part of it that a pointer names: only in JSON.
    state: Option<Value>,
    /// The JSON pointer.
    pointer: Option<String>,
    /// How many of the facts up to there have been folded, if not all.
    folded: Option<usize>,
}

/// The keys of its query.
pub(super) const KEYS: &[&str] = &["at", "pointer"];

impl RunPageRequest<'_> {
    /// The experiment's part of the run's settings.
    fn settings(&self) -> Option<ExperimentSettings> {
        let mut reader = self.asked.site.reader().ok()?;
        let mut started = retold::run::run_start(reader.as_mut(), self.head.run).ok()?;
        Some(ExperimentSettings::Recorded(started.settings.take_at("/experiment")))
    }
}

pub(super) fn page(mut of: RunPageRequest<'_>) -> Result<PageReply, PageError> {
    let query = &of.asked.query;
    let pointer = query.text("pointer")?;
    let wanted = query.parse::<u64>("at")?;
    let damage = of.asked.site.damage(&of.head);
    let slot = of.asked.site.roll(&of.head);
    let last = of.head.head.seq.max(slot.roll().end());
    // Neither a damaged event nor the events after it are folded.
    let trusted = damage.as_ref().map(|damage| Seq(damage.seq.0.saturating_sub(1)));
    let end = trusted.map_or(last, |trusted| trusted.min(last));
    let at = wanted.map_or(end, Seq);
    if let Some(damage) = damage.filter(|damage| at >= damage.seq || end == Seq(0)) {
        return Err(untrusted_error(at, &damage));
    }
    if at > end {
        return Err(PageError::NotFound(format!(
            "run {} has no event {at}: its last one is {end}",
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
    let fold = of.asked.site.fold(of.head.run);
    let mut fold = lock(&fold);
    let mut reader = EndedReader::as_of(of.asked.site.reader()?, of.head.run, end);
    let folded = fold_to(&mut fold, &mut reader, of.head.run, at, end, || experiment.folding());
    // In a long run, damage is noticed when it is read.
    let (fold, found) = folded.map_err(|error| match error {
        StateError::Log(LogError::Corrupt { seq, fault, .. }) => {
            untrusted_error(at, &Damage { seq, fault: *fault })
        }
        error => error.into(),
    })?;
    let (last, next) = fold.around(at);
    let (previous, _) = fold.around(Seq(last.map_or(0, |last| last.0.saturating_sub(1))));
    let next = next.filter(|next| *next <= end);
    let (facts, all_facts) = (fold.facts(at), fold.facts(end));
    let fact = match last {
        Some(last) => Some(row(of.head.run, &of.event(last)?, None)),
        None => None,
    };
    let mut data = State {
        at: at.0,
        end: end.0,
        facts,
        all_facts,
        fact,
        previous: last.and(Some(previous.map_or(0, |previous| previous.0))),
        next: next.map(|next| next.0),
        tree: None,
        state: None,
        pointer: None,
        folded: None,
    };
    let title = format!("State at {at}");
    match found {
        At::State { state, before, .. } => {
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
        At::Folding { facts } => {
            data.folded = Some(facts);
            of.page("state", title, true, data)
        }
        At::Broken { facts, why } => {
            data.folded = Some(facts);
            let text = format!("The state can be followed up to fact {facts}: {why}");
            of.page_with("state", title, false, vec![Notice::danger(text)], data)
        }
    }
}

/// The state after an event, and the fold that made it; `end` is the last event that can be folded.
fn fold_to<'a>(
    fold: &'a mut Option<Fold>,
    reader: &mut dyn Reader,
    run: RunId,
    at: Seq,
    end: Seq,
    begin: impl FnOnce() -> Box<dyn Folding>,
) -> Result<(&'a Fold, At), StateError> {
    let fold = match fold {
        Some(fold) => fold,
        None => fold.insert(Fold::new(reader, run, begin())?),
    };
    if fold.end() < end {
        fold.read_on(reader, end)?;
    }
    let found = fold.at(reader, at)?;
    Ok((fold, found))
}

/// Refuses the state at an event that is damaged, or after it.
fn untrusted_error(at: Seq, damage: &Damage) -> PageError {
    PageError::Untrusted { message: damage.no_state_after(at), last_good: damage.last_good() }
}

fn without_settings(run: &str) -> PageError {
    PageError::NotFound(format!(
        "run {run} has no state: the settings that it was recorded with cannot be read"
    ))
}
