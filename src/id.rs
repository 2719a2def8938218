//! Identifiers and digests: newtypes that cannot be mistaken for one another.
//!
//! Digests are BLAKE3-256, written as 64 lower-case hex digits. All are defined by one macro, so
//! that they parse, print and serialise in the same way.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Why a text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdError {
    /// The number of hex digits is wrong, or there are other characters.
    #[error("{text:?} is not {digits} lower-case hex digits")]
    NotHex {
        /// The text as given.
        text: String,
        /// How many digits were expected.
        digits: usize,
    },
    /// A call path that breaks the rules of [`CallPath`].
    #[error("{text:?} is not a call path: {reason}")]
    BadCall {
        /// The text as given.
        text: String,
        /// The rule it breaks.
        reason: &'static str,
    },
}

macro_rules! hex_id {
    ($(#[$doc:meta])* $name:ident, $bytes:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; $bytes]);

        impl $name {
            /// The bytes.
            pub fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }

            /// The first `digits` hex digits, for display.
            pub fn short(&self, digits: usize) -> String {
                let mut text = self.to_string();
                text.truncate(digits);
                text
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut buffer = [0u8; $bytes * 2];
                HEXLOWER.encode_mut(&self.0, &mut buffer);
                f.pad(std::str::from_utf8(&buffer).unwrap_or(""))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let bytes = HEXLOWER.decode(text.as_bytes()).ok();
                bytes.and_then(|b| b.try_into().ok()).map($name).ok_or_else(|| IdError::NotHex {
                    text: text.to_owned(),
                    digits: $bytes * 2,
                })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(de::Error::custom)
            }
        }
    };
}

hex_id!(
    /// The id of a run: eight random bytes, written as 16 hex digits. Users may type a unique
    /// prefix.
    RunId,
    8
);
impl RunId {
    /// A new random id.
    ///
    /// # Errors
    /// If the system cannot provide random bytes.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes)?;
        Ok(RunId(bytes))
    }
}

hex_id!(
    /// The prompt hash: BLAKE3-256 of the canonical request.
    PromptHash,
    32
);
hex_id!(
    /// BLAKE3-256 of a stored text or vector.
    ContentHash,
    32
);
hex_id!(
    /// A link of a run's hash chain; the last one is the log head.
    EventHash,
    32
);
hex_id!(
    /// A link of the log's own chain, its ledger; the last one covers the whole log.
    LedgerHash,
    32
);
hex_id!(
    /// The outcome digest: BLAKE3-256 over decisions and occurrences, in order, without times.
    OutcomeDigest,
    32
);
hex_id!(
    /// BLAKE3-256 of the canonical JSON of a top-level entry of an experiment's state.
    StateDigest,
    32
);
hex_id!(
    /// BLAKE3-256 of the bytes of an output file.
    OutputDigest,
    32
);
hex_id!(
    /// The root of a Merkle tree over the hashes of a run's events.
    EventsRoot,
    32
);
hex_id!(
    /// Any other node of such a tree.
    MerkleNode,
    32
);

/// The place of an event in its run, from 1.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The next place.
    pub fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Milliseconds since the Unix epoch.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct Time(pub i64);

impl fmt::Display for Time {
    /// RFC 3339 in UTC with milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(t) => f.pad(&format!("{t:.3}")),
            Err(_) => write!(f, "{} ms", self.0),
        }
    }
}

/// Which answer to one call and prompt this is (the n-th, from 0).
pub type Sample = u32;

/// The deterministic path of a question in its experiment, such as `solve/900`.
///
/// 1 to 500 bytes, no control characters, no empty parts between slashes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallPath(Arc<str>);

/// The end of the names of a program's calls whose answers are asked for as streams.
const STREAM: &str = "/stream";

impl CallPath {
    /// Checks the rules and creates a path.
    ///
    /// # Errors
    /// [`IdError::BadCall`] with the broken rule.
    pub fn new(text: impl AsRef<str>) -> Result<Self, IdError> {
        let text = text.as_ref();
        let reason = if text.is_empty() {
            "it is empty"
        } else if text.len() > 500 {
            "it is longer than 500 bytes"
        } else if text.chars().any(char::is_control) {
            "it has a control character"
        } else if text.split('/').any(str::is_empty) {
            "it has an empty part"
        } else {
            return Ok(CallPath(text.into()));
        };
        Err(IdError::BadCall { text: text.chars().take(80).collect(), reason })
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this call is the other one, or below it.
    pub fn is_under(&self, other: &CallPath) -> bool {
        let rest = self.0.strip_prefix(&*other.0);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether no program has named it: it has the name of an API and digits of what was asked, as in `openai.chat/0123456789abcdef`.
    pub fn is_unnamed(&self) -> bool {
        let name = self.0.strip_suffix(STREAM).unwrap_or(&self.0);
        let digits = name.split_once('/').map(|(_, digits)| digits);
        digits.is_some_and(|it| it.len() == 16 && it.bytes().all(|byte| byte.is_ascii_hexdigit()))
    }

    /// Whether its answer is asked for as a stream.
    pub fn is_streamed(&self) -> bool {
        self.0.ends_with(STREAM)
    }

    /// The kind of a call: its path without the parts that have digits in them, such as the names
    /// of participants and the numbers of rounds; the whole path if nothing else is left.
    pub fn kind(&self) -> String {
        let has_digit = |part: &&str| part.contains(|c: char| c.is_ascii_digit());
        let parts: Vec<&str> = self.0.split('/').filter(|part| !has_digit(part)).collect();
        if parts.is_empty() { self.0.to_string() } else { parts.join("/") }
    }
}

impl fmt::Display for CallPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for CallPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallPath({:?})", &*self.0)
    }
}

impl FromStr for CallPath {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        CallPath::new(text)
    }
}

impl Serialize for CallPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CallPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        CallPath::new(&text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_by_its_program_or_after_what_is_asked() {
        for (name, is_unnamed) in [
            ("openai.chat/0123456789abcdef", true),
            ("openai.chat/0123456789abcdef/stream", true),
            ("solve/900", false),
            ("solve", false),
            ("solve/0123456789abcdef0", false),
        ] {
            assert_eq!(CallPath::new(name).unwrap().is_unnamed(), is_unnamed, "{name}");
        }
    }
}
