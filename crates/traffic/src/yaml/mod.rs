//! Reads YAML as the tool does that wrote it: cassettes as PyYAML (YAML 1.1, in which `1e5` is a text
//! and `yes` is true), the archives of Polly.js as JavaScript's packages (YAML 1.2, in which it is the
//! other way round).
//!
//! Aliases are copied within a budget, so that a short file cannot become a large value. Tags choose
//! nothing but `!!binary`, `!!str` and the harmless forms that vcrpy itself reads.

mod plain;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::string::FromUtf8Error;

use crate::node::{self, LocatedValue, Value};
use data_encoding::{BASE64, DecodeError};
use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Tag};
use plain::{core, plain};
use retold::explain::explain;

/// The deepest nesting.
const DEEPEST: usize = 100;

/// The most values. An alias counts as the values that it stands for.
const MOST_VALUES: usize = 1_000_000;

/// The most bytes of text. An alias counts as the text that it stands for.
const MOST_BYTES: usize = 256 << 20;

/// The most bytes of text that aliases stand for, with the copies that are kept for them.
const MOST_COPIED: usize = 64 << 20;

/// How many quoted texts are indented anew, each of which takes another reading.
const MOST_MENDED: usize = 200;

/// Why a text is not read.
#[derive(Debug, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub(crate) struct YamlError {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) what: YamlProblem,
}

/// A problem at a place of a text.
#[derive(Debug, thiserror::Error)]
pub enum YamlProblem {
    /// It is not YAML, in the parser's words.
    #[error("{0}")]
    Syntax(String),
    /// The end of a collection that was not begun.
    #[error("a list or mapping ends that did not begin")]
    EndWithoutBegin,
    /// An alias of a value that it is in.
    #[error("an alias stands within what it stands for")]
    AliasWithin,
    /// More values than fit in memory.
    #[error("there are more than {MOST_VALUES} values, aliases included")]
    TooManyValues,
    /// More text than fits in memory.
    #[error("there are more than {} MiB of text, aliases included", MOST_BYTES >> 20)]
    TooMuchText,
    /// More text in aliases than fits in memory.
    #[error("aliases stand for more than {} MiB of text", MOST_COPIED >> 20)]
    TooMuchCopied,
    /// Nested too deeply.
    #[error("it is nested more than {DEEPEST} levels deep")]
    TooDeep,
    /// A name that is not text.
    #[error("the name of a field is not UTF-8")]
    FieldNotUtf8(#[source] FromUtf8Error),
    /// A name that is a list or a mapping.
    #[error("the name of a field is {0}")]
    FieldKind(&'static str),
    /// Bytes that are not written as base64.
    #[error("this !!binary is not base64: {0}")]
    Binary(#[source] DecodeError),
}

/// A list or a mapping that is being read.
struct OpenCollection {
    anchor: usize,
    line: u32,
    /// The size of the text that was read before it.
    before: Size,
    kind: YamlKind,
}

enum YamlKind {
    List(Vec<LocatedValue>),
    Map(Vec<(String, LocatedValue)>, Option<String>),
    /// A mapping whose tag says that it stands for the bytes in it.
    Buffer(Vec<(String, LocatedValue)>, Option<String>),
}

/// How much was read.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    values: usize,
    bytes: usize,
}

/// The version of YAML that gives texts without quotes their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    /// YAML 1.1, as PyYAML reads it.
    Yaml11,
    /// The core schema of YAML 1.2.
    Yaml12,
}

struct YamlReader {
    schema: Schema,
    open: Vec<OpenCollection>,
    anchors: BTreeMap<usize, (LocatedValue, Size)>,
    size: Size,
    /// How many of these bytes were copied.
    copied: usize,
    root: Option<LocatedValue>,
}

/// The documents of a text.
///
/// # Errors
/// [`YamlError`].
pub(crate) fn read(text: &str, schema: Schema) -> Result<Vec<LocatedValue>, YamlError> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MOST_MENDED {
        match once(&text, schema) {
            Ok(documents) => return Ok(documents),
            Err((error, true)) => match indent_quoted(&text, error.line) {
                Some(mended) => text = Cow::Owned(mended),
                None => return Err(error),
            },
            Err((error, false)) => return Err(error),
        }
    }
    once(&text, schema).map_err(|(error, _)| error)
}

