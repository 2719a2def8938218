//! What prompts were made from, as studies declare it: exact in audits, compared by replays.

mod compared;
mod matches;
mod pairs;
mod random;
mod studies;

use std::collections::BTreeSet;

use retold::audit::{Audit, DeclaredSources, Origin, PromptRelation, Target, audit};
use retold::id::{CallPath, RunId};
use retold::log::Log;
use retold::parse::Parsers;

/// The audit of a call's first sample.
fn audited(log: &Log, run: RunId, call: &str) -> Audit {
    let target = Target::Call(CallPath::new(call).unwrap(), Some(0));
    audit(log.reader().unwrap().as_mut(), run, &target, &Parsers::default()).unwrap()
}

/// What the audited prompt was made from, including everything that the earlier questions it names
/// were made from.
fn sources(audit: &Audit) -> BTreeSet<String> {
    let DeclaredSources::Kept { prompts, complete, .. } = &audit.declared else {
        panic!("not kept")
    };
    assert!(complete);
    let own = prompts.iter().filter(|made| made.part != PromptRelation::Behind);
    own.flat_map(|made| &made.from).filter_map(named).collect()
}

/// A decision by its call, a fact by its text; `None` for a question, which represents its own
/// sources.
fn named(origin: &Origin) -> Option<String> {
    match origin {
        Origin::Decision { call, sample, decision, .. } => {
            assert!(decision.is_some(), "{call}");
            Some(format!("{call}#{sample}"))
        }
        Origin::Fact { fact, .. } => Some(fact.event.to_string()),
        Origin::Question { .. } => None,
        Origin::Draws { .. } | Origin::Other { .. } => panic!("{origin:?}"),
    }
}
