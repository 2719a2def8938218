//! Which hosts are opened: those of known providers, and those that the user names.

use std::collections::BTreeMap;

/// The hosts that the user named; whether all their ports are meant, or only the usual one.
pub type NamedHosts = BTreeMap<String, bool>;

/// Hosts of providers; `*` stands for one label or more of them.
const KNOWN: &[&str] = &[
    "api.openai.com",
    "*.api.openai.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
    "*-aiplatform.googleapis.com",
    "*.openai.azure.com",
    "*.cognitiveservices.azure.com",
    "*.services.ai.azure.com",
    "*.inference.ai.azure.com",
    "bedrock-runtime.*.amazonaws.com",
    "bedrock-runtime-fips.*.amazonaws.com",
    "api.mistral.ai",
    "api.cohere.com",
    "api.cohere.ai",
    "api.groq.com",
    "api.deepseek.com",
    "api.together.xyz",
    "api.fireworks.ai",
    "api.perplexity.ai",
    "api.x.ai",
    "api.cerebras.ai",
    "api.voyageai.com",
    "openrouter.ai",
    "router.huggingface.co",
    "api-inference.huggingface.co",
    "integrate.api.nvidia.com",
    "api.replicate.com",
    "dashscope.aliyuncs.com",
    "dashscope-intl.aliyuncs.com",
    "api.moonshot.ai",
];

/// Whether a host is that of a provider.
pub fn is_known(host: &str) -> bool {
    KNOWN.iter().any(|known| match known.split_once('*') {
        None => *known == host,
        Some((begin, end)) => {
            let middle = host.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
            middle.is_some_and(|middle| !middle.is_empty())
        }
    })
}

/// A `NO_PROXY` without the entries that cover a known provider or a named host, and these entries: what
/// a program asks there would pass unseen.
pub fn not_hiding(no_proxy: &str, named: &NamedHosts) -> (Vec<String>, Vec<String>) {
    let entries = no_proxy.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    let hosts = || KNOWN.iter().copied().chain(named.keys().map(String::as_str));
    entries.map(str::to_owned).partition(|entry| {
        let entry = entry.trim_start_matches(['*', '.']).to_ascii_lowercase();
        let covers = |host: &str| {
            host.strip_suffix(&*entry).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        !entry.is_empty() && !is_known(&entry) && !hosts().any(covers)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_hides_no_model() {
        let named = NamedHosts::from([("llm.corp.example".to_owned(), false)]);
        let given =
            "intranet, .corp.example,10.0.0.0/8,googleapis.com,mine.openai.azure.com,*,x.ai,ai";
        let (kept, left) = not_hiding(given, &named);
        assert_eq!(kept, ["intranet", "10.0.0.0/8"]);
        assert_eq!(left.len(), 6, "{left:?}");
        assert_eq!(not_hiding(".corp.example", &NamedHosts::new()).0, [".corp.example"]);
        assert_eq!(not_hiding(" , ", &named), (Vec::new(), Vec::new()));
    }

    #[test]
    fn providers_are_known_by_their_hosts() {
        for known in [
            "api.openai.com",
            "eu.api.openai.com",
            "mine.openai.azure.com",
            "bedrock-runtime.eu-central-1.amazonaws.com",
            "us-central1-aiplatform.googleapis.com",
        ] {
            assert!(is_known(known), "{known}");
        }
        for other in [
            "openai.com",
            "api.openai.com.evil.example",
            ".openai.azure.com",
            "s3.eu-central-1.amazonaws.com",
            "bedrock-runtime..amazonaws.com.evil.example",
        ] {
            assert!(!is_known(other), "{other}");
        }
    }
}
