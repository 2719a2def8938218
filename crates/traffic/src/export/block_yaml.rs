//! YAML for people: mappings and lists in blocks, texts of several lines as they are.

use super::yaml::quote;
use crate::node::{LocatedValue, Value};

/// Words that readers of YAML 1.1 or 1.2 take for something else than a text.
const RESERVED: &[&str] =
    &["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "infinity"];

/// A block of lines.
#[derive(Debug, Default)]
pub(super) struct YamlBlock {
    lines: String,
    indent: usize,
}

impl YamlBlock {
    /// The lines.
    pub(super) fn into_lines(self) -> String {
        self.lines
    }

    /// A field with a value of JSON.
    pub(super) fn field(&mut self, name: &str, value: &LocatedValue) {
        self.begin();
        self.lines.push_str(&key(name));
        self.lines.push(':');
        self.value(value);
    }

    /// A field on one line, whatever its value.
    pub(super) fn line(&mut self, name: &str, value: &LocatedValue) {
        self.begin();
        self.lines.push_str(&key(name));
        self.lines.push_str(": ");
        flow(value, &mut self.lines);
        self.lines.push('\n');
    }

    /// A field with a text.
    pub(super) fn text(&mut self, name: &str, text: &str) {
        self.field(name, &LocatedValue::new(Value::Text(text.to_owned())));
    }

    /// A field with fields of its own.
    pub(super) fn fields(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.begin();
        self.lines.push_str(&key(name));
        self.lines.push_str(":\n");
        self.indent += 1;
        write(self);
        self.indent -= 1;
    }

    /// A field that is a list of mappings.
    pub(super) fn items<T>(&mut self, name: &str, items: &[T], write: impl Fn(&mut Self, &T)) {
        self.begin();
        self.lines.push_str(&key(name));
        self.lines.push_str(":\n");
        for item in items {
            self.item(|block| write(block, item));
        }
    }

    /// An item of a list: its first line begins with a dash.
    fn item(&mut self, write: impl FnOnce(&mut Self)) {
        let at = self.lines.len();
        self.indent += 1;
        write(self);
        self.indent -= 1;
        let dash = at + 2 * self.indent;
        if self.lines.len() > dash {
            self.lines.replace_range(dash..=dash, "-");
        }
    }

    fn begin(&mut self) {
        self.lines.extend(std::iter::repeat_n(' ', 2 * self.indent));
    }

    /// A value after its key or dash.
    fn value(&mut self, value: &LocatedValue) {
        match &value.value {
            Value::Map(fields) if !fields.is_empty() => {
                self.lines.push('\n');
                self.indent += 1;
                for (name, field) in fields {
                    self.field(name, field);
                }
                self.indent -= 1;
            }
            Value::List(items) if !items.is_empty() => {
                self.lines.push('\n');
                for item in items {
                    self.element(item);
                }
            }
            Value::Text(text) if is_literal(text) => self.literal(text),
            _ => {
                self.lines.push(' ');
                self.lines.push_str(&scalar(&value.value));
                self.lines.push('\n');
            }
        }
    }

    fn element(&mut self, item: &LocatedValue) {
        match &item.value {
            Value::Map(fields) if !fields.is_empty() => self.item(|block| {
                for (name, field) in fields {
                    block.field(name, field);
                }
            }),
            _ => {
                self.begin();
                self.lines.push('-');
                self.indent += 1;
                self.value(item);
                self.indent -= 1;
            }
        }
    }

    /// A text of several lines, as it is.
    fn literal(&mut self, text: &str) {
        let ending = match (text.ends_with('\n'), text.ends_with("\n\n")) {
            (false, _) => "-",
            (true, false) => "",
            (true, true) => "+",
        };
        self.lines.push_str(" |");
        self.lines.push_str(ending);
        self.lines.push('\n');
        self.indent += 1;
        let body = text.strip_suffix('\n').unwrap_or(text);
        for line in body.split('\n') {
            if !line.is_empty() {
                self.begin();
                self.lines.push_str(line);
            }
            self.lines.push('\n');
        }
        self.indent -= 1;
    }
}

/// Whether a text can be shown as it is: it has lines, and nothing that readers change or refuse.
fn is_literal(text: &str) -> bool {
    let is_plain = |c: char| {
        c == '\n'
            || !(c.is_control()
                || matches!(c, '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}'))
    };
    let first = text.split('\n').next().unwrap_or_default();
    text.contains('\n')
        // The first line says how far the others are indented.
        && !first.is_empty()
        && !first.starts_with(' ')
        && text.chars().all(is_plain)
        // Spaces alone would be taken for the indentation.
        && text.split('\n').all(|line| line.is_empty() || !line.trim().is_empty())
}

/// Writes a value on one line.
fn flow(value: &LocatedValue, out: &mut String) {
    match &value.value {
        Value::Map(fields) => {
            out.push('{');
            for (at, (name, field)) in fields.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                out.push_str(&key(name));
                out.push_str(": ");
                flow(field, out);
            }
            out.push('}');
        }
        Value::List(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { ", " } else { "" });
                flow(item, out);
            }
            out.push(']');
        }
        other => out.push_str(&scalar(other)),
    }
}

fn key(name: &str) -> String {
    if is_word(name) { name.to_owned() } else { quote(name) }
}

/// Whether a text is the same to all readers without quotes.
fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        && !RESERVED.contains(&&*text.to_ascii_lowercase())
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        // YAML 1.1 takes `1e5` for a text, and JSON writes no other numbers that it would.
        Value::Number(number) => match number.to_string() {
            number if number.contains(['e', 'E']) && !number.contains('.') => {
                number.replacen('e', ".0e", 1)
            }
            number => number,
        },
        Value::Text(text) if is_word(text) => text.clone(),
        Value::Text(text) => quote(text),
        Value::Bytes(bytes) => super::yaml::text_or_bytes(bytes),
        Value::List(_) => "[]".to_owned(),
        Value::Map(_) => "{}".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::yaml::{Schema, read};

    fn tree() -> impl Strategy<Value = LocatedValue> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(|n| Value::Number(n.into())),
            any::<f64>()
                .prop_filter_map("finite", |n| serde_json::Number::from_f64(n).map(Value::Number)),
            any::<String>().prop_map(Value::Text),
            "[a \n:#-]{0,12}".prop_map(Value::Text),
            prop::sample::select(vec![
                "yes", "1", "0x1f", "1_000", "12:30", "~", "-", "2026-01-01", "", " a", "a\n",
                "a\n\n", "\n"
            ])
            .prop_map(|text| Value::Text(text.to_owned())),
        ];
        let leaf = leaf.prop_map(LocatedValue::new);
        leaf.prop_recursive(4, 24, 4, |inner| {
            let name = prop_oneof!["[a-z]{1,6}", any::<String>()];
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4)
                    .prop_map(|items| LocatedValue::new(Value::List(items))),
                prop::collection::btree_map(name, inner, 0..4)
                    .prop_map(|fields| LocatedValue::new(Value::Map(fields.into_iter().collect()))),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(value in tree()) {
            let mut block = YamlBlock::default();
            block.field("a", &value);
            block.line("b", &value);
            let text = block.into_lines();
            let again = read(&text, Schema::Yaml11);
            let again = again.unwrap_or_else(|error| panic!("{error}\n{text}"));
            for (_, field) in again[0].map().unwrap() {
                prop_assert_eq!(field.text_of_json(), value.text_of_json(), "{}", text);
            }
        }
    }
}
