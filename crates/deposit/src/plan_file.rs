//! The plan of a deposit, for people: its hypotheses without the settings, which are in the recording of the plan.

use retold::id::RunId;
use retold_plan::RegisteredPlan;
use serde_json::json;

/// The plan as YAML, of which JSON is a part.
pub(crate) fn text(run: RunId, plan: &RegisteredPlan, has_recording: bool) -> String {
    let RegisteredPlan {
        hypotheses, stopping, exclusions, deciders, parsers, models, calls, ..
    } = plan;
    let shown = json!({
        "registered_as": run,
        "hypotheses": hypotheses,
        "stopping": stopping,
        "exclusions": exclusions,
        "deciders": deciders,
        "parsers": parsers,
        "models": models,
        "calls": calls,
    });
    let settings = match has_recording {
        true => " The settings of the plan are in its recording.",
        false => " The settings of the plan have texts, and are not in this deposit.",
    };
    format!(
        "# What was expected, as it was registered before the run.{settings}\n{}\n",
        serde_json::to_string_pretty(&shown).unwrap_or_default()
    )
}
