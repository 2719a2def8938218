//! Values that facts carry only for the fold: long values that are also in answers.
//!
//! Runs of the first [edition](super::edition::Edition) kept such values in local variables. Now
//! they are folded in every run. In runs of the first edition, they are neither in the log nor in
//! the digest of the state, so that these runs replay unchanged.

use std::sync::Arc;

use data_encoding::BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::edition::Edition;
use retold::content::Content;

/// A value that is folded, and also recorded unless the run is of the first edition. For a field
/// with `#[serde(default, skip_serializing_if = "Carried::is_left_out")]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried<T> {
    value: Option<T>,
    is_recorded: bool,
}

impl<T> Default for Carried<T> {
    /// No value.
    fn default() -> Self {
        Carried { value: None, is_recorded: false }
    }
}

impl<T> Carried<T> {
    /// A value in a run of a given edition.
    pub fn new(value: T, edition: Edition) -> Self {
        Carried { value: Some(value), is_recorded: !edition.is_first() }
    }

    /// The value, if there is one. A fact read from a log of the first edition has none.
    pub fn get(&self) -> Option<&T> {
        self.value.as_ref()
    }

    /// Whether it is left out of both log and digests.
    pub fn is_left_out(&self) -> bool {
        !self.is_recorded
    }

    /// Merges a carried value into this one.
    pub fn fold<V>(&mut self, carried: Carried<V>, add: impl FnOnce(&mut T, V))
    where
        T: Default,
    {
        if let Some(value) = carried.value {
            self.is_recorded |= carried.is_recorded;
            add(self.value.get_or_insert_default(), value);
        }
    }
}

impl<T: Serialize> Serialize for Carried<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Carried<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Carried { value: Some(T::deserialize(deserializer)?), is_recorded: true })
    }
}

/// A vector in a fact: its 32-bit floats, little-endian, in base64.
#[derive(Debug, Clone, PartialEq)]
pub struct Floats(pub Arc<[f32]>);

impl Serialize for Floats {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|x| x.to_le_bytes()).collect();
        serializer.serialize_str(&BASE64.encode(&bytes))
    }
}

impl<'de> Deserialize<'de> for Floats {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let bytes = BASE64.decode(text.as_bytes()).map_err(de::Error::custom)?;
        let (floats, rest) = bytes.as_chunks::<4>();
        if rest.is_empty() {
            Ok(Floats(floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
        } else {
            Err(de::Error::custom("a vector is cut off in the middle of a float"))
        }
    }
}

/// A vector in a state. A digest contains only the hash of its floats, so that marking a state with
/// many vectors is cheap.
#[derive(Debug, Clone, PartialEq)]
pub struct Hashed(pub Floats);

impl Hashed {
    /// The floats.
    pub fn floats(&self) -> &Arc<[f32]> {
        &self.0.0
    }
}

impl Serialize for Hashed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Content::Vector(self.floats().clone()).hash().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Fact {
        #[serde(default, skip_serializing_if = "Carried::is_left_out")]
        floats: Carried<Floats>,
    }

    #[test]
    fn what_is_carried_is_recorded_from_the_second_edition_on() {
        let floats = || Floats([0.1f32, -3.5e-9].as_slice().into());
        let fact = Fact { floats: Carried::new(floats(), Edition::Second) };
        let text = serde_json::to_string(&fact).unwrap();
        assert_eq!(text, r#"{"floats":"zczMPaeEcLE="}"#);
        assert_eq!(serde_json::from_str::<Fact>(&text).unwrap(), fact);
        let fact = Fact { floats: Carried::new(floats(), Edition::First) };
        let text = serde_json::to_string(&fact).unwrap();
        assert_eq!(text, "{}");
        assert_eq!(serde_json::from_str::<Fact>(&text).unwrap().floats.get(), None);
    }

    #[test]
    fn a_value_that_is_not_a_vector_is_refused() {
        let said = |text: &str| {
            let fact = serde_json::json!({"floats": text});
            serde_json::from_value::<Fact>(fact).unwrap_err().to_string()
        };
        assert_eq!(said("AAAAAAA="), "a vector is cut off in the middle of a float");
        assert_eq!(said("?"), "invalid length at 0");
    }

    #[test]
    fn a_state_has_the_hash_of_a_vector() {
        let floats: Arc<[f32]> = [0.5f32].into();
        let hash = Content::Vector(floats.clone()).hash().to_string();
        let hashed = serde_json::to_value(Hashed(Floats(floats))).unwrap();
        assert_eq!(hashed, serde_json::Value::String(hash));
    }
}
