//! What a filter names that a run never has: a misspelt kind, method or model.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use retold::id::{RunId, Seq};
use retold::inert::inert;
use retold::log::{EventFilter, LogError, Reader, method_and_model};

/// The most values that are listed.
const MOST: usize = 40;

/// Values of one option that no event of the run has.
pub(super) struct Never {
    option: &'static str,
    given: Vec<String>,
    /// Those that there are, and how many more than these.
    has: BTreeSet<String>,
    more: usize,
}

/// What a filter names that a run never has. Reads the whole run.
///
/// # Errors
/// [`LogError`] if it cannot be read.
pub(super) fn never(
    reader: &mut dyn Reader,
    run: RunId,
    filter: &EventFilter,
) -> Result<Vec<Never>, LogError> {
    let EventFilter { kinds, method, model, .. } = filter;
    let mut found: [BTreeSet<String>; 3] = Default::default();
    let mut after = Seq(0);
    loop {
        let events = reader.events(run, after, super::BATCH)?;
        let Some(last) = events.last() else { break };
        after = last.seq;
        for stored in &events {
            let [all_kinds, methods, models] = &mut found;
            if !all_kinds.contains(&*stored.kind) {
                all_kinds.insert(stored.kind.to_string());
            }
            if method.is_none() && model.is_none() {
                continue;
            }
            let Ok(event) = stored.event() else { continue };
            let (by, from) = method_and_model(&event);
            for (name, all) in [(by, methods), (from, models)] {
                if let Some(name) = name.filter(|name| !all.contains(*name)) {
                    all.insert(name.to_owned());
                }
            }
        }
    }
    let [all_kinds, methods, models] = found;
    let one = |value: &Option<String>| value.iter().cloned().collect::<Vec<String>>();
    let options = [
        ("--kind", kinds.clone(), all_kinds),
        ("--method", one(method), methods),
        ("--model", one(model), models),
    ];
    let never = options.into_iter().filter_map(|(option, given, has)| {
        let given: Vec<String> = given.into_iter().filter(|value| !has.contains(value)).collect();
        let more = has.len().saturating_sub(MOST);
        let has = has.into_iter().take(MOST).collect();
        (!given.is_empty()).then_some(Never { option, given, has, more })
    });
    Ok(never.collect())
}

impl Never {
    /// A line for people.
    pub(super) fn text(&self) -> String {
        let Never { option, given, has, more } = self;
        let shown = |value: &String| inert(value, 60);
        let given: Vec<String> = given.iter().map(shown).collect();
        let mut has: Vec<String> = has.iter().map(shown).collect();
        if *more > 0 {
            has.push(format!("and {more} more"));
        }
        let has = if has.is_empty() { "none".to_owned() } else { has.join(", ") };
        format!("{option} {}: the run never has it; it has {has}\n", given.join(", "))
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> Value {
        let Never { option, given, has, more } = self;
        json!({"option": option, "given": given, "has": has, "more": more})
    }
}
