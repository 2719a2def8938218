//! The environment variables in which SDKs look for their base URL, and what they use without them.

/// A provider's SDKs, as far as the environment concerns them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// The name of the upstream.
    pub upstream: &'static str,
    /// The variables that hold the base URL; the first one that is set counts.
    pub variables: &'static [&'static str],
    /// The base URL without them; `None` if there is no single one, so that the variable is set only if it was.
    pub default: Option<&'static str>,
    /// The variables that hold the key: one of them must be set, or some SDKs do not start.
    pub keys: &'static [&'static str],
}

/// The SDKs that we know.
pub const CLIENTS: &[Client] = &[
    Client {
        upstream: OPENAI,
        variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        default: Some("https://api.openai.com/v1"),
        keys: &["OPENAI_API_KEY"],
    },
    Client {
        upstream: "anthropic",
        variables: &["ANTHROPIC_BASE_URL"],
        default: Some("https://api.anthropic.com"),
        keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
    },
    Client {
        upstream: "gemini",
        variables: &["GOOGLE_GEMINI_BASE_URL"],
        default: Some("https://generativelanguage.googleapis.com"),
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    },
    Client {
        upstream: AZURE,
        variables: &["AZURE_OPENAI_ENDPOINT"],
        default: None,
        keys: &["AZURE_OPENAI_API_KEY"],
    },
    Client {
        upstream: "ollama",
        variables: &["OLLAMA_HOST"],
        default: Some("http://127.0.0.1:11434"),
        keys: &[],
    },
    Client {
        upstream: "together",
        variables: &["TOGETHER_BASE_URL"],
        default: Some("https://api.together.xyz/v1"),
        keys: &["TOGETHER_API_KEY"],
    },
    // Their SDKs have other defaults than programs that ask them in OpenAI's words.
    Client {
        upstream: "groq",
        variables: &["GROQ_BASE_URL"],
        default: None,
        keys: &["GROQ_API_KEY"],
    },
    Client {
        upstream: "cerebras",
        variables: &["CEREBRAS_BASE_URL"],
        default: None,
        keys: &["CEREBRAS_API_KEY"],
    },
    // Their defaults depend on the region.
    Client { upstream: "vertex", variables: &["GOOGLE_VERTEX_BASE_URL"], default: None, keys: &[] },
    Client {
        upstream: "anthropic-vertex",
        variables: &["ANTHROPIC_VERTEX_BASE_URL"],
        default: None,
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

/// The base URL in a variable: `OLLAMA_HOST` may be a host and port alone.
pub fn base_url(upstream: &str, value: &str) -> String {
    let value = value.trim().trim_end_matches('/');
    if upstream != "ollama" || value.contains("://") {
        return value.to_owned();
    }
    let (host, port) = match value.rsplit_once(':') {
        Some((host, port)) if port.chars().all(|c| c.is_ascii_digit()) => (host, port),
        _ => (value, "11434"),
    };
    // A server listens on all addresses, a client asks one.
    let host = if host.is_empty() || host == "0.0.0.0" { "127.0.0.1" } else { host };
    format!("http://{host}:{port}")
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
}
