//! Types, read from a value with places. A value of the wrong type, an unknown key and a missing key are reported here, each
//! with its place.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::Value;

use super::node::{Place, YamlContent, YamlKey, YamlNode};

/// Why a value is not of a type.
#[derive(Debug)]
pub(super) struct Mistake {
    /// `None` for values that are in no file.
    pub(super) place: Option<Place>,
    /// In the words of deserialisers.
    pub(super) said: String,
    /// The key that a group lacks.
    missing: Option<&'static str>,
    /// The keys around it, from the outermost, with dots.
    path: String,
}

/// Reads a type from a value.
///
/// # Errors
/// The first [`Mistake`].
pub(super) fn deserialize<T: DeserializeOwned>(node: &YamlNode) -> Result<T, Mistake> {
    T::deserialize(node).map_err(|mistake| mistake.at(node.place.or(Some((1, 1)))))
}

impl Mistake {
    fn new(said: String) -> Self {
        Mistake { place: None, said, missing: None, path: String::new() }
    }

    fn at(self, place: Option<Place>) -> Self {
        Mistake { place: self.place.or(place), ..self }
    }

    /// The same, seen from a group or list around it.
    fn within(self, part: &str, place: Option<Place>) -> Self {
        let dot = if self.path.is_empty() || self.path.starts_with('[') { "" } else { "." };
        let path = format!("{part}{dot}{}", self.path);
        Mistake { path, ..self }.at(place)
    }

    /// The key that a group lacks, and the group.
    pub(super) fn missing(&self) -> Option<(&'static str, &str)> {
        self.missing.map(|key| (key, self.path.as_str()))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(said: T) -> Self {
        Mistake::new(said.to_string())
    }

    fn missing_field(field: &'static str) -> Self {
        let said = format!("missing field `{field}`");
        Mistake { missing: Some(field), ..Mistake::new(said) }
    }
}

impl YamlNode {
    fn as_unexpected(&self) -> Unexpected<'_> {
        match &self.content {
            YamlContent::Group(_) => Unexpected::Map,
            YamlContent::List(_) => Unexpected::Seq,
            YamlContent::Text(text) => Unexpected::Str(text),
            YamlContent::Plain(Value::Bool(it), _) => Unexpected::Bool(*it),
            YamlContent::Plain(Value::Number(it), _) => match (it.as_u64(), it.as_i64()) {
                (Some(it), _) => Unexpected::Unsigned(it),
                (None, Some(it)) => Unexpected::Signed(it),
                (None, None) => Unexpected::Float(it.as_f64().unwrap_or(f64::NAN)),
            },
            YamlContent::Plain(..) => Unexpected::Unit,
        }
    }

    fn is_nothing(&self) -> bool {
        matches!(self.content, YamlContent::Plain(Value::Null, _))
    }
}

impl<'de> Deserializer<'de> for &'de YamlNode {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let read = match &self.content {
            YamlContent::Group(entries) => visitor.visit_map(YamlEntries::of(entries)),
            YamlContent::List(items) => visitor.visit_seq(YamlItems { rest: items, next: 0 }),
            YamlContent::Text(text) => visitor.visit_borrowed_str(text),
            YamlContent::Plain(Value::Bool(it), _) => visitor.visit_bool(*it),
            YamlContent::Plain(Value::Number(it), _) => match (it.as_u64(), it.as_i64()) {
                (Some(it), _) => visitor.visit_u64(it),
                (None, Some(it)) => visitor.visit_i64(it),
                (None, None) => visitor.visit_f64(it.as_f64().unwrap_or(f64::NAN)),
            },
            YamlContent::Plain(..) => visitor.visit_unit(),
        };
        match &self.content {
            // A mistake in a group as a whole is placed by the node around it.
            YamlContent::Group(_) => read,
            _ => read.map_err(|mistake| mistake.at(self.place)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        if self.is_nothing() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match &self.content {
            YamlContent::Plain(value, Some(spelling)) if !value.is_null() => {
                visitor.visit_borrowed_str(spelling)
            }
            _ => self.deserialize_any(visitor),
        }
        .map_err(|mistake: Mistake| mistake.at(self.place))
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }

    /// The keys of a group have names, so that a list is none.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        match &self.content {
            YamlContent::List(_) => {
                Err(Mistake::invalid_type(self.as_unexpected(), &visitor).at(self.place))
            }
            // An empty file is a config without keys.
            YamlContent::Plain(Value::Null, _) if self.place.is_none() => {
                visitor.visit_map(YamlEntries::of(&[]))
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        let read = match &self.content {
            YamlContent::Text(name) => visitor.visit_enum(YamlVariant { name, value: None }),
            YamlContent::Group(entries) => match &entries[..] {
                [(YamlKey { name, .. }, value)] => {
                    visitor.visit_enum(YamlVariant { name, value: Some(value) })
                }
                _ => Err(Mistake::custom("expected a group with one key")),
            },
            _ => {
                let known = format!("one of {}", variants.join(", "));
                Err(Mistake::invalid_type(self.as_unexpected(), &known.as_str()))
            }
        };
        read.map_err(|mistake| mistake.at(self.place))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit
        unit_struct seq tuple tuple_struct identifier ignored_any
    }
}

