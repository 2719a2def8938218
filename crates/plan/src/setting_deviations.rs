//! How the settings of a run differ from those of its plan.

use std::collections::BTreeMap;

use retold::event::RunStarted;
use retold::members::Members;
use retold_study::registration::Registration;
use retold_study::shard::SHARD;
use retold_study::studies::Studies;
use serde_json::{Value, json};

use crate::deviation::{Deviation, DeviationKind};
use crate::differences::{SettingDifference, setting_differences, value_words};
use crate::registered::RegisteredPlan;

/// How many settings of a kind are named.
const MOST_NAMED: usize = 4;

/// The deviations in the settings of a run. Settings that name parsers are left out: what decided is compared itself.
pub(crate) fn setting_deviations(
    plan: &RegisteredPlan,
    started: &RunStarted,
    studies: &Studies,
) -> Vec<Deviation> {
    let differences =
        asked_differently(&plan.settings, &started.settings, &started.experiment, studies);
    let study = studies.find(&started.experiment);
    let mut by_kind: BTreeMap<DeviationKind, Vec<String>> = BTreeMap::new();
    for difference in &differences {
        let SettingDifference { planned, found, .. } = difference;
        let Some(kind) = kind_of(difference, study) else { continue };
        let is_admitted = |value: &str| plan.models.iter().any(|model| model == value);
        if kind == DeviationKind::Model && found.as_str().is_some_and(is_admitted) {
            continue;
        }
        let key = difference.key();
        by_kind.entry(kind).or_default().push(match kind {
            // Its text is long, and `retold diff` shows what changed.
            DeviationKind::Prompt => template_name(difference),
            _ => format!("{key} is {}, planned {}", value_words(found), value_words(planned)),
        });
    }
    let kind = |settings: &Value| settings["runtime"]["model"]["kind"].clone();
    let (planned, found) = (kind(&plan.settings), kind(&started.settings));
    if planned != found {
        let [found, planned] = [&found, &planned].map(value_words);
        by_kind
            .entry(DeviationKind::Model)
            .or_default()
            .push(format!("answers come from {found}, planned {planned}"));
    }
    if let Some(seed) = plan.seed.filter(|seed| *seed != started.seed) {
        let how = format!("the seed is {}, planned {seed}", started.seed);
        by_kind.entry(DeviationKind::Setting).or_default().push(how);
    }
    if let Some(shard) = started.settings["experiment"][SHARD].as_str() {
        let how = format!("it is shard {shard} alone");
        by_kind.entry(DeviationKind::Size).or_default().push(how);
    }
    by_kind.into_iter().map(|(kind, how)| Deviation::new(kind, joined(&how))).collect()
}

/// The settings of an experiment that two runs have differently, of those that decide what is asked. Values that a run drew
/// at its start, and its part of a study, are no difference.
pub(crate) fn asked_differently(
    planned: &Value,
    found: &Value,
    experiment: &str,
    studies: &Studies,
) -> Vec<SettingDifference> {
    let (mut planned, mut found) = (planned["experiment"].clone(), found["experiment"].clone());
    studies.take_over(experiment, &mut planned, &found);
    for settings in [&mut planned, &mut found] {
        studies.without_asking(experiment, settings);
        if settings.get(SHARD).is_some() {
            settings.set(SHARD, json!(null));
        }
    }
    setting_differences(&planned, &found)
}

/// What is different with a setting; `None` if it names a parser.
fn kind_of(
    difference: &SettingDifference,
    study: Option<&dyn Registration>,
) -> Option<DeviationKind> {
    let path = &difference.path;
    let has = |keys: &[&str]| path.iter().any(|key| keys.contains(&key.as_str()));
    if path.first().is_some_and(|first| ["prompts", "template"].contains(&first.as_str())) {
        return Some(DeviationKind::Prompt);
    }
    if path.last().is_some_and(|last| last == "parser" || last == "parser_version") {
        return None;
    }
    let Some(study) = study else { return Some(DeviationKind::Setting) };
    let (models, keys) = (study.model_names(), study.config_keys());
    let of_request: Vec<&str> = keys.request.iter().map(|(_, key)| *key).collect();
    let lists = |value: &Value| value.as_array().map(Vec::len);
    let (planned, found) = (lists(&difference.planned), lists(&difference.found));
    if has(&["request"]) || has(models.chat) || has(models.embedding) || has(&of_request) {
        Some(DeviationKind::Model)
    } else if is_size(path, study) && (difference.found.is_number() || planned != found) {
        Some(DeviationKind::Size)
    } else {
        Some(DeviationKind::Setting)
    }
}

fn is_size(path: &[String], study: &dyn Registration) -> bool {
    path.last().is_some_and(|last| study.sizes().contains(&last.as_str()))
}

/// The template of a difference, by its name if there are several.
fn template_name(difference: &SettingDifference) -> String {
    match difference.path.as_slice() {
        [_, name, ..] if difference.path.len() > 2 => {
            format!("template {}", value_words(&json!(name)))
        }
        _ => "the template".to_owned(),
    }
}

/// The first of several sentences, and how many others there are.
fn joined(all: &[String]) -> String {
    // A template may differ in its name and in its text.
    let mut all = all.to_vec();
    all.dedup();
    let mut named: Vec<String> = all.iter().take(MOST_NAMED).cloned().collect();
    let more = all.len().saturating_sub(MOST_NAMED);
    named.extend((more > 0).then(|| format!("and {more} more")));
    named.join("; ")
}
