//! Integers that JSON writers of other languages, and our canonical form, would round.
//!
//! Canonical JSON (RFC 8785) has only one kind of number, the double. In a provider's answer (above
//! all in the arguments of a tool call), an integer beyond 2^53 is therefore kept as the string of
//! its digits, and its place is recorded as a JSON pointer (RFC 6901) into the kept parts. It
//! survives log, recording and exchanges digit for digit, and a reader that needs the number can
//! find it. The value of a decision is stored in the same way.

use serde_json::{Map, Value};

/// The kept part that lists the places of such integers.
pub const EXACT_INTEGERS: &str = "exact_integers";

/// Turns integers that a double cannot hold exactly into strings, and lists their places.
pub fn keep_exact(parts: &mut Map<String, Value>) {
    if !parts.values().any(has_inexact) {
        return;
    }
    let mut places = Vec::new();
    for (name, part) in parts.iter_mut() {
        replace(part, &|value| inexact(value), &step("", name), &mut places);
    }
    name_places(parts, places);
}

/// A value in which integers that a double cannot hold exactly are the strings of their digits, and the places of these; `None`
/// if it has none.
pub(crate) fn exact_value(value: &Value) -> Option<(Value, Vec<String>)> {
    if !has_inexact(value) {
        return None;
    }
    let (mut value, mut places) = (value.clone(), Vec::new());
    replace(&mut value, &inexact, "", &mut places);
    (!places.is_empty()).then_some((value, places))
}

/// A JSON text in which integers that a double cannot hold exactly are the strings of their digits, and the places of these; `None`
/// if it is no JSON, or has an integer beyond 64 bits.
pub fn exact_json(text: &[u8]) -> Option<(Value, Vec<String>)> {
    let mut value: Value = serde_json::from_slice(text).ok()?;
    let mut places = Vec::new();
    if has_inexact(&value) {
        if longer_integer(std::str::from_utf8(text).ok()?).is_some() {
            return None;
        }
        replace(&mut value, &|value| inexact(value), "", &mut places);
    }
    Some((value, places))
}

/// The reverse of [`exact_json`]: places that are not there are left out.
pub fn give_back_integers<'a>(value: &mut Value, places: impl IntoIterator<Item = &'a str>) {
    for place in places {
        if let Some(kept) = value.pointer_mut(place)
            && let Some(number) = kept.as_str().and_then(|digits| serde_json::from_str(digits).ok())
        {
            *kept = Value::Number(number);
        }
    }
}

/// Where JSON has its first integer beyond 64 bits, which its readers make a double.
pub fn longer_integer(text: &str) -> Option<usize> {
    let (mut is_text, mut at) = (false, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' if is_text => at += 1,
            b'"' => is_text = !is_text,
            b'-' | b'0'..=b'9' if !is_text => {
                let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
                let word = &text[at..at + bytes[at..].iter().take_while(is_part).count()];
                let is_integer = !word.contains(['.', 'e', 'E']);
                if is_integer && word.parse::<u64>().is_err() && word.parse::<i64>().is_err() {
                    return Some(at);
                }
                at += word.len().saturating_sub(1);
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Adds places to those already listed.
pub(crate) fn name_places(parts: &mut Map<String, Value>, places: Vec<String>) {
    if places.is_empty() {
        return;
    }
    let named = parts.entry(EXACT_INTEGERS).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(named) = named {
        named.extend(places.into_iter().map(Value::String));
    }
}

/// Replaces every value for which a function returns a text, and notes its place.
pub(crate) fn replace(
    value: &mut Value,
    text_of: &impl Fn(&Value) -> Option<String>,
    path: &str,
    places: &mut Vec<String>,
) {
    if let Some(text) = text_of(value) {
        *value = Value::String(text);
        places.push(path.to_owned());
        return;
    }
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                replace(item, text_of, &step(path, &index.to_string()), places);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields.iter_mut() {
                replace(item, text_of, &step(path, name), places);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The path of something one level deeper.
fn step(path: &str, name: &str) -> String {
    format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// The digits of an integer that a double cannot hold exactly.
fn inexact(value: &Value) -> Option<String> {
    let Value::Number(number) = value else { return None };
    let size = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs))?;
    (size > 1 << 53).then(|| number.to_string())
}

/// Whether a value holds a number that may be such an integer: the parser turns overlong integers
/// into floats.
pub(crate) fn has_inexact(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.as_f64().is_some_and(|size| size.abs() >= 9_007_199_254_740_992.0)
        }
        Value::Array(items) => items.iter().any(has_inexact),
        Value::Object(fields) => fields.values().any(has_inexact),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn integers_beyond_a_double_become_strings_and_are_found_again() {
        let parts = json!({
            "tool_calls": [{"function": {"arguments": {"a/b": 9007199254740993_u64, "c": [1, i64::MIN]}}}],
            "reasoning": "9007199254740993",
        });
        let Value::Object(mut parts) = parts else { panic!() };
        keep_exact(&mut parts);
        let expected = json!({
            "tool_calls": [{"function": {"arguments": {
                "a/b": "9007199254740993", "c": [1, "-9223372036854775808"]}}}],
            "reasoning": "9007199254740993",
            "exact_integers":
                ["/tool_calls/0/function/arguments/a~1b", "/tool_calls/0/function/arguments/c/1"],
        });
        assert_eq!(Value::Object(parts.clone()), expected);
        let once = parts.clone();
        keep_exact(&mut parts);
        assert_eq!(parts, once, "what is exact stays as it is");
    }

    #[test]
    fn integers_of_64_bits_come_back_and_longer_ones_are_not_read() {
        let text = br#"{"seed":18446744073709551615,"a":[-9223372036854775808,1e300,7,"9007199254740993"]}"#;
        let (mut value, places) = exact_json(text).unwrap();
        assert_eq!(places, ["/a/0", "/seed"]);
        assert_eq!(value["seed"], "18446744073709551615");
        give_back_integers(&mut value, places.iter().map(String::as_str));
        assert_eq!(value, serde_json::from_slice::<Value>(text).unwrap());
        for other in
            [&br#"[18446744073709551616]"#[..], br#"{"\"":-9223372036854775809}"#, b"[1", b"nan"]
        {
            assert!(exact_json(other).is_none(), "{}", String::from_utf8_lossy(other));
        }
        let quoted = br#"["18446744073709551616", 1.8446744073709551616e40]"#;
        assert_eq!(exact_json(quoted).unwrap().1, Vec::<String>::new());
    }

    #[test]
    fn what_a_double_holds_stays_a_number() {
        let Value::Object(mut parts) =
            json!({"tool_calls": [9007199254740992_u64, -7, 1.5, 1e300]})
        else {
            panic!()
        };
        let before = parts.clone();
        keep_exact(&mut parts);
        assert_eq!(parts, before);
    }
}
