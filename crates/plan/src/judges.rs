//! How a judge differs from the planned one.

use retold::id::RunId;
use retold::log::{LogError, Reader};
use retold::members::Members;
use retold::run::run_start;
use serde_json::{Value, json};

use crate::differences::{setting_differences, value_words};
use crate::registered::RegisteredPlan;

/// The setting of a judge that says how its answers are read.
const STRATEGIES: &str = "strategies";

/// The parameter that asks for structured output, which follows from the judge's model.
const STRUCTURED: &str = "/request/response_format";

/// How the judge of some decisions differs from the planned one; `None` if it does not.
///
/// # Errors
/// [`LogError`] if the log cannot be read.
pub(crate) fn judge_difference(
    plan: &RegisteredPlan,
    name: &str,
    judged_in: Option<RunId>,
    reader: &mut dyn Reader,
) -> Result<Option<String>, LogError> {
    let Some(planned) = plan.judges.iter().find(|judge| judge["name"] == name) else {
        return Ok(Some("the plan has no judge of it".to_owned()));
    };
    let started = match judged_in.map(|run| run_start(reader, run)) {
        Some(Ok(started)) => started,
        None | Some(Err(LogError::NoSuchRun { .. })) => {
            return Ok(Some("the run of the judge is not in this log".to_owned()));
        }
        Some(Err(error)) if error.is_damage() => {
            return Ok(Some("the run of the judge is damaged".to_owned()));
        }
        Some(Err(error)) => return Err(error),
    };
    let found = &started.settings["experiment"];
    let is_structured = found.pointer(STRUCTURED).is_some();
    let [planned, found] = [planned, found].map(|judge| without_answers(judge, is_structured));
    let differences = setting_differences(&planned, &found);
    let words = differences.iter().map(|difference| match difference.key().as_str() {
        "template" => "its template is another".to_owned(),
        key => {
            let [found, planned] = [&difference.found, &difference.planned].map(value_words);
            format!("its {key} is {found}, planned {planned}")
        }
    });
    let words: Vec<String> = words.collect();
    Ok((!words.is_empty()).then(|| words.join("; ")))
}

/// A judge without what follows from the run that it judges and from its own model.
fn without_answers(judge: &Value, is_structured: bool) -> Value {
    let mut judge = judge.clone();
    for key in ["of", "answers"] {
        judge.set(key, json!(null));
    }
    if is_structured {
        judge.set(STRATEGIES, json!(null));
    }
    judge.take_at(STRUCTURED);
    judge
}
