//! Rewords a deserialiser's messages for the person who wrote the file.

use crate::escaping::printable;
use crate::text_diff::likeness;

/// The longest value that a message shows.
const LONGEST: usize = 60;

/// A deserialiser's message without Rust type names and backticks.
pub fn explain(message: &str) -> String {
    if let Some((found, expected)) = mismatch(message) {
        let expected = words(expected);
        return match found {
            "null" | "unit value" | "Option value" => {
                format!("expected {expected}, but found nothing")
            }
            _ => format!("expected {expected}, not {}", found_words(found)),
        };
    }
    let message = message.replace('`', "");
    if let Some((unknown, known)) = message
        .strip_prefix("unknown field ")
        .or_else(|| message.strip_prefix("unknown variant "))
        .and_then(|rest| rest.split_once(", expected "))
    {
        let what = if message.starts_with("unknown field") { "key" } else { "value" };
        let known = known.trim_start_matches("one of ").replace(" or ", ", ");
        let near =
            known.split(", ").max_by(|a, b| likeness(a, unknown).total_cmp(&likeness(b, unknown)));
        let near = near.filter(|near| likeness(near, unknown) >= 0.6);
        let meant = near.map_or_else(String::new, |near| format!(" did you mean {near}?"));
        let unknown = printable(unknown, LONGEST);
        return format!("unknown {what} {unknown:?};{meant} known here: {known}");
    }
    if let Some(key) = message.strip_prefix("missing field ") {
        return format!("the key {key:?} is missing here, and it has no default");
    }
    if let Some(key) = message.strip_prefix("duplicate field ") {
        return format!("the key {key:?} is given twice");
    }
    if let Some(rest) = message.strip_prefix("duplicate mapping key: ") {
        let key = rest.split_once(',').map_or(rest, |(key, _)| key);
        return format!("the key {key:?} is given twice");
    }
    if let Some(number) = not_finite(&message) {
        return format!("{number} is not a finite number");
    }
    if let Some(breach) = message.strip_prefix("budget breached: ") {
        return budget(breach).to_owned();
    }
    if let Some(said) = yaml_syntax(&message) {
        return said.to_owned();
    }
    match message.strip_prefix("invalid ").or_else(|| message.strip_prefix("expected ")) {
        Some(rest) if words(rest) != rest => format!("expected {}", words(rest)),
        _ => message,
    }
}

/// The limit of serde-saphyr's `Budget` that a file exceeds, by the name of its `BudgetBreach`.
fn budget(breach: &str) -> &'static str {
    let end = breach.find(|c: char| !c.is_alphanumeric()).unwrap_or(breach.len());
    match &breach[..end] {
        "Events" | "Nodes" => {
            "a file has at most 250,000 values, with those that its aliases repeat"
        }
        "Depth" => "values lie within each other, at most 64 deep",
        "Aliases" | "AliasAnchorRatio" | "Anchors" | "MergeKeys" => {
            "it repeats values by aliases too often: write them out"
        }
        "ScalarBytes" => "its texts have at most 64 MiB",
        "Documents" => "it has too many YAML documents",
        _ => "it is too large for its reader",
    }
}

/// Messages of a YAML reader about its grammar, and their meaning: the words that they contain, and our sentence.
const YAML_SYNTAX: &[(&str, &str)] = &[
    (
        "mapping values are not allowed",
        "there cannot be a key here: check the indentation, and put a text that has a colon in quotes",
    ),
    (
        "did not find expected key",
        "a key is expected here: check the indentation, and put a text that has quotes or a colon in quotes",
    ),
    ("simple key expected ':'", "this line has no colon: a key is followed by a colon and a space"),
    (
        "simple key is no longer valid",
        "this key has no colon, or its text goes over more than one line",
    ),
    ("expected node content", "a value is expected here"),
    ("expected ',' or '}'", "a comma or } is expected here"),
    ("expected ',' or ']'", "a comma or ] is expected here"),
    (
        "did not find expected '-' indicator",
        "an item that begins with a dash is expected here: check the indentation",
    ),
    (
        "block sequence entries are not allowed",
        "there cannot be an item of a list here: check the indentation",
    ),
    ("\"-\" is only valid inside a block", "there cannot be an item with a dash inside brackets"),
    ("tabs disallowed", "a tab cannot indent: use spaces"),
    ("tab cannot be used as indentation", "a tab cannot indent: use spaces"),
    ("unclosed quote", "a quote is opened here and not closed"),
    (
        "unknown escape character",
        "this escape is not known in double quotes: write \\\\ for a backslash, or use single quotes",
    ),
    (
        "invalid trailing content after",
        "there is text after the closing quote: put the whole value in quotes",
    ),
    (
        "wrongly indented line in block scalar",
        "this line of a text has less indentation than its first line",
    ),
    (
        "multiline quoted scalar",
        "a quote was opened above and is not closed, or this line of its text is not indented",
    ),
    ("indentation in flow", "this line within brackets is not indented"),
    ("invalid indentation", "the indentation fits none of the groups above"),
    (
        "unknown anchor",
        "* begins the name of an anchor, and there is none of this name: put the text in quotes",
    ),
    (
        "expected alphabetic or numeric character",
        "& and * begin the name of an anchor: put the text in quotes",
    ),
    ("unexpected EOF", "the file ends inside a group, a list or a text"),
    ("unexpected eof", "the file ends inside a group, a list or a text"),
    (
        "did not find expected <document start>",
        "the document ends above this line: check the indentation",
    ),
];

