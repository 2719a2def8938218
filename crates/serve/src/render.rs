//! From a page's data to HTML.
//!
//! Everything that is written by a template is escaped, and characters that could hide or reorder text are shown as escapes,
//! as in the terminal. Only the templates' own text is marked as safe.

use std::fmt;

use minijinja::value::{Serde, ValueKind};
use minijinja::{AutoEscape, Environment, Error, Output, State, UndefinedBehavior, Value};
use retold::counted::{count_of, group_digits};
use retold::escaping::inert_lines;
use retold::totals;
use serde::Serialize;

use crate::query::part;

/// The templates, by name.
const TEMPLATES: &[(&str, &str)] = &[
    ("base.html", include_str!("../templates/base.html")),
    ("macros.html", include_str!("../templates/macros.html")),
    ("runs.html", include_str!("../templates/runs.html")),
    ("timeline.html", include_str!("../templates/timeline.html")),
    ("figures.html", include_str!("../templates/figures.html")),
    ("table.html", include_str!("../templates/table.html")),
    ("lanes.html", include_str!("../templates/lanes.html")),
    ("rows.html", include_str!("../templates/rows.html")),
    ("event.html", include_str!("../templates/event.html")),
    ("exchange.html", include_str!("../templates/exchange.html")),
    ("provenance.html", include_str!("../templates/provenance.html")),
    ("participant.html", include_str!("../templates/participant.html")),
    ("parts.html", include_str!("../templates/parts.html")),
    ("state.html", include_str!("../templates/state.html")),
    ("stats.html", include_str!("../templates/stats.html")),
    ("agreement.html", include_str!("../templates/agreement.html")),
    ("check.html", include_str!("../templates/check.html")),
    ("compare.html", include_str!("../templates/compare.html")),
    ("error.html", include_str!("../templates/error.html")),
];

/// The environment of all templates.
pub(crate) fn templates() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_auto_escape_callback(|_| AutoEscape::Html);
    // A name that a page does not have is a mistake in the template, not an empty text.
    env.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    env.set_formatter(write);
    env.add_filter("n", number);
    env.add_filter("of", count_of);
    env.add_filter("part", |text: &str| part(text));
    env.add_filter("clock", clock);
    env.add_filter("seconds", seconds);
    env.add_filter("dollars", dollars);
    env.add_filter("percent", |share: f64| format!("{:.2} %", 100.0 * share));
    for (name, text) in TEMPLATES {
        // A template that cannot be compiled is found by the test below.
        if let Err(error) = env.add_template(name, text) {
            tracing::error!(%error, name, "a template is wrong");
        }
    }
    env
}

/// Renders a page.
///
/// # Errors
/// If a template needs something that the page does not have.
pub(crate) fn render(
    env: &Environment<'_>,
    template: &str,
    page: &impl Serialize,
) -> Result<String, Error> {
    env.get_template(template)?.render(Value::from(Serde(page)))
}

/// Writes a value into a page.
fn write(out: &mut Output<'_>, state: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    match value.kind() {
        // The output of one of our macros.
        ValueKind::String if value.is_safe() => minijinja::escape_formatter(out, state, value),
        ValueKind::String => Ok(escape(out, &inert_lines(value.as_str().unwrap_or("")))?),
        ValueKind::Undefined | ValueKind::None | ValueKind::Bool | ValueKind::Number => {
            minijinja::escape_formatter(out, state, value)
        }
        // A list or an object, written as it is, has foreign texts in it.
        _ => Ok(escape(out, &inert_lines(&value.to_string()))?),
    }
}

/// Writes a text for HTML, in an element or in a quoted attribute.
fn escape(out: &mut Output<'_>, text: &str) -> fmt::Result {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        let (before, special) = rest.split_at(at);
        out.write_str(before)?;
        out.write_str(match special.as_bytes().first() {
            Some(b'&') => "&amp;",
            Some(b'<') => "&lt;",
            Some(b'>') => "&gt;",
            Some(b'"') => "&quot;",
            _ => "&#39;",
        })?;
        rest = special.get(1..).unwrap_or("");
    }
    out.write_str(rest)
}

/// US dollars, where a heading says that it is the cost.
pub(crate) fn dollars(amount: Option<f64>) -> String {
    amount.map_or_else(|| "unknown".to_owned(), |known| totals::dollars(Some(known)))
}

/// A number with its digits in groups of three. Of what nobody counted, the number is unknown.
fn number(n: &Value) -> Result<String, Error> {
    // An undefined name is a mistake in the template, and not unknown.
    if n.is_none() { Ok("unknown".to_owned()) } else { Ok(group_digits(u64::try_from(n.clone())?)) }
}

/// The time of day of a time, such as `17:04:09.120`.
fn clock(time: &str) -> String {
    time.split_once('T').map_or(time, |(_, clock)| clock.trim_end_matches('Z')).to_owned()
}

/// Milliseconds as people read them.
pub(crate) fn seconds(ms: i64) -> String {
    match ms {
        ..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{:.1} s", ms as f64 / 1000.0),
        60_000..3_600_000 => format!("{} min {} s", ms / 60_000, ms / 1000 % 60),
        _ => format!("{} h {} min", ms / 3_600_000, ms / 60_000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_template_compiles() {
        let env = templates();
        for (name, _) in TEMPLATES {
            env.get_template(name).unwrap();
        }
    }

    #[test]
    fn foreign_text_is_inert_wherever_it_is_written() {
        let mut env = templates();
        env.add_template("t", "<p title=\"{{ text }}\">{{ text }}</p>{{ list }}{{ text|upper }}")
            .unwrap();
        let text = "\"><script>alert(1)</script>\u{1b}[31m\u{202e}\0'";
        let shown = render(&env, "t", &json!({"text": text, "list": [text]})).unwrap();
        assert!(!shown.contains("<script>") && !shown.contains("<SCRIPT>"), "{shown}");
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}') && !shown.contains('\0'));
        assert!(shown.contains("\\u{202e}"), "{shown}");
    }

    #[test]
    fn numbers_and_times_are_for_people() {
        let number = |n: Value| number(&n).ok();
        assert_eq!(number(0.into()).as_deref(), Some("0"));
        assert_eq!(number(1_000_000.into()).as_deref(), Some("1,000,000"));
        assert_eq!(number(Value::from(())).as_deref(), Some("unknown"));
        assert_eq!(number(Value::UNDEFINED), None);
        assert_eq!(clock("2026-11-23T17:04:09.120Z"), "17:04:09.120");
        assert_eq!([seconds(7), seconds(1500), seconds(61_000)], ["7 ms", "1.5 s", "1 min 1 s"]);
    }
}
