//! `action@1`: the document's program.
//!
//! - The first `{..}` without inner braces counts: `\{[^{}]*\}`. For a nested object, the innermost
//!   part is read, which usually fails.
//! - If there is none, the first 2,000 characters are a forum post.
//! - Any error makes the agent idle, with the error as its reasoning.
//!
//! JSON is what Python's `json.loads` reads, `Infinity` and `NaN` among it.
//!
//! Some answers make the document's program fail with an exception, and the agent idle here, with a
//! warning: a list as the `action`, which Python cannot look up, an integer of more than 4,300 digits,
//! and nesting that Python cannot parse.

use super::ActionParams;
use super::action::Action;
use super::fields::{Built, NAMES, build};
use super::pydantic::Pydantic;
use super::python_json::{NotLoaded, PythonObject, PythonValue, loads, python_str};
use retold::parse::python::head;
use retold::parse::{FoundValue, LastResort, Strategy};

pub(super) const STRATEGIES: &[Strategy<ActionParams, Action>] = &[
    Strategy { method: "flat_json", find: flat_json },
    Strategy { method: "forum_post_fallback", find: forum_post_fallback },
    Strategy { method: "idle_unparsable", find: unparsable },
    Strategy { method: "idle_unknown_action", find: unknown_action },
];

pub(super) const LAST: LastResort<ActionParams, Action> = ("idle_invalid_data", invalid);

/// The first pair of braces with no brace in between.
fn flat_braces(text: &str) -> Option<&str> {
    let mut open = None;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => open = Some(at),
            b'}' if open.is_some() => return text.get(open?..=at),
            _ => {}
        }
    }
    None
}

/// The object that `json.loads` makes of the braces; without braces, there is nothing to decode.
fn object(text: &str) -> Result<PythonObject, NotLoaded> {
    loads(flat_braces(text).unwrap_or_default())
}

/// The action's name, if it is a text.
fn name(fields: &PythonObject) -> Option<&str> {
    match fields.get("action")? {
        PythonValue::Text(name) => Some(name),
        _ => None,
    }
}

fn flat_json(text: &str, params: &ActionParams) -> Option<FoundValue<Action>> {
    let fields = object(text).ok()?;
    let mut reader = Pydantic::new(&fields);
    match build(name(&fields)?, &mut reader, params.agents) {
        Built::Action(value) => {
            Some(FoundValue { value, reasoning: None, warnings: reader.into_warnings() })
        }
        _ => None,
    }
}

fn forum_post_fallback(text: &str, _: &ActionParams) -> Option<FoundValue<Action>> {
    let post = || FoundValue::plain(Action::ForumPost { content: head(text, 2_000).to_owned() });
    flat_braces(text).is_none().then(post)
}

fn unparsable(text: &str, _: &ActionParams) -> Option<FoundValue<Action>> {
    let failure = object(text).err()?;
    let mut found = idle("Failed to parse action".to_owned());
    if failure == NotLoaded::Other {
        found.warnings.push(FAILS.to_owned());
    }
    Some(found)
}

fn unknown_action(text: &str, _: &ActionParams) -> Option<FoundValue<Action>> {
    let fields = object(text).ok()?;
    if name(&fields).is_some_and(|name| NAMES.contains(&name)) {
        return None;
    }
    let action = fields.get("action").unwrap_or(&PythonValue::None);
    let mut found = idle(format!("Unknown action: {}", python_str(action)));
    if matches!(action, PythonValue::List(_)) {
        found.warnings.push(FAILS.to_owned());
    }
    Some(found)
}

/// The last resort: a known action with invalid fields.
fn invalid(text: &str, params: &ActionParams) -> FoundValue<Action> {
    let fields = object(text).unwrap_or_default();
    let mut reader = Pydantic::new(&fields);
    build(name(&fields).unwrap_or_default(), &mut reader, params.agents);
    idle(format!("Invalid action data: {}", reader.message()))
}

/// The warning where the document's program ends with an exception.
const FAILS: &str = "the document's program fails here";

fn idle(reason: String) -> FoundValue<Action> {
    FoundValue::plain(Action::Idle { reasoning: Some(reason) })
}

#[cfg(test)]
mod tests {
    use super::super::{Action, ActionParams, parser};
    use retold::parse::Parser;

    /// The reason for being idle, and whether there is a warning; `None` if there is an action.
    fn reason(text: &str) -> Option<(String, bool)> {
        let parsed = parser(1, ActionParams::default()).unwrap().parse(text);
        match parsed.value {
            Action::Idle { reasoning: Some(reason) } => Some((reason, !parsed.warnings.is_empty())),
            _ => None,
        }
    }

    fn trade(recipient: &str, amount: &str) -> String {
        format!(
            "{{\"action\": \"trade\", \"resource_type\": \"food\", \"recipient_agent_id\": {recipient}, \"amount\": {amount}}}"
        )
    }

