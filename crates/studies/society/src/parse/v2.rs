//! `action@2`: the action the agent stated, or a rejection with its reason.
//!
//! - **Every object in the answer** is examined, including nested ones and lists of them, inside
//!   fences or not, malformed ones after repair (see [`retold::parse::json_repair`]). The first that
//!   names an action counts: the prompt asks for one, and what follows is a turn that the model
//!   invents, or a second action, which is not allowed. It counts even if it is invalid: a later one
//!   is not used just because it is valid.
//! - **A copied example from the prompt is not an answer**, whichever of the nine it is: an action
//!   after it counts. If there is nothing else, this is the reason for the rejection, for all
//!   examples alike.
//! - **The prompt's notation is not a choice**: `law|allocation|rule`, `work, trade`, `1-8` or a
//!   list of actions are rejected. So is a copied text (`Your message here`).
//! - Numbers may be written as text, and words and keys in any case (`{"Action": "Work"}`); text
//!   remains text. **Limits are the document's**; lengths are in characters. Nothing is cut or
//!   clamped: what an agent asks for is done or not done.
//! - **`Infinity`, `NaN` and numbers that are too large are numbers**, as the document's program reads
//!   them: an infinite amount is one that nobody has, so the trade is stated, and the world refuses
//!   it; elsewhere, the reason for the rejection is that the number is out of range.
//! - **A value that is cut off is missing**, not an empty text.
//! - **Prose without JSON** is a forum post, as in the document. Broken JSON is not; version 1
//!   posts it for all to read.
//! - **A rejection includes the action** that was stated.
//! - Text before `</think>` is the reasoning.

use serde_json::{Map, Value};

use super::action::Action;
use super::fields::{Built, NAMES, build};
use super::forgiving::{Forgiving, is_notation, kind, notation, quote};
use super::{ActionParams, examples};
use retold::parse::json_repair::{self, Repair};
use retold::parse::keys::lookup;
use retold::parse::python::head;
use retold::parse::{FoundValue, LastResort, Strategy};

pub(super) const STRATEGIES: &[Strategy<ActionParams, Action>] = &[
    Strategy { method: "json_action", find: |text, params| valid_action(text, params, false) },
    Strategy {
        method: "repaired_json_action",
        find: |text, params| valid_action(text, params, true),
    },
    Strategy { method: "plain_text_post", find: plain_text_post },
];

pub(super) const LAST: LastResort<ActionParams, Action> = ("rejected", rejection);

/// The stated action if it is valid, and whether the JSON was malformed or not as requested.
fn valid_action(text: &str, params: &ActionParams, malformed: bool) -> Option<FoundValue<Action>> {
    let stated = StatedAction::new(text)?;
    if stated.repairs.is_empty() == malformed {
        return None;
    }
    let (action, warnings) = stated.action(params).ok()?;
    Some(FoundValue { value: action, reasoning: stated.reasoning(), warnings })
}

fn plain_text_post(text: &str, _: &ActionParams) -> Option<FoundValue<Action>> {
    let (reasoning, body) = split(text);
    let body = body.trim();
    if body.is_empty() || body.contains(['{', '}']) {
        return None;
    }
    let content = head(body, 2_000).to_owned();
    let mut warnings = vec!["no JSON: the text is a forum post".to_owned()];
    if content.len() < body.len() {
        warnings.push("the post was cut to 2,000 characters".to_owned());
    }
    Some(FoundValue { value: Action::ForumPost { content }, reasoning, warnings })
}

fn rejection(text: &str, params: &ActionParams) -> FoundValue<Action> {
    let found = StatedAction::new(text);
    let (reason, reasoning) = match &found {
        Some(stated) => {
            (stated.action(params).err().map(|NoAction(reason)| reason), stated.reasoning())
        }
        None if split(text).1.trim().is_empty() => (Some("the answer is empty".to_owned()), None),
        None => (None, split(text).0),
    };
    let reason = reason.unwrap_or_else(|| "no JSON object names an action".to_owned());
    let stated = found.map(|found| Value::Object(found.fields));
    FoundValue { value: Action::Rejected { reason, stated }, reasoning, warnings: Vec::new() }
}

/// The reasoning and the answer.
fn split(text: &str) -> (Option<String>, &str) {
    match text.rsplit_once("</think>") {
        Some((thought, body)) if !body.trim().is_empty() => {
            let thought = thought.trim();
            let thought = thought.strip_prefix("<think>").unwrap_or(thought).trim();
            (Some(thought.to_owned()), body)
        }
        _ => (None, text),
    }
}

/// The object that names an action.
struct StatedAction {
    fields: Map<String, Value>,
    repairs: Vec<Repair>,
    /// How many other objects name an action.
    others: usize,
    thought: Option<String>,
    /// Whether it is one of the prompt's examples.
    is_example: bool,
}

/// Why an answer states no action.
struct NoAction(String);

