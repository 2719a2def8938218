//! The meaning of the parts of an address at retold, and which texts can be the name of a host.

/// The usual port of HTTP.
pub(crate) const HTTP: u16 = 80;

/// The usual port of HTTPS.
pub(crate) const HTTPS: u16 = 443;

/// The path of requests to retold itself.
pub(crate) const OWN: &str = "_retold";

/// The first part of a path at retold that stands for a host which is none of the upstreams.
pub(crate) const ELSEWHERE: &str = "_elsewhere";

/// Below an upstream: what follows is a path at its server, outside of its base URL.
pub const ORIGIN: &str = "/_origin";

/// Below an upstream: a server at another origin led to what follows, so it gets none of the keys that the
/// request has for that server. A client that is led from one origin to another drops them itself, but takes all
/// upstreams at retold for one.
pub(crate) const LED: &str = "/_led";

/// The path below an upstream without [`LED`], and whether it had it.
pub(crate) fn strip_led(path: &str) -> (&str, bool) {
    match path.strip_prefix(LED) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => (rest, true),
        _ => (path, false),
    }
}

/// Whether a text can be the name of a host: letters, digits, dots and dashes, or an IPv4 address.
pub(crate) fn is_host(text: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    text.len() <= 253 && text.contains('.') && text.split('.').all(is_label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_host_has_labels_and_nothing_else() {
        for host in ["api.openai.com", "127.0.0.1", "us-central1-aiplatform.googleapis.com"] {
            assert!(is_host(host), "{host}");
        }
        for wrong in ["", "a", "a..b", "-a.b", "a.b/c", "A.example", "a.b:1"] {
            assert!(!is_host(wrong), "{wrong}");
        }
    }
}