/// Reads a text. The error says whether the indentation of a quoted text is all that is wrong with
/// it.
fn once(text: &str, schema: Schema) -> Result<Vec<LocatedValue>, (YamlError, bool)> {
    let mut documents = Vec::new();
    let mut reader = YamlReader {
        schema,
        open: Vec::new(),
        anchors: BTreeMap::new(),
        size: Size::default(),
        copied: 0,
        root: None,
    };
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|error| {
            let (line, column) = (error.marker().line(), error.marker().col() + 1);
            let is_indent = *error.kind() == ErrorKind::InvalidQuotedScalarIndent;
            (
                YamlError { line, column, what: YamlProblem::Syntax(explain(&error.info())) },
                is_indent,
            )
        })?;
        let (line, column) = (span.start.line(), span.start.col() + 1);
        let at = u32::try_from(line).unwrap_or(u32::MAX);
        if let Event::DocumentEnd = event {
            documents.extend(reader.root.take());
            reader.anchors.clear();
        }
        reader.take(event, at).map_err(|what| (YamlError { line, column, what }, false))?;
    }
    documents.extend(reader.root);
    Ok(documents)
}

/// The text with the quoted text indented that continues at this line. PyYAML accepts any indentation of the later lines of
/// a quoted text, and their leading white space does not count.
fn indent_quoted(text: &str, line: usize) -> Option<String> {
    const FARTHEST: usize = 100_000;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = line.checked_sub(1)?;
    let begins = (at.saturating_sub(FARTHEST)..at).rev();
    let (begin, end) = begins
        .filter_map(|begin| Some((begin, end_of_quoted(&lines, begin)?)))
        .find(|(_, end)| *end >= at)?;
    let mut out = String::with_capacity(text.len() + (end - begin) * DEEPEST * 2);
    for (at, line) in lines.iter().enumerate() {
        if at > begin && at <= end && !line.trim().is_empty() {
            out.extend(std::iter::repeat_n(' ', DEEPEST * 2));
        }
        out.push_str(line);
    }
    Some(out)
}

/// The last line of a quoted text that begins in this line, as the value of a field or an item.
fn end_of_quoted(lines: &[&str], begin: usize) -> Option<usize> {
    let mut rest = lines.get(begin)?.trim_start();
    while let Some(item) = rest.strip_prefix("- ") {
        rest = item.trim_start();
    }
    if !rest.starts_with(['\'', '"']) {
        rest = rest.split_once(": ")?.1.trim_start();
    }
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (mut rest, mut at) = (&rest[1..], begin);
    loop {
        let mut chars = rest.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '\\' if quote == '"' => drop(chars.next()),
                '\'' if quote == '\'' && chars.peek() == Some(&'\'') => drop(chars.next()),
                c if c == quote => return Some(at),
                _ => {}
            }
        }
        at += 1;
        rest = lines.get(at)?;
    }
}

impl YamlReader {
    fn take(&mut self, event: Event<'_>, line: u32) -> Result<(), YamlProblem> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let before = self.size;
                self.count(1, text.len())?;
                let value = scalar(&text, style, tag.as_deref(), self.schema)?;
                self.add(LocatedValue { line, value }, anchor, before)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.begin(YamlKind::List(Vec::new()), anchor, line)
            }
            Event::MappingStart(_, anchor, tag) => {
                let is_buffer = tag.is_some_and(|tag| {
                    let (handle, suffix) = tag.parts();
                    let tag = format!("{handle}{suffix}");
                    tag.ends_with(":python/object/new:_io.BytesIO")
                        || tag.ends_with(":python/object/apply:builtins.iter")
                });
                let kind = match is_buffer {
                    true => YamlKind::Buffer(Vec::new(), None),
                    false => YamlKind::Map(Vec::new(), None),
                };
                self.begin(kind, anchor, line)
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(OpenCollection { anchor, line, before, kind }) = self.open.pop() else {
                    return Err(YamlProblem::EndWithoutBegin);
                };
                let value = match kind {
                    YamlKind::List(items) => Value::List(items),
                    YamlKind::Map(fields, _) => Value::Map(merge(node::once(fields))),
                    YamlKind::Buffer(fields, _) => buffer(node::once(fields)),
                };
                self.add(LocatedValue { line, value }, anchor, before)
            }
            Event::Alias(anchor) => {
                let Some((node, size)) = self.anchors.get(&anchor) else {
                    return Err(YamlProblem::AliasWithin);
                };
                let (node, size) = (node.clone(), *size);
                let before = self.size;
                self.count_copy(size)?;
                self.add(node, 0, before)
            }
            _ => Ok(()),
        }
    }

    fn count(&mut self, values: usize, bytes: usize) -> Result<(), YamlProblem> {
        self.size.values = self.size.values.saturating_add(values);
        self.size.bytes = self.size.bytes.saturating_add(bytes);
        if self.size.values > MOST_VALUES {
            return Err(YamlProblem::TooManyValues);
        }
        if self.size.bytes > MOST_BYTES {
            return Err(YamlProblem::TooMuchText);
        }
        Ok(())
    }

    /// Counts what an alias stands for, or a copy that is kept for aliases.
    fn count_copy(&mut self, Size { values, bytes }: Size) -> Result<(), YamlProblem> {
        self.count(values, bytes)?;
        self.copied = self.copied.saturating_add(bytes);
        if self.copied > MOST_COPIED { Err(YamlProblem::TooMuchCopied) } else { Ok(()) }
    }

    fn begin(&mut self, kind: YamlKind, anchor: usize, line: u32) -> Result<(), YamlProblem> {
        if self.open.len() >= DEEPEST {
            return Err(YamlProblem::TooDeep);
        }
        let before = self.size;
        self.count(1, 0)?;
        self.open.push(OpenCollection { anchor, line, before, kind });
        Ok(())
    }

    /// Adds a value to the collection that it is in.
    fn add(&mut self, node: LocatedValue, anchor: usize, before: Size) -> Result<(), YamlProblem> {
        if anchor != 0 {
            let size = Size {
                values: self.size.values - before.values,
                bytes: self.size.bytes - before.bytes,
            };
            // The copy that is kept for aliases.
            self.count_copy(size)?;
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(YamlKind::List(items)) => items.push(node),
            Some(YamlKind::Map(fields, name) | YamlKind::Buffer(fields, name)) => match name.take()
            {
                Some(name) => fields.push((name, node)),
                None => *name = Some(key(node)?),
            },
        }
        Ok(())
    }
}

