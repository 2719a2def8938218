//! The environment variables in which SDKs look for their base URL, and what they use without them.

use std::borrow::Cow;

/// A provider's SDKs, as far as the environment concerns them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// The name of the upstream.
    pub upstream: &'static str,
    /// The variables that hold the base URL; the first one that is set counts.
    pub variables: &'static [&'static str],
    /// The base URL without them; `None` if there is no single one, so that the variable is set only if it was.
    pub default: Option<&'static str>,
    /// Where `/v1` belongs, if readers of the variables disagree.
    pub version: Version,
    /// The variables that hold the key: one of them must be set, or some SDKs do not start.
    pub keys: &'static [&'static str],
}

/// Where the `/v1` of an API is looked for. Where readers of one variable disagree, a request reaches the same
/// place with it and without it: under one path, which is recorded, below one base URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// All known readers agree: nothing is changed.
    AsGiven,
    /// At the end of the base URL: a path that begins with it is taken without it.
    InBase,
    /// At the beginning of the path: a path that begins with one of these gets it.
    InPath(&'static [&'static str]),
}

/// The version that base URLs end with, or paths begin with.
const V1: &str = "/v1";

/// The SDKs that we know.
pub const CLIENTS: &[Client] = &[
    Client {
        upstream: OPENAI,
        variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        default: Some("https://api.openai.com/v1"),
        version: Version::AsGiven,
        keys: &["OPENAI_API_KEY"],
    },
    Client {
        upstream: "anthropic",
        variables: &["ANTHROPIC_BASE_URL"],
        default: Some("https://api.anthropic.com"),
        // @ai-sdk/anthropic asks /messages below the URL, all others /v1/messages.
        version: Version::InPath(&["complete", "files", "messages", "models", "skills"]),
        keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    },
    Client {
        upstream: "gemini",
        variables: &["GOOGLE_GEMINI_BASE_URL"],
        default: Some("https://generativelanguage.googleapis.com"),
        version: Version::AsGiven,
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    },
    Client {
        upstream: AZURE,
        variables: &["AZURE_OPENAI_ENDPOINT"],
        default: None,
        version: Version::AsGiven,
        keys: &["AZURE_OPENAI_API_KEY"],
    },
    Client {
        upstream: "ollama",
        variables: &["OLLAMA_HOST"],
        default: Some("http://127.0.0.1:11434"),
        version: Version::AsGiven,
        keys: &[],
    },
    Client {
        upstream: "together",
        variables: &["TOGETHER_BASE_URL"],
        default: Some("https://api.together.xyz/v1"),
        // Some clients add it to a URL that has it.
        version: Version::InBase,
        keys: &["TOGETHER_API_KEY"],
    },
    // Their SDKs have other defaults than programs that ask them in OpenAI's words.
    Client {
        upstream: "groq",
        variables: &["GROQ_BASE_URL"],
        default: None,
        version: Version::AsGiven,
        keys: &["GROQ_API_KEY"],
    },
    Client {
        upstream: "cerebras",
        variables: &["CEREBRAS_BASE_URL"],
        default: None,
        version: Version::AsGiven,
        keys: &["CEREBRAS_API_KEY"],
    },
    // Their defaults depend on the region.
    Client {
        upstream: "vertex",
        variables: &["GOOGLE_VERTEX_BASE_URL"],
        default: None,
        version: Version::AsGiven,
        keys: &[],
    },
    Client {
        upstream: "anthropic-vertex",
        variables: &["ANTHROPIC_VERTEX_BASE_URL"],
        default: None,
        version: Version::AsGiven,
        keys: &[],
    },
];

/// The upstream whose base URL clients for Azure refuse next to their endpoint.
pub const OPENAI: &str = "openai";

/// The upstream whose clients refuse a base URL next to their endpoint.
pub const AZURE: &str = "azure";

/// The placeholder for a key in a replay, where none is needed.
pub const NO_KEY: &str = "retold-replay-needs-no-key";

/// The variable in which programs find our own address.
pub const OURS: &str = "RETOLD_URL";

