//! Numbers that JSON does not have: Python writes `NaN` and `Infinity`, which is also how Inspect says that a
//! sample has no score (`Score.unscored`).

use std::borrow::Cow;

use crate::notes::Notes;

/// The numbers that are not JSON.
const NOT_JSON: [&str; 3] = ["NaN", "-Infinity", "Infinity"];

/// A text in which they are null, which is noted.
pub(super) fn of_json<'a>(text: &'a str, place: &str, notes: &mut Notes) -> Cow<'a, str> {
    if !NOT_JSON.iter().any(|number| text.contains(number)) {
        return Cow::Borrowed(text);
    }
    let (mut out, mut kept, mut is_text) = (String::with_capacity(text.len()), 0, false);
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if is_text => at += 1,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'N' | b'I' | b'-' => {
                let number =
                    NOT_JSON.iter().find(|number| bytes[at..].starts_with(number.as_bytes()));
                if let Some(number) = number {
                    out.push_str(&text[kept..at]);
                    out.push_str("null");
                    at += number.len();
                    kept = at;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    if kept > 0 {
        notes.add("a number that JSON does not have (NaN, Infinity), which is null", place);
    }
    out.push_str(&text[kept..]);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_null_and_texts_stay() {
        let mut notes = Notes::default();
        for (text, due) in [
            (
                r#"{"a": NaN, "b": [-Infinity, Infinity], "c": -1}"#,
                r#"{"a": null, "b": [null, null], "c": -1}"#,
            ),
            (r#"{"a": "NaN \" Infinity", "NaN": 1}"#, r#"{"a": "NaN \" Infinity", "NaN": 1}"#),
            (r#"{"é": NaN}"#, r#"{"é": null}"#),
            ("NaN", "null"),
        ] {
            assert_eq!(of_json(text, "here", &mut notes), due);
        }
        assert_eq!(notes.all().next().map(|note| note.times), Some(3));
    }
}
