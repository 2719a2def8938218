//! Values in a filter that a run never has: a misspelt kind, call, label, method or model.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use retold::escaping::printable;
use retold::id::{CallPath, RunId};
use retold::log::{AskedModels, EventFilter, LogError, Reader, RunEvents, method_and_model};
use retold::text_diff::likeness;

/// The most values that are listed: those that may be meant.
const MOST: usize = 12;

/// Values of one option that no event of the run has.
pub(super) struct Never {
    option: &'static str,
    given: Vec<String>,
    /// Those that there are, or the most similar ones, and how many more than these.
    has: Vec<String>,
    more: usize,
}

/// The values in a filter that a run never has. Reads the whole run.
///
/// # Errors
/// [`LogError`] if it cannot be read.
pub(super) fn never(
    reader: &mut dyn Reader,
    run: RunId,
    filter: &EventFilter,
) -> Result<Vec<Never>, LogError> {
    let EventFilter { kinds, call, labels, method, model, .. } = filter;
    let mut found: [BTreeSet<String>; 3] = Default::default();
    let mut asked = AskedModels::default();
    // The parts of calls, and whether a call has all that are asked for.
    let (mut parts, mut has_call) = (BTreeSet::new(), false);
    let mut known_labels = BTreeSet::new();
    let mut events = RunEvents::new(run);
    while let Some(stored) = events.next(reader)? {
        let [all_kinds, methods, models] = &mut found;
        if !all_kinds.contains(&*stored.kind) {
            all_kinds.insert(stored.kind.to_string());
        }
        if let (Some(_), Some(name)) = (call, &stored.call)
            && !has_call
        {
            has_call = filter.is_call(name.as_str());
            let each = name.as_str().split('/').filter(|part| !parts.contains(*part));
            let new: Vec<String> = each.map(str::to_owned).collect();
            parts.extend(new);
        }
        if !labels.is_empty() && stored.is_question() {
            let each = stored.labels().unwrap_or_default();
            known_labels.extend(each.iter().map(as_option));
        }
        if method.is_none() && model.is_none() {
            continue;
        }
        if model.is_some() {
            models.extend(asked.asked_by(reader, &stored)?);
        }
        let Ok(event) = stored.event() else { continue };
        let (by, from) = method_and_model(&event);
        for (name, all) in [(by, methods), (from, models)] {
            if let Some(name) = name.filter(|name| !all.contains(*name)) {
                all.insert(name.to_owned());
            }
        }
    }
    let [all_kinds, methods, models] = found;
    let one = |value: &Option<String>| value.iter().cloned().collect::<Vec<String>>();
    let options = [
        ("--kind", kinds.clone(), all_kinds),
        ("--call", unknown_parts(call.as_ref().filter(|_| !has_call), &parts), parts),
        (
            "--label",
            labels.iter().map(|(name, value)| as_option((name, value))).collect(),
            of_names(labels, known_labels),
        ),
        ("--method", one(method), methods),
        ("--model", one(model), models),
    ];
    let never = options.into_iter().filter_map(|(option, given, has)| {
        let given: Vec<String> = given.into_iter().filter(|value| !has.contains(value)).collect();
        let more = has.len().saturating_sub(MOST);
        let mut has: Vec<String> = has.into_iter().collect();
        if more > 0 {
            // Those that may be meant.
            let alike =
                |value: &str| given.iter().map(|given| likeness(value, given)).fold(0.0, f32::max);
            has.sort_by(|one, other| alike(other).total_cmp(&alike(one)));
            has.truncate(MOST);
            has.sort();
        }
        (!given.is_empty()).then_some(Never { option, given, has, more })
    });
    Ok(never.collect())
}

/// The labels that have one of these names, or all, if no label has.
fn of_names(labels: &[(String, String)], known: BTreeSet<String>) -> BTreeSet<String> {
    let has_name = |label: &&String| {
        labels.iter().any(|(name, _)| {
            label.strip_prefix(name.as_str()).is_some_and(|it| it.starts_with('='))
        })
    };
    let same: BTreeSet<String> = known.iter().filter(has_name).cloned().collect();
    if same.is_empty() { known } else { same }
}

/// A label as the option has it.
fn as_option((name, value): (&String, &String)) -> String {
    format!("{name}={value}")
}

/// The parts of a call that no call of the run has; if each is there, but not together, all of them.
fn unknown_parts(call: Option<&CallPath>, parts: &BTreeSet<String>) -> Vec<String> {
    let Some(call) = call else { return Vec::new() };
    let unknown = call.as_str().split('/').filter(|part| !parts.contains(*part));
    let unknown: Vec<String> = unknown.map(str::to_owned).collect();
    if unknown.is_empty() { vec![call.to_string()] } else { unknown }
}

impl Never {
    /// A line for people.
    pub(super) fn text(&self) -> String {
        let Never { option, given, has, more } = self;
        let shown = |value: &String| printable(value, 60);
        let given: Vec<String> = given.iter().map(shown).collect();
        let mut has: Vec<String> = has.iter().map(shown).collect();
        if *more > 0 {
            has.push(format!("and {more} more"));
        }
        let has = if has.is_empty() { "none".to_owned() } else { has.join(", ") };
        format!("no event matches {option} {}; the run has {has}\n", given.join(", "))
    }

    /// The same as JSON.
    pub(super) fn json(&self) -> Value {
        let Never { option, given, has, more } = self;
        json!({"option": option, "given": given, "has": has, "more": more})
    }
}
