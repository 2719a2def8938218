//! A YAML text as one value that knows where its parts are. Types are read from it (`typed`), and places are found in it.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::{Location, Spanned};

/// Line and column, both from 1.
pub(super) type Place = (u64, u64);

/// A value of a config and its place; without one, it comes from a setting.
#[derive(Debug)]
pub(super) struct YamlNode {
    pub(super) place: Option<Place>,
    pub(super) content: YamlContent,
}

/// The key of a value in a group.
#[derive(Debug)]
pub(super) struct YamlKey {
    pub(super) place: Option<Place>,
    pub(super) name: String,
}

#[derive(Debug)]
pub(super) enum YamlContent {
    Group(Vec<(YamlKey, YamlNode)>),
    List(Vec<YamlNode>),
    Text(String),
    /// A number, a boolean or nothing, and how the file spells it: where a text is expected, `1.10` is that text.
    Plain(Value, Option<String>),
}

impl YamlNode {
    /// The value of a YAML text.
    ///
    /// # Errors
    /// The text is not YAML or has too many values, or a number in it is not finite.
    pub(super) fn read(text: &str) -> Result<YamlNode, serde_saphyr::Error> {
        Ok(serde_saphyr::from_str::<Option<Spanned<RawYaml>>>(text)?.map_or_else(
            || YamlNode { place: None, content: YamlContent::Plain(Value::Null, None) },
            |yaml| YamlNode::of_yaml(yaml, text),
        ))
    }

    fn of_yaml(Spanned { value, referenced, defined }: Spanned<RawYaml>, text: &str) -> YamlNode {
        let content = match value {
            RawYaml::Group(entries) => YamlContent::Group(
                entries
                    .into_iter()
                    .map(|(key, value)| {
                        let place = Some(place(key.referenced));
                        (YamlKey { place, name: key.value }, YamlNode::of_yaml(value, text))
                    })
                    .collect(),
            ),
            RawYaml::List(items) => YamlContent::List(
                items.into_iter().map(|item| YamlNode::of_yaml(item, text)).collect(),
            ),
            RawYaml::Leaf(Value::String(it)) => YamlContent::Text(it),
            RawYaml::Leaf(it) => YamlContent::Plain(it, spelling(text, defined)),
        };
        YamlNode { place: Some(place(referenced)), content }
    }

    /// The node of a value that no file has, such as one from `--set`.
    pub(super) fn of_value(value: Value) -> YamlNode {
        let content = match value {
            Value::Object(entries) => YamlContent::Group(
                entries
                    .into_iter()
                    .map(|(name, value)| (YamlKey { place: None, name }, YamlNode::of_value(value)))
                    .collect(),
            ),
            Value::Array(items) => {
                YamlContent::List(items.into_iter().map(YamlNode::of_value).collect())
            }
            Value::String(it) => YamlContent::Text(it),
            it => YamlContent::Plain(it, None),
        };
        YamlNode { place: None, content }
    }
}

fn place(location: Location) -> Place {
    (location.line(), location.column())
}

/// How a text spells a value.
fn spelling(text: &str, location: Location) -> Option<String> {
    let span = location.span();
    let begin = usize::try_from(span.byte_offset()?).ok()?;
    let end = begin.checked_add(usize::try_from(span.byte_len()?).ok()?)?;
    text.get(begin..end).map(str::to_owned)
}

/// A value from the YAML reader.
enum RawYaml {
    Group(Vec<(Spanned<String>, Spanned<RawYaml>)>),
    List(Vec<Spanned<RawYaml>>),
    Leaf(Value),
}

impl<'de> Deserialize<'de> for RawYaml {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawYamlVisitor)
    }
}

struct RawYamlVisitor;

impl<'de> Visitor<'de> for RawYamlVisitor {
    type Value = RawYaml;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("YAML")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawYaml, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(RawYaml::Group(entries))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RawYaml, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(RawYaml::List(items))
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<RawYaml, E> {
        Ok(RawYaml::Leaf(value.into()))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<RawYaml, E> {
        Ok(RawYaml::Leaf(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<RawYaml, E> {
        Ok(RawYaml::Leaf(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<RawYaml, E> {
        Ok(RawYaml::Leaf(value.into()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<RawYaml, E> {
        Ok(RawYaml::Leaf(value.into()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<RawYaml, E> {
        Ok(RawYaml::Leaf(Value::Null))
    }
}
