//! The places of the texts in a JSON document, byte by byte: replacing a text leaves the rest of the document as it is.
//!
//! Nothing here has to be whole or correct: several documents in a row, one that was cut off, and one that is nested deeper than
//! any reader goes have texts as well.

use std::borrow::Cow;
use std::ops::Range;

/// A step on the way to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum JsonStep<'a> {
    /// Into the field of this name.
    Field(Cow<'a, str>),
    /// Into an item of a list.
    Item,
}

/// Passes on each text that is a value: the way to it, and where it stands between its quotes. Nothing if the document is
/// neither an object nor a list.
pub(super) fn each_text<'a>(json: &'a [u8], mut each: impl FnMut(&[JsonStep<'a>], Range<usize>)) {
    let begin = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json).trim_ascii_start();
    if !matches!(begin.first(), Some(b'{' | b'[')) {
        return;
    }
    let mut way: Vec<JsonStep<'a>> = Vec::new();
    // In an object, the next text is a name until there is one.
    let mut is_name = false;
    let mut at = json.len() - begin.len();
    while let Some(byte) = json.get(at) {
        at += 1;
        match byte {
            b'{' => {
                way.push(JsonStep::Field(Cow::Borrowed("")));
                is_name = true;
            }
            b'[' => {
                way.push(JsonStep::Item);
                is_name = false;
            }
            b'}' | b']' => {
                way.pop();
                is_name = false;
            }
            b',' => is_name = matches!(way.last(), Some(JsonStep::Field(_))),
            b'"' => {
                let end = at + length(&json[at..]);
                match way.last_mut().filter(|_| is_name) {
                    Some(step) => *step = JsonStep::Field(unescape(&json[at..end])),
                    None => each(&way, at..end),
                }
                is_name = false;
                at = end + 1;
            }
            _ => {}
        }
    }
}

/// How long a text is that ends with a quote, or with the document.
fn length(text: &[u8]) -> usize {
    let mut from = 0;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &text[from..]) {
        let at = from + found;
        if text[at] == b'"' {
            return at;
        }
        from = (at + 2).min(text.len());
    }
    text.len()
}

/// A text with its escapes undone.
pub(super) fn unescape(text: &[u8]) -> Cow<'_, str> {
    let said = String::from_utf8_lossy(text);
    if !said.contains('\\') {
        return said;
    }
    serde_json::from_str::<String>(&format!("\"{said}\"")).map_or(said, Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(json: &str) -> Vec<String> {
        let mut all = Vec::new();
        each_text(json.as_bytes(), |way, place| {
            let way: Vec<&str> = way
                .iter()
                .map(|step| match step {
                    JsonStep::Field(name) => name.as_ref(),
                    JsonStep::Item => "*",
                })
                .collect();
            all.push(format!("{}={}", way.join("."), &json[place]));
        });
        all
    }

    #[test]
    fn each_text_has_its_way() {
        let json =
            r#"{"a":"x", "b" : [ {"c":"y\"z"}, "w", 7 ], "d":{"e":{}, "\u0066":"v"}, "g":"\\"}"#;
        assert_eq!(texts(json), ["a=x", "b.*.c=y\\\"z", "b.*=w", "d.f=v", "g=\\\\"]);
        assert_eq!(texts("{\"a\":\"x\"}\n{\"b\":\"y\"}\n"), ["a=x", "b=y"]);
        assert_eq!(texts("\u{feff} {\"a\":\"cut of"), ["a=cut of"]);
        assert_eq!(texts("{\"a\":\"cut of\\"), ["a=cut of\\"]);
        assert_eq!(texts("}]{\"a\":\"x\"}"), Vec::<String>::new());
        assert_eq!(texts("{}}]{\"a\":[\"x\"]}"), ["a.*=x"]);
        assert_eq!(texts("a text with {\"a\":\"x\"}"), Vec::<String>::new());
        let deep = format!("{}\"x\"{}", "[".repeat(5000), "]".repeat(5000));
        assert_eq!(texts(&deep).len(), 1);
    }
}