/// The base URL in a variable: `OLLAMA_HOST` may be a host and port alone, and a [`Version`] has its place.
pub fn base_url(upstream: &str, value: &str) -> String {
    let value = value.trim().trim_end_matches('/');
    if upstream != "ollama" || value.contains("://") {
        let (base, query) = match value.find('?') {
            Some(at) => value.split_at(at),
            None => (value, ""),
        };
        let base = base.trim_end_matches('/');
        let without = base.strip_suffix(V1);
        return match (version(upstream), without) {
            (Version::InPath(_), Some(without)) => format!("{without}{query}"),
            (Version::InBase, None) => format!("{base}{V1}{query}"),
            _ => value.to_owned(),
        };
    }
    let (host, port) = match value.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => (host, port),
        _ => (value, "11434"),
    };
    // A server listens on all addresses, a client asks one.
    let host = if host.is_empty() || host == "0.0.0.0" { "127.0.0.1" } else { host };
    format!("http://{host}:{port}")
}

/// The path below an upstream, as it is asked and recorded whatever its client takes the base URL for.
pub fn path<'a>(upstream: &str, path: &'a str) -> Cow<'a, str> {
    let first = |path: &'a str| path.strip_prefix('/')?.split('/').next();
    let without = path.strip_prefix(V1).filter(|rest| rest.starts_with('/'));
    match (version(upstream), without) {
        (Version::InBase, Some(without)) => without.into(),
        (Version::InPath(parts), None)
            if first(path).is_some_and(|first| parts.contains(&first)) =>
        {
            format!("{V1}{path}").into()
        }
        _ => path.into(),
    }
}

fn version(upstream: &str) -> Version {
    of(upstream).map_or(Version::AsGiven, |client| client.version)
}

/// The variable for an upstream that is not in the list: `my-server` is `MY_SERVER_BASE_URL`.
pub fn variable(upstream: &str) -> String {
    format!("{}_BASE_URL", upstream.to_ascii_uppercase().replace('-', "_"))
}

/// Whether an upstream is named without the user: its SDKs have one base URL for everybody.
pub fn has_default(upstream: &str) -> bool {
    of(upstream).is_some_and(|client| client.default.is_some())
}

/// The client of an upstream.
pub fn of(upstream: &str) -> Option<&'static Client> {
    CLIENTS.iter().find(|client| client.upstream == upstream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ollama_s_host_may_be_less_than_a_url() {
        for (value, url) in [
            ("10.0.0.5", "http://10.0.0.5:11434"),
            (":9000", "http://127.0.0.1:9000"),
            ("0.0.0.0:11434", "http://127.0.0.1:11434"),
            ("https://ollama.example/", "https://ollama.example"),
        ] {
            assert_eq!(base_url("ollama", value), url);
        }
        assert_eq!(base_url("openai", "http://h/v1/"), "http://h/v1");
        assert_eq!(variable("my-server"), "MY_SERVER_BASE_URL");
    }

    #[test]
    fn a_version_has_one_place_wherever_a_client_looks_for_it() {
        for (upstream, given, base) in [
            ("anthropic", "http://h/v1/", "http://h"),
            ("anthropic", "http://h/x/v1?a=b", "http://h/x?a=b"),
            ("anthropic", "http://h/v12", "http://h/v12"),
            ("together", "http://h", "http://h/v1"),
            ("together", "http://h/v1/", "http://h/v1"),
            ("openai", "http://h", "http://h"),
        ] {
            assert_eq!(base_url(upstream, given), base, "{given}");
        }
        for (upstream, asked, due) in [
            ("anthropic", "/messages", "/v1/messages"),
            ("anthropic", "/messages/count_tokens", "/v1/messages/count_tokens"),
            ("anthropic", "/v1/messages", "/v1/messages"),
            ("anthropic", "/api/hello", "/api/hello"),
            ("anthropic", "/", "/"),
            ("together", "/v1/chat/completions", "/chat/completions"),
            ("together", "/chat/completions", "/chat/completions"),
            ("together", "/v1", "/v1"),
            ("openai", "/v1/chat/completions", "/v1/chat/completions"),
        ] {
            assert_eq!(path(upstream, asked), due, "{upstream} {asked}");
        }
        for client in CLIENTS {
            // The providers' own are in the form in which others are brought.
            assert!(client.default.is_none_or(|url| base_url(client.upstream, url) == url));
        }
    }
}
