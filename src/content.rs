//! Content: the texts and vectors that events refer to by hash and that the log stores once.

use std::sync::Arc;

use crate::id::ContentHash;
use crate::prompt::hash_of;

/// A text, or a vector of 32-bit floats (kept exactly, as little-endian bytes).
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// UTF-8 text.
    Text(Arc<str>),
    /// An embedding.
    Vector(Arc<[f32]>),
}

impl Content {
    /// The text; empty for a vector.
    pub fn text(&self) -> &str {
        match self {
            Content::Text(text) => text,
            Content::Vector(_) => "",
        }
    }

    /// The bytes that are hashed: UTF-8, or the floats in little-endian order.
    pub fn bytes(&self) -> std::borrow::Cow<'_, [u8]> {
        match self {
            Content::Text(text) => text.as_bytes().into(),
            Content::Vector(floats) => {
                floats.iter().flat_map(|f| f.to_le_bytes()).collect::<Vec<u8>>().into()
            }
        }
    }

    /// BLAKE3-256 of [`Content::bytes`].
    pub fn hash(&self) -> ContentHash {
        ContentHash(hash_of(&self.bytes()))
    }

    /// A vector from little-endian bytes; `None` if they are not a whole number of floats.
    pub fn vector_from_bytes(bytes: &[u8]) -> Option<Content> {
        let chunks = bytes.chunks_exact(4);
        if !chunks.remainder().is_empty() {
            return None;
        }
        let floats = chunks.map(|c| f32::from_le_bytes([c[0], c[1], c[2], c[3]]));
        Some(Content::Vector(floats.collect()))
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::Text(text.into())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::Text(text.into())
    }
}
