//! Vectors in facts and in states.

use std::sync::Arc;

use data_encoding::BASE64;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use retold::content::Content;

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
pub struct HashedVector(pub Floats);

impl HashedVector {
    /// The floats.
    pub fn floats(&self) -> &Arc<[f32]> {
        &self.0.0
    }
}

impl Serialize for HashedVector {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Content::Vector(self.floats().clone()).hash().serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_survives_a_fact() {
        let floats = Floats([0.1f32, -3.5e-9].as_slice().into());
        let text = serde_json::to_string(&floats).unwrap();
        assert_eq!(text, r#""zczMPaeEcLE=""#);
        assert_eq!(serde_json::from_str::<Floats>(&text).unwrap(), floats);
    }

    #[test]
    fn a_value_that_is_not_a_vector_is_refused() {
        let said =
            |text: &str| serde_json::from_value::<Floats>(text.into()).unwrap_err().to_string();
        assert_eq!(said("AAAAAAA="), "a vector is cut off in the middle of a float");
        assert_eq!(said("?"), "invalid length at 0");
    }

    #[test]
    fn a_state_has_the_hash_of_a_vector() {
        let floats: Arc<[f32]> = [0.5f32].into();
        let hash = Content::Vector(floats.clone()).hash().to_string();
        let hashed = serde_json::to_value(HashedVector(Floats(floats))).unwrap();
        assert_eq!(hashed, serde_json::Value::String(hash));
    }
}
