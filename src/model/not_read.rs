//! Answers of which nothing is read, because no file of [`providers`](super::providers) describes their API, or because
//! their API gave several where a log has one: the whole body is kept in place of a text.

use serde_json::{Map, Value};

use super::parts::HTTP;
use crate::content::Content;

/// What such answers are called, wherever they are shown.
pub const NOT_READ: &str = "not read";

/// Whether an answer to a recorded program is not read: its body is its text, or it has nothing but a body of bytes. A
/// plain text is its own text.
pub fn is_not_read(content: &Content, extra: &Map<String, Value>) -> bool {
    let Some(http) = extra.get(HTTP) else { return false };
    if http["body"].is_string() {
        return false;
    }
    if http["base64"].is_string() {
        return content.text().is_empty() && extra.len() == 1;
    }
    let headers = http["headers"].as_array().into_iter().flatten();
    let mut kinds = headers.filter(|header| header[0] == "content-type");
    let is_plain = kinds.any(|header| {
        header[1].as_str().is_some_and(|kind| kind.trim_start().starts_with("text/plain"))
    });
    !content.text().is_empty() && !is_plain
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_in_place_of_a_text_is_not_read() {
        let is = |text: &str, extra: Value| {
            is_not_read(&Content::from(text), extra.as_object().unwrap())
        };
        let headers = json!([["content-type", "application/json"]]);
        assert!(is("{\"a\":1}", json!({"http": {"headers": headers}})));
        assert!(is("data: 1\n\n", json!({"http": {"headers": []}})));
        assert!(is("", json!({"http": {"headers": headers, "base64": "/w=="}})));
        for (text, read) in [
            ("yes", json!({})),
            ("yes", json!({"http": {"headers": headers, "body": "{\"a\":\"yes\"}"}})),
            ("yes", json!({"http": {"headers": headers, "base64": "/w=="}})),
            ("", json!({"http": {"headers": headers, "base64": "/w=="}, "tool_calls": [1]})),
            ("", json!({"http": {"headers": headers}})),
            ("yes", json!({"http": {"headers": [["content-type", "text/plain; charset=utf-8"]]}})),
        ] {
            assert!(!is(text, read.clone()), "{read}");
        }
    }
}
