//! Canonical JSON after RFC 8785, and the BLAKE3 of it.

use serde::Serialize;
use serde_json::Value;

/// Why a value has no canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// RFC 8785 numbers are IEEE 754 doubles: a larger integer would be rounded, and two different
    /// requests could share a hash.
    #[error("the integer {value} at {path} is beyond 2^53 and has no exact canonical form")]
    InexactInteger {
        /// JSON pointer to the number.
        path: String,
        /// The number as written.
        value: String,
    },
    /// The value cannot be serialised (a key that is no string, an infinite number).
    #[error("no canonical JSON: {0}")]
    NotJson(String),
}

/// The canonical text of any serialisable value (RFC 8785).
///
/// # Errors
/// [`CanonicalError::NotJson`] for what JSON cannot say.
pub fn canonical<T: Serialize + ?Sized>(value: &T) -> Result<String, CanonicalError> {
    serde_json_canonicalizer::to_string(&value).map_err(|e| CanonicalError::NotJson(e.to_string()))
}

/// BLAKE3-256 of some bytes.
pub fn hash_of(bytes: &[u8]) -> [u8; 32] {
    *blake3::hash(bytes).as_bytes()
}

/// Refuses integers that a double cannot hold.
pub(super) fn check_exact(value: &Value, path: &mut String) -> Result<(), CanonicalError> {
    const LIMIT: u64 = 1 << 53;
    match value {
        Value::Number(n) => {
            let exact = match (n.as_u64(), n.as_i64()) {
                (Some(u), _) => u <= LIMIT,
                (None, Some(i)) => i.unsigned_abs() <= LIMIT,
                (None, None) => true,
            };
            if exact {
                return Ok(());
            }
            Err(CanonicalError::InexactInteger { path: path.clone(), value: n.to_string() })
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(i, item)| within(path, &i.to_string(), |path| check_exact(item, path))),
        Value::Object(map) => {
            map.iter().try_for_each(|(key, item)| within(path, key, |path| check_exact(item, path)))
        }
        _ => Ok(()),
    }
}

fn within<T>(path: &mut String, part: &str, f: impl FnOnce(&mut String) -> T) -> T {
    let length = path.len();
    path.push('/');
    path.push_str(part);
    let result = f(path);
    path.truncate(length);
    result
}