impl StatedAction {
    fn new(text: &str) -> Option<StatedAction> {
        let (thought, body) = split(text);
        let mut found: Option<StatedAction> = None;
        for embedded in json_repair::values(body) {
            let mut objects = Vec::new();
            collect(embedded.value, &mut objects);
            for fields in objects {
                let is_example = examples::is_one(&fields);
                match &mut found {
                    Some(_) if is_example => {}
                    Some(first) if !first.is_example => first.others += 1,
                    _ => {
                        let (repairs, thought) = (embedded.repairs.clone(), thought.clone());
                        found =
                            Some(StatedAction { fields, repairs, others: 0, thought, is_example });
                    }
                }
            }
        }
        found
    }

    /// The action and the repairs, or why there is none.
    fn action(&self, params: &ActionParams) -> Result<(Action, Vec<String>), NoAction> {
        if self.is_example {
            return Err(NoAction("the answer is an example of the prompt, copied".to_owned()));
        }
        let mut fields = Forgiving::new(&self.fields);
        let written = fields.value("action").unwrap_or(&Value::Null);
        let Some(text) = written.as_str() else {
            return Err(NoAction(format!("action is not one name but {}", kind(written))));
        };
        let name = text.trim().to_lowercase().replace([' ', '-'], "_");
        if is_notation(text) && !NAMES.contains(&name.as_str()) {
            return Err(NoAction(notation("action", text)));
        }
        match build(&name, &mut fields, params.agents) {
            Built::Unknown => Err(NoAction(format!("there is no action {}", quote(text)))),
            Built::Misfit => Err(NoAction(fields.misfits.join("; "))),
            Built::Action(action) => {
                let mut warnings: Vec<String> =
                    self.repairs.iter().map(|r| format!("JSON: {}", r.as_str())).collect();
                if name != text {
                    warnings.push(format!("action was written as {}", quote(text)));
                }
                warnings.append(&mut fields.warnings);
                if self.others > 0 {
                    warnings.push(format!("{} more actions were left out", self.others));
                }
                Ok((action, warnings))
            }
        }
    }

    /// The agent's reasoning, if it is separate from the action.
    fn reasoning(&self) -> Option<String> {
        let keys = ["thought", "thoughts", "thinking", "rationale"];
        let said = keys.iter().find_map(|key| self.fields.get(*key)?.as_str()).map(str::to_owned);
        said.or_else(|| self.thought.clone())
    }
}

/// Every object that names an action, in order. An object under `action` is the action itself. The
/// recursion is no deeper than the nesting of repaired JSON, which is limited.
fn collect(value: Value, found: &mut Vec<Map<String, Value>>) {
    match value {
        Value::Object(mut object) => {
            let named = lookup(&object, "action");
            let key = named.map(|(_, written)| written.unwrap_or("action").to_owned());
            match key.as_deref().map(|key| (key, object.get(key))) {
                Some((key, Some(Value::Object(_)))) => {
                    if let Some(inner) = object.remove(key) {
                        collect(inner, found);
                    }
                }
                Some(_) => found.push(object),
                None => object.into_iter().for_each(|(_, value)| collect(value, found)),
            }
        }
        Value::Array(items) => items.into_iter().for_each(|item| collect(item, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{ActionParams, parser};
    use retold::parse::AnyParser;

    fn read(text: &str) -> (Value, usize) {
        let parser = parser(2, ActionParams::default()).unwrap();
        let found = AnyParser::parse_any(&parser, text).0;
        let reason = &found.value["reason"];
        let value = if reason.is_null() { found.value } else { reason.clone() };
        (value, found.warnings.len())
    }

    /// The action, or the reason for its rejection.
    #[test]
    fn numbers_without_bounds_are_numbers() {
        let trade = |amount: &str| {
            format!(
                "{{\"action\": \"trade\", \"recipient_agent_id\": 2, \"resource_type\": \"food\", \"amount\": {amount}}}"
            )
        };
        let work = |hours: &str| {
            format!("{{\"action\": \"work\", \"work_type\": \"farm\", \"hours\": {hours}}}")
        };
        let infinite = json!({"action": "trade", "recipient_agent_id": 2, "resource_type": "food", "amount": f64::MAX});
        for (text, due) in [
            (trade("Infinity"), infinite.clone()),
            (trade("1e400"), infinite.clone()),
            (trade("\"inf\""), infinite),
            (trade("NaN"), json!("amount is NaN, not more than 0")),
            (trade("-Infinity"), json!("amount is -inf, not more than 0")),
            (work("Infinity"), json!("hours is not a whole number: inf")),
            (work("NaN"), json!("hours is not a whole number: NaN")),
        ] {
            assert_eq!(read(&text).0, due, "{text}");
        }
        let found = parser(2, ActionParams::default()).unwrap();
        for amount in ["Infinity", "1e400"] {
            assert_eq!(
                AnyParser::parse_any(&found, &trade(amount)).0.warnings,
                [
                    "JSON: a number was not written as JSON",
                    "amount is infinite: the largest number stands for it"
                ]
            );
        }
        let cut = "{\"action\": \"work\", \"work_type\": \"farm\", \"hours\":";
        assert_eq!(read(cut).0, json!("hours is missing"));
        let due = json!({"action": "trade", "recipient_agent_id": 2, "resource_type": "food", "amount": 2.0});
        assert_eq!(read(&trade("2")), (due, 0));
    }
}