/// The remaining entries of a group.
struct YamlEntries<'de> {
    rest: &'de [(YamlKey, YamlNode)],
    /// The entry whose key was read last.
    last: Option<&'de (YamlKey, YamlNode)>,
}

impl<'de> YamlEntries<'de> {
    fn of(rest: &'de [(YamlKey, YamlNode)]) -> Self {
        YamlEntries { rest, last: None }
    }
}

impl<'de> MapAccess<'de> for YamlEntries<'de> {
    type Error = Mistake;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Mistake> {
        let Some((entry, rest)) = self.rest.split_first() else { return Ok(None) };
        (self.last, self.rest) = (Some(entry), rest);
        let (key, _) = entry;
        let name = seed.deserialize(StrDeserializer::<Mistake>::new(&key.name));
        name.map(Some).map_err(|mistake| mistake.at(key.place))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Mistake> {
        let Some((key, value)) = self.last else {
            return Err(Mistake::custom("a value is read before its key"));
        };
        seed.deserialize(value).map_err(|mistake| {
            // A group lacks a key where its own key is.
            let place = if mistake.missing.is_some() { key.place } else { value.place };
            mistake.within(&key.name, place)
        })
    }
}

/// The remaining items of a list.
struct YamlItems<'de> {
    rest: &'de [YamlNode],
    /// The number of the next, from 0.
    next: usize,
}

impl<'de> SeqAccess<'de> for YamlItems<'de> {
    type Error = Mistake;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Mistake> {
        let Some((item, rest)) = self.rest.split_first() else { return Ok(None) };
        let number = self.next;
        (self.rest, self.next) = (rest, number + 1);
        let read = seed.deserialize(item);
        read.map(Some).map_err(|mistake| mistake.within(&format!("[{number}]"), item.place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// One of several kinds of value, and the data besides its name.
struct YamlVariant<'de> {
    name: &'de str,
    value: Option<&'de YamlNode>,
}

impl<'de> EnumAccess<'de> for YamlVariant<'de> {
    type Error = Mistake;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Mistake> {
        let name = seed.deserialize(StrDeserializer::<Mistake>::new(self.name))?;
        Ok((name, self))
    }
}

impl<'de> YamlVariant<'de> {
    fn value(&self) -> Result<&'de YamlNode, Mistake> {
        let missing = || Mistake::custom(format!("{} needs a value", self.name));
        self.value.ok_or_else(missing)
    }
}

impl<'de> VariantAccess<'de> for YamlVariant<'de> {
    type Error = Mistake;

    fn unit_variant(self) -> Result<(), Mistake> {
        match self.value {
            Some(value) if !value.is_nothing() => {
                Err(Mistake::invalid_type(value.as_unexpected(), &"no value").at(value.place))
            }
            _ => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Mistake> {
        seed.deserialize(self.value()?)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Mistake> {
        self.value()?.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.value()?.deserialize_struct("", fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Item {
        name: String,
        size: Option<u8>,
    }

    type Items = BTreeMap<String, Vec<Item>>;

    fn read(text: &str) -> Result<Items, Mistake> {
        deserialize(&YamlNode::read(text).unwrap())
    }

    #[test]
    fn a_text_is_what_the_file_spells() {
        for (written, name) in [
            ("1.10", "1.10"),
            ("0x1F", "0x1F"),
            ("yes", "yes"),
            ("1e3", "1e3"),
            ("'1.10'", "1.10"),
            ("&a 007", "007"),
            ("[]", ""),
        ] {
            let read = read(&format!("über:\n  - name: {written}\n"));
            match name {
                "" => assert!(read.unwrap_err().said.starts_with("invalid type: sequence")),
                name => assert_eq!(read.unwrap()["über"][0].name, name),
            }
        }
        let twice = read("a: [&x {name: 1_000}]\nb: [*x]\n").unwrap();
        assert_eq!(twice["a"], twice["b"]);
        assert_eq!(twice["a"], [Item { name: "1_000".to_owned(), size: None }]);
    }

    #[test]
    fn a_mistake_has_its_place() {
        for (text, place, said) in [
            ("a:\n  - size: 1\n", (2, 5), "missing field `name`"),
            (
                "a:\n  - {name: x, size: 256}\n",
                (2, 21),
                "invalid value: integer `256`, expected u8",
            ),
            (
                "a:\n  - {name: x, sise: 1}\n",
                (2, 15),
                "unknown field `sise`, expected `name` or `size`",
            ),
            ("a:\n  - x\n", (2, 5), "invalid type: string \"x\", expected struct Item"),
            ("a:\n  - [x, 1]\n", (2, 5), "invalid type: sequence, expected struct Item"),
            ("a:\n  - name:\n", (2, 9), "invalid type: unit value, expected a string"),
        ] {
            let mistake = read(text).unwrap_err();
            assert_eq!((mistake.place, &*mistake.said), (Some(place), said), "{text}");
        }
        let mistake = read("a:\n  - name: x\n  - size: 1\n").unwrap_err();
        assert_eq!(mistake.missing(), Some(("name", "a[1]")));
    }
}