/// A YAML reader's message about its grammar, in other words.
fn yaml_syntax(message: &str) -> Option<&'static str> {
    YAML_SYNTAX.iter().find(|(contained, _)| message.contains(contained)).map(|(_, said)| *said)
}

/// The number that a YAML reader refuses because it is not a number, or too large to be one.
pub fn not_finite(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("non-finite float ")?;
    rest.strip_suffix(" rejected by the configured policy")
}

/// The found and the expected value in a deserialiser's message; `None` for other messages.
pub fn mismatch(message: &str) -> Option<(&str, &str)> {
    let rest = ["invalid type: ", "invalid value: "];
    let rest = rest.into_iter().find_map(|start| message.strip_prefix(start))?;
    // The text may contain any words, so only the last match is the deserialiser's.
    rest.rsplit_once(", expected ")
}

/// The expected value in words, without Rust type names.
pub fn words(expected: &str) -> &str {
    let name = expected.split(" with ").next().unwrap_or(expected);
    match name {
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" | "floating point" => "a number",
        "bool" | "boolean" | "a boolean" => "true or false",
        "a string" | "a borrowed string" => "a text",
        // The YAML reader says the same when it expects a number.
        "string scalar" => "a single value",
        "path string" => "a path",
        "a sequence" | "sequence start" | "a seq" => "a list",
        "a map" | "mapping start" => "a group of keys",
        "ident" => "true, false or null",
        _ if name.starts_with("struct ") || name.starts_with("internally tagged ") => {
            "a group of keys"
        }
        _ if name.starts_with("tuple ") || name.starts_with("an array") => "a list",
        _ if name.starts_with("enum ") || name == "variant identifier" => "a text",
        _ => expected,
    }
}

/// The found value, in the same words.
fn found_words(found: &str) -> String {
    let inside = |kind: &str| found.strip_prefix(kind).map(|rest| rest.trim_matches('`'));
    if let Some(text) = inside("string ") {
        // It is already quoted, with its control characters escaped.
        let text = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(text);
        return format!("the text \"{}\"", printable(text, LONGEST));
    }
    if let Some(number) = inside("integer ").or_else(|| inside("floating point ")) {
        return format!("the number {}", printable(number, LONGEST));
    }
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "a group of keys".to_owned(),
        _ => printable(inside("boolean ").unwrap_or(found), LONGEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_that_people_know() {
        for (said, plain) in [
            (
                "invalid type: map, expected u16",
                "expected a whole number from 0 to 65535, not a group of keys",
            ),
            (
                "invalid type: sequence, expected struct ExchangeError",
                "expected a group of keys, not a list",
            ),
            ("invalid type: integer `3`, expected a sequence", "expected a list, not the number 3"),
            (
                "invalid value: integer `-1`, expected u32",
                "expected a whole number from 0 to 4294967295, not the number -1",
            ),
            ("invalid type: null, expected a string", "expected a text, but found nothing"),
            ("invalid type: boolean `true`, expected f64", "expected a number, not true"),
            (
                "invalid type: string \"a, expected b\", expected i64",
                "expected a whole number, not the text \"a, expected b\"",
            ),
            (
                "invalid type: floating point `1.5`, expected usize",
                "expected a whole number, 0 or more, not the number 1.5",
            ),
            (
                "invalid type: integer `1`, expected struct Limits with 3 elements",
                "expected a group of keys, not the number 1",
            ),
            ("expected sequence start", "expected a list"),
            ("invalid u32", "expected a whole number from 0 to 4294967295"),
            ("expected ident", "expected true, false or null"),
            ("invalid unicode code point", "invalid unicode code point"),
            ("expected `,` or `}`", "expected , or }"),
            (
                "non-finite float 1e400 rejected by the configured policy",
                "1e400 is not a finite number",
            ),
            ("missing field `a`", "the key \"a\" is missing here, and it has no default"),
            ("duplicate field `a`", "the key \"a\" is given twice"),
        ] {
            assert_eq!(explain(said), plain);
        }
    }

    #[test]
    fn a_long_value_is_cut_and_escaped() {
        let said = format!("invalid type: string \"\u{1b}{}\", expected u8", "x".repeat(99));
        let plain = format!("not the text \"\\u{{1b}}{}…\"", "x".repeat(59));
        assert_eq!(explain(&said), format!("expected a whole number from 0 to 255, {plain}"));
    }
}
