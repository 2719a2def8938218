//! Which hosts are opened: those of known providers, and those that the user names.

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
pub(crate) fn is_known(host: &str) -> bool {
    KNOWN.iter().any(|known| match known.split_once('*') {
        None => *known == host,
        Some((begin, end)) => {
            let middle = host.strip_prefix(begin).and_then(|rest| rest.strip_suffix(end));
            middle.is_some_and(|middle| !middle.is_empty())
        }
    })
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
    fn providers_are_known_by_their_hosts() {
        for known in [
            "api.openai.com",
            "eu.api.openai.com",
            "mine.openai.azure.com",
            "bedrock-runtime.eu-central-1.amazonaws.com",
            "us-central1-aiplatform.googleapis.com",
        ] {
            assert!(is_known(known) && is_host(known), "{known}");
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
        for wrong in ["", "a", "a..b", "-a.b", "a.b/c", "A.example", "a.b:1"] {
            assert!(!is_host(wrong), "{wrong}");
        }
    }
}
