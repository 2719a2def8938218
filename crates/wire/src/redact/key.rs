//! The key of a log's redactions: without it, nobody can test whether a placeholder stands for a guess.

use std::fmt;

use data_encoding::{BASE32_NOPAD, HEXLOWER_PERMISSIVE};

/// How many characters of a hash a placeholder has: 65 bits, so that a billion values have different ones.
pub(super) const SHORT: usize = 13;

/// Sealed patterns have a multiple of this length, which says little about them.
const BLOCK: usize = 64;

/// A secret from which placeholders are made: a hash of the value under this key.
#[derive(Clone, PartialEq, Eq)]
pub struct RedactionKey([u8; 32]);

/// The keys that are known, and where they are kept.
#[derive(Debug, Clone, Default)]
pub struct KnownKeys {
    /// The keys.
    pub keys: Vec<RedactionKey>,
    /// The name of their file, for messages.
    pub place: String,
}

impl fmt::Debug for RedactionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedactionKey({})", self.id())
    }
}

impl RedactionKey {
    /// A new key.
    ///
    /// # Errors
    /// If the system cannot provide random bytes.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes)?;
        Ok(RedactionKey(bytes))
    }

    /// A key of these bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        RedactionKey(bytes)
    }

    /// A key as [`line`](Self::line) writes it; `None` if it is not one.
    pub fn parse(line: &str) -> Option<Self> {
        let bytes = HEXLOWER_PERMISSIVE.decode(line.trim().as_bytes()).ok()?;
        Some(RedactionKey(bytes.try_into().ok()?))
    }

    /// The key as a line of a key file.
    pub fn line(&self) -> String {
        HEXLOWER_PERMISSIVE.encode(&self.0)
    }

    /// A name for the key that does not help to find it.
    pub fn id(&self) -> String {
        self.short("id", b"")
    }

    /// The placeholder that is stored for a value: the same for equal values, another for different ones.
    pub(super) fn placeholder(&self, value: &[u8]) -> String {
        format!("[redacted-{}]", self.short("value", value))
    }

    fn short(&self, of: &str, bytes: &[u8]) -> String {
        let hash = self.hash(of, bytes).finalize();
        let mut text = BASE32_NOPAD.encode(hash.as_bytes()).to_ascii_lowercase();
        text.truncate(SHORT);
        text
    }

    /// Each purpose has hashes of its own.
    fn hash(&self, of: &str, bytes: &[u8]) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(of.as_bytes()).update(&[0]).update(bytes);
        hasher
    }

    /// A pattern as a run records it: readable with the key alone, because it may have names in it.
    pub(crate) fn seal(&self, pattern: &str) -> String {
        let mut text = pattern.as_bytes().to_vec();
        text.resize(text.len().next_multiple_of(BLOCK), 0);
        let tag = self.hash("pattern", &text).finalize();
        let mut sealed = tag.as_bytes().to_vec();
        sealed.extend(self.xor_stream(tag.as_bytes(), &text));
        BASE32_NOPAD.encode(&sealed).to_ascii_lowercase()
    }

    /// A sealed pattern; `None` if it was not sealed with this key.
    pub(crate) fn open(&self, sealed: &str) -> Option<String> {
        let sealed = BASE32_NOPAD.decode(sealed.to_ascii_uppercase().as_bytes()).ok()?;
        let (tag, text) = sealed.split_at_checked(32)?;
        let text = self.xor_stream(tag, text);
        let is_ours = *self.hash("pattern", &text).finalize().as_bytes() == *tag;
        let text = String::from_utf8(text).ok().filter(|_| is_ours)?;
        Some(text.trim_end_matches('\0').to_owned())
    }

    /// A text combined with a key stream that is used for this text alone: the tag is its hash.
    fn xor_stream(&self, tag: &[u8], text: &[u8]) -> Vec<u8> {
        let mut stream = vec![0; text.len()];
        self.hash("stream", tag).finalize_xof().fill(&mut stream);
        stream.iter().zip(text).map(|(one, other)| one ^ other).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_equal_placeholders_under_one_key_alone() {
        let (one, other) = (RedactionKey::new([1; 32]), RedactionKey::new([2; 32]));
        assert_eq!(one.placeholder(b"Ada"), one.placeholder(b"Ada"));
        assert_ne!(one.placeholder(b"Ada"), one.placeholder(b"Bob"));
        assert_ne!(one.placeholder(b"Ada"), other.placeholder(b"Ada"));
        assert_eq!(one.placeholder(b"Ada").len(), "[redacted-]".len() + SHORT);
        assert_eq!(RedactionKey::parse(&one.line()), Some(one.clone()));
        assert_eq!(RedactionKey::parse("abc"), None);
        assert!(!format!("{one:?}").contains(&one.line()));
    }

    #[test]
    fn a_pattern_is_read_with_its_key_alone() {
        let (one, other) = (RedactionKey::new([1; 32]), RedactionKey::new([2; 32]));
        for pattern in ["Ada|Bob", "", "é", &"x".repeat(64), &"x".repeat(65)] {
            let sealed = one.seal(pattern);
            assert_eq!(one.open(&sealed).as_deref(), Some(pattern));
            assert_eq!(other.open(&sealed), None);
        }
        assert_eq!(one.seal("Ada").len(), one.seal("Ada Lovelace").len());
        assert_eq!(one.open("abc"), None);
    }
}