    /// Each result is that of Python 3.11 with Pydantic 2.13.
    #[test]
    fn numbers_beyond_json_are_those_of_python() {
        let digits = format!("1{}", "0".repeat(400));
        for amount in ["Infinity", "1e400", "\"inf\"", "\"1e400\"", "\"+inf\""] {
            let parsed = parser(1, ActionParams::default()).unwrap().parse(&trade("2", amount));
            let Action::Trade { amount: read, .. } = parsed.value else { panic!("{amount}") };
            assert_eq!((read, parsed.warnings.len()), (f64::MAX, 1), "{amount}");
        }
        let above = "amount: Input should be greater than 0 [type=greater_than]";
        let finite = "recipient_agent_id: Input should be a finite number [type=finite_number]";
        let number = "amount: Input should be a valid number [type=float_type]";
        let unicode = "Input should be a valid string, unable to parse raw data as a unicode string [type=string_unicode]";
        for (recipient, amount, due) in [
            ("2", "NaN", above.to_owned()),
            ("2", "-Infinity", above.to_owned()),
            ("2", "-1e400", above.to_owned()),
            ("2", "\"nan\"", above.to_owned()),
            ("2", "1e-400", above.to_owned()),
            ("2", "-0", above.to_owned()),
            ("NaN", "2", finite.to_owned()),
            ("Infinity", "2", finite.to_owned()),
            ("1e400", "2", finite.to_owned()),
            ("2", &digits, number.to_owned()),
            ("2", "[NaN]", number.to_owned()),
            ("\"\\ud800\"", "1", format!("recipient_agent_id: {unicode}")),
            (
                "1e20",
                "2",
                "recipient_agent_id: Unable to parse input string as an integer, exceeded maximum size [type=int_parsing_size]".to_owned(),
            ),
            (
                &digits,
                "2",
                "recipient_agent_id: Input should be less than or equal to 100 [type=less_than_equal]".to_owned(),
            ),
            (
                "\"inf\"",
                "2",
                "recipient_agent_id: Input should be a valid integer, unable to parse string as an integer [type=int_parsing]".to_owned(),
            ),
        ] {
            let due = (format!("Invalid action data: {due}"), false);
            assert_eq!(reason(&trade(recipient, amount)), Some(due), "{recipient} {amount}");
        }
    }

    #[test]
    fn an_action_is_printed_as_python_prints_it() {
        for (action, due) in [
            ("Infinity", "inf"),
            ("-Infinity", "-inf"),
            ("NaN", "nan"),
            ("1e400", "inf"),
            ("1e16", "1e+16"),
            ("1e15", "1000000000000000.0"),
            ("1.0", "1.0"),
            ("0.0001", "0.0001"),
            ("0.00001", "1e-05"),
            ("1.5e300", "1.5e+300"),
            ("123456789012345678901234567890", "123456789012345678901234567890"),
            ("-0", "0"),
            ("-0.0", "-0.0"),
            ("null", "None"),
            ("true", "True"),
            ("\"\\ud83d\\ude00\"", "😀"),
            ("\"dance\"", "dance"),
        ] {
            let due = (format!("Unknown action: {due}"), false);
            assert_eq!(reason(&format!("{{\"action\": {action}}}")), Some(due), "{action}");
        }
    }

    #[test]
    fn what_json_loads_refuses_is_refused() {
        let failed = |warns| Some(("Failed to parse action".to_owned(), warns));
        for value in [
            "+1", "01", "1.", "--Infinity", "- Infinity", "infinity", "nan", "-NaN", "tru", "[1,]",
            "\"a\tb\"", "\"\\u12 4\"", "\"\\u+123\"", "\"\\x41\"", "1,", "", "\u{a0}1", "'a'",
            "1e", "[1", "NaN NaN",
        ] {
            let text = format!("{{\"action\": \"idle\", \"x\": {value}}}");
            assert_eq!(reason(&text), failed(false), "{value}");
        }
        let deep = |depth: usize| {
            format!("{{\"action\": \"idle\", \"x\": {}{}}}", "[".repeat(depth), "]".repeat(depth))
        };
        for value in [
            "1e+5",
            "-0.5E-3",
            "[Infinity, -Infinity, NaN, \"a\"]",
            "\"\\ud800\"",
            "[ ]",
            "\"\\u0041\\/\"",
            "\"\u{7f}\"",
        ] {
            assert_eq!(
                reason(&format!("{{\"action\": \"idle\", \"x\": {value}}}")),
                None,
                "{value}"
            );
        }
        assert_eq!(reason(&deep(985)), None);
        assert_eq!(reason(&deep(200_000)), failed(true), "Python raises a RecursionError");
        let digits = |count| format!("{{\"action\": \"idle\", \"x\": {}}}", "9".repeat(count));
        assert_eq!((reason(&digits(4_300)), reason(&digits(4_301))), (None, failed(true)));
    }
}
