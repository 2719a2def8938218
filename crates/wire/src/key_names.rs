//! Which headers and query parameters hold keys, by their names.

/// Whether a query parameter or a header holds a key or a signature, by its name.
pub fn is_a_key(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "key",
        "token",
        "secret",
        "password",
        "passwd",
        "pwd",
        "signature",
        "sig",
        "credential",
        "credentials",
        "auth",
        "authorization",
        "bearer",
        "jwt",
        "session",
    ]
    .iter()
    .any(|word| name.ends_with(word))
}

/// A query without the parameters that hold keys: Gemini's `key=`, signatures of signed URLs.
pub(crate) fn query_without_keys(query: &str) -> String {
    let is_kept = |pair: &&str| !is_a_key(pair.split_once('=').map_or(pair, |(name, _)| name));
    query.split('&').filter(is_kept).collect::<Vec<_>>().join("&")
}
