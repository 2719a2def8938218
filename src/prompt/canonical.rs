//! Canonical JSON after RFC 8785, and the BLAKE3 of it.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Number, Value};

use super::ordered::canonical_as_is;
use super::straight;

/// Why a value has no canonical form.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum CanonicalError {
    /// RFC 8785 numbers are IEEE 754 doubles: a larger integer would be rounded, and two different
    /// requests could share a hash.
    #[error(
        "the number {value} at {path} is an integer beyond 2^53 and has no exact canonical form"
    )]
    InexactInteger {
        /// JSON pointer to the number.
        path: String,
        /// The number as written.
        value: String,
    },
    /// It is nested too deeply to be read back from the log.
    #[error("the request is nested more than {limit} levels deep")]
    TooDeep {
        /// The most levels there may be.
        limit: usize,
    },
    /// The value cannot be serialised (a key that is not a string, an infinite number).
    #[error("no canonical JSON: {0}")]
    NotJson(#[source] Arc<serde_json::Error>),
}

impl CanonicalError {
    pub(crate) fn not_json(source: serde_json::Error) -> Self {
        CanonicalError::NotJson(Arc::new(source))
    }
}

/// The canonical text of any serialisable value (RFC 8785).
///
/// # Errors
/// [`CanonicalError::NotJson`] for what JSON cannot represent.
pub fn canonical<T: Serialize + ?Sized>(value: &T) -> Result<String, CanonicalError> {
    // The library sorts each level of objects in its own copy, which takes five times as long for a
    // prompt of a few kilobytes. Values that need no sorting skip this.
    if let Some(text) = canonical_as_is(&value) {
        return Ok(text);
    }
    serde_json_canonicalizer::to_string(&value).map_err(CanonicalError::not_json)
}

/// Appends the canonical text of a JSON value.
pub(super) fn write_canonical(value: &Value, out: &mut String) -> Result<(), CanonicalError> {
    let before = out.len();
    if straight::write(value, out).is_none() {
        out.truncate(before);
        out.push_str(&canonical(value)?);
    }
    Ok(())
}

/// BLAKE3-256 of some bytes.
pub fn hash_of(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// The deepest nesting of a request. JSON readers stop at 128 levels, and a stored request must be
/// readable inside the levels that the log, an export and a proof add around it.
const DEEPEST: usize = 100;

/// Refuses values that would not survive a round trip: integers that a double cannot hold, and
/// nesting that readers refuse.
pub(crate) fn check_exact(value: &Value) -> Result<(), CanonicalError> {
    check(value, 0)
}

fn check(value: &Value, depth: usize) -> Result<(), CanonicalError> {
    match value {
        Value::Number(n) => check_number(n),
        Value::Array(_) | Value::Object(_) if depth >= DEEPEST => {
            Err(CanonicalError::TooDeep { limit: DEEPEST })
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(i, item)| check(item, depth + 1).map_err(|e| e.within(&i.to_string()))),
        Value::Object(map) => {
            map.iter().try_for_each(|(key, item)| check(item, depth + 1).map_err(|e| e.within(key)))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

/// Every double beyond 2^53 is an integer, and `1e17`, `100000000000000000` and
/// `18446744073709551617` arrive as three different kinds of number. All are refused, since
/// otherwise one spelling would have a hash and another would not.
fn check_number(n: &Number) -> Result<(), CanonicalError> {
    const LIMIT: u64 = 1 << 53;
    let exact = match (n.as_u64(), n.as_i64(), n.as_f64()) {
        (Some(u), _, _) => u <= LIMIT,
        (None, Some(i), _) => i.unsigned_abs() <= LIMIT,
        (None, None, Some(f)) => f.abs() <= LIMIT as f64,
        (None, None, None) => false,
    };
    if exact {
        return Ok(());
    }
    Err(CanonicalError::InexactInteger { path: String::new(), value: n.to_string() })
}

impl CanonicalError {
    /// The same error seen from one level above: its path is one part longer (a JSON pointer, RFC
    /// 6901).
    fn within(self, part: &str) -> Self {
        match self {
            CanonicalError::InexactInteger { path, value } => {
                let part = part.replace('~', "~0").replace('/', "~1");
                CanonicalError::InexactInteger { path: format!("/{part}{path}"), value }
            }
            other => other,
        }
    }
}