/// The name of a field.
fn key(node: LocatedValue) -> Result<String, YamlProblem> {
    match node.value {
        Value::Text(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Null => Ok("null".to_owned()),
        Value::Bytes(bytes) => String::from_utf8(bytes).map_err(YamlProblem::FieldNotUtf8),
        // A text of a class of its own (`istr` of aiohttp), made from the only item.
        Value::List(items) if items.len() == 1 => match items.into_iter().next() {
            Some(item) if !matches!(item.value, Value::List(_)) => key(item),
            _ => Err(YamlProblem::FieldKind("a list")),
        },
        other => Err(YamlProblem::FieldKind(other.kind())),
    }
}

/// A mapping with what `<<` refers to.
fn merge(mut fields: Vec<(String, LocatedValue)>) -> Vec<(String, LocatedValue)> {
    let Some(at) = fields.iter().position(|(name, _)| name == "<<") else { return fields };
    let (_, more) = fields.remove(at);
    let sources = match more.value {
        Value::List(items) => items,
        _ => vec![more],
    };
    let mut known: BTreeSet<String> = fields.iter().map(|(name, _)| name.clone()).collect();
    for source in sources {
        if let Value::Map(more) = source.value {
            fields.extend(more.into_iter().filter(|(name, _)| known.insert(name.clone())));
        }
    }
    fields
}

/// The bytes of a file or an iterator that was the body of a request, as vcrpy writes it.
fn buffer(fields: Vec<(String, LocatedValue)>) -> Value {
    let parts = fields.into_iter().find(|(name, _)| name == "state" || name == "args");
    let first = match parts.map(|(_, node)| node.value) {
        Some(Value::List(items)) => items.into_iter().next().map(|node| node.value),
        _ => None,
    };
    let bytes = |value: Value| match value {
        Value::Bytes(bytes) => bytes,
        Value::Text(text) => text.into_bytes(),
        _ => Vec::new(),
    };
    match first {
        Some(Value::List(parts)) => {
            Value::Bytes(parts.into_iter().flat_map(|part| bytes(part.value)).collect())
        }
        Some(value) => Value::Bytes(bytes(value)),
        None => Value::Bytes(Vec::new()),
    }
}

fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    schema: Schema,
) -> Result<Value, YamlProblem> {
    let tag = tag.map(|tag| {
        let (handle, suffix) = tag.parts();
        format!("{handle}{suffix}")
    });
    // Ruby writes `!binary` for `!!binary`.
    let known = |tag: &'_ str| {
        tag.strip_prefix("tag:yaml.org,2002:").or_else(|| tag.strip_prefix('!')).map(str::to_owned)
    };
    match tag.as_deref().and_then(known).as_deref() {
        Some("binary") => {
            let packed: String = text.chars().filter(|c| !c.is_ascii_whitespace()).collect();
            BASE64.decode(packed.as_bytes()).map(Value::Bytes).map_err(YamlProblem::Binary)
        }
        Some("str" | "python/str" | "python/unicode") => Ok(Value::Text(text.to_owned())),
        _ if style == ScalarStyle::Plain => Ok(match schema {
            Schema::Yaml11 => plain(text),
            Schema::Yaml12 => core(text),
        }),
        _ => Ok(Value::Text(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_schema(text: &str, schema: Schema) -> String {
        let documents = super::read(text, schema).unwrap();
        documents.iter().map(|node| node.json().unwrap().to_string()).collect::<Vec<_>>().join(" ")
    }

    fn json(text: &str) -> String {
        in_schema(text, Schema::Yaml11)
    }

    fn read(text: &str) -> Result<LocatedValue, YamlError> {
        super::read(text, Schema::Yaml11)
            .map(|documents| documents.into_iter().next().unwrap_or(LocatedValue::new(Value::Null)))
    }

    #[test]
    fn plain_texts_of_javascript_mean_what_yaml_1_2_says() {
        let text = "[1e5, yes, off, null, ~, 0o17, 017, 0x1F, 1_000, 1:30, .5, -.5, 1., '1', -7, +3, ., 1.2.3, .inf, 1e, \
            12345678901234567890]";
        let due = r#"[100000.0,"yes","off",null,null,15,17,31,"1_000","1:30",0.5,-0.5,1.0,"1",-7,3,".","1.2.3",".inf","1e",12345678901234567890]"#;
        assert_eq!(in_schema(text, Schema::Yaml12), due);
    }

    #[test]
    fn each_document_is_read_and_has_its_own_anchors() {
        assert_eq!(json("---\na: &x 1\n---\nb: &x 2\nc: *x\n...\n"), r#"{"a":1} {"b":2,"c":2}"#);
        assert_eq!(json("a: 1\n---\n"), r#"{"a":1} null"#);
        assert!(super::read("a: &x 1\n---\nb: *x", Schema::Yaml11).is_err());
        assert!(super::read("# nothing", Schema::Yaml11).unwrap().is_empty());
    }

    /// Each checked against PyYAML 6.0.3.
    #[test]
    fn plain_texts_mean_what_pyyaml_says() {
        let text = "[1e5, 1.0e+5, 1.5e-05, yes, Off, null, ~, 0o17, 017, 0x1F, 1_000, 1:30, .5, -.5, 1., '1', 12e03, \
            2024-01-02, 08, -7, +3, 1.e5]";
        let due = r#"["1e5",100000.0,0.000015,true,false,null,null,"0o17",15,31,1000,90,0.5,"-.5",1.0,"1","12e03","2024-01-02","08",-7,3,"1.e5"]"#;
        assert_eq!(json(text), due);
        assert_eq!(
            json("a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}"),
            r#"{"a":{"b":1},"c":{"b":1},"d":{"b":1,"e":2}}"#
        );
    }

    /// As some cassettes are written, and as PyYAML reads them.
    #[test]
    fn quoted_texts_may_continue_without_indentation() {
        let text = "a:\n  - b: 'one\n  two''s\n\n  three'\n    c: \"four\\\n    five\"\n  - \"six\n  seven\"\n";
        assert_eq!(json(text), r#"{"a":[{"b":"one two's\nthree","c":"fourfive"},"six seven"]}"#);
        assert!(read("a:\n  b: 'one\n  two").is_err());
    }

    #[test]
    fn bytes_and_buffers_are_read() {
        let node = read("a: !!binary |\n  aGk=\nb: !!python/object/new:_io.BytesIO\n  state: !!python/tuple\n  - !!binary |\n    aGk=\n  - 0").unwrap();
        for name in ["a", "b"] {
            assert!(
                matches!(&node.get(name).unwrap().value, Value::Bytes(bytes) if bytes == b"hi")
            );
        }
    }

    #[test]
    fn bombs_depth_and_nonsense_are_refused_where_they_are() {
        let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for n in 1..12 {
            let aliases = vec![format!("*a{}", n - 1); 10].join(",");
            bomb += &format!("a{n}: &a{n} [{aliases}]\n");
        }
        let error = read(&bomb).unwrap_err();
        assert!(error.to_string().contains("aliases included"), "{error}");
        let error = read(&"[".repeat(10_000)).unwrap_err();
        assert!(error.to_string().contains("deep") || error.line == 1, "{error}");
        let error = read("a:\n  - b\n c: d").unwrap_err();
        assert_eq!(error.line, 3, "{error}");
        let error = read("a: !!binary '%%'").unwrap_err();
        assert!(error.to_string().contains("base64"), "{error}");
        assert!(read("a: &x [*x]").is_err());
    }
}
