//! How keys begin that providers publish, so that anyone can tell them from other words.

use std::ops::Range;

/// How a key begins, and how many letters, digits and signs follow at least.
const PREFIXES: &[(&str, usize)] = &[
    ("sk-", 8),
    ("sk_", 8),
    ("rk_live_", 8),
    ("rk_test_", 8),
    ("csk-", 8),
    ("gsk_", 8),
    ("xai-", 8),
    ("hf_", 16),
    ("AIza", 8),
    ("ya29.", 8),
    ("GOCSPX-", 8),
    ("pplx-", 8),
    ("r8_", 8),
    ("nvapi-", 8),
    ("tgp_v1_", 8),
    ("fw_", 16),
    ("tvly-", 8),
    ("jina_", 16),
    ("lsv2_", 16),
    ("vck_", 16),
    ("ABSK", 24),
    ("bedrock-api-key-", 8),
    ("AKIA", 12),
    ("ASIA", 12),
    ("ghp_", 8),
    ("gho_", 8),
    ("ghu_", 8),
    ("ghs_", 8),
    ("ghr_", 8),
    ("github_pat_", 8),
    ("glpat-", 8),
    ("gldt-", 8),
    ("npm_", 16),
    ("pypi-", 16),
    ("dckr_pat_", 8),
    ("dapi", 32),
    ("dop_v1_", 16),
    ("xoxa-", 8),
    ("xoxb-", 8),
    ("xoxe-", 8),
    ("xoxp-", 8),
    ("xoxr-", 8),
    ("xoxs-", 8),
    ("xapp-", 8),
    ("hvs.", 16),
    ("ntn_", 16),
    ("whsec_", 8),
    ("glsa_", 16),
    ("sbp_", 16),
    ("SG.", 16),
    ("eyJ", 16),
];

/// The longest word of letters alone that is a word and no key.
const LONGEST_WORD: usize = 15;

/// The keys in a text that begin as providers' keys do.
pub(super) fn each_key(text: &str, mut each: impl FnMut(Range<usize>)) {
    let bytes = text.as_bytes();
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let mut at = 0;
    while at < bytes.len() {
        let is_begin = at == 0 || !is_inner(bytes[at - 1]);
        // Behind a percent escape or a letter for one (`\n`), another word begins.
        let is_escaped = at >= 2 && bytes[at - 2] == b'\\' || at >= 3 && bytes[at - 3] == b'%';
        let found = (is_begin || is_escaped).then(|| key_at(&bytes[at..])).flatten();
        match found {
            Some(length) => {
                each(at..at + length);
                at += length;
            }
            None => at += 1,
        }
    }
    let mut from = 0;
    while let Some(begin) = text[from..].find("-----BEGIN ").map(|at| from + at) {
        let rest = &text[begin..];
        let is_private = rest.lines().next().is_some_and(|line| line.contains("PRIVATE KEY"));
        let end =
            rest.find("-----END").and_then(|at| Some((at + 8, rest[at + 8..].find("-----")?)));
        let end = begin + end.map_or(rest.len(), |(at, more)| at + more + 5);
        if is_private {
            each(begin..end);
        }
        from = end;
    }
}

/// How long the key is with which some bytes begin.
fn key_at(bytes: &[u8]) -> Option<usize> {
    let (prefix, least) =
        PREFIXES.iter().find(|(prefix, _)| bytes.starts_with(prefix.as_bytes()))?;
    let rest = &bytes[prefix.len()..];
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(byte);
    let length = rest.iter().take_while(is_part).count();
    let rest = &rest[..length];
    // What has only words is a name: `sk-learn-tutorial`, `hf_transformers.yaml`.
    let mut words = rest.split(|byte| !byte.is_ascii_alphanumeric());
    let is_word = |word: &[u8]| {
        word.len() <= LONGEST_WORD && word.iter().all(u8::is_ascii_lowercase)
            || *prefix == "hf_" && word.len() < 16
    };
    (length >= *least && !words.all(is_word)).then_some(prefix.len() + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut all = Vec::new();
        each_key(text, |place| all.push(&text[place]));
        all
    }

    #[test]
    fn keys_are_known_by_how_they_begin_and_other_words_are_none() {
        for (prefix, least) in PREFIXES {
            let key = format!("{prefix}{}", "Ab3dEf6h".repeat(least.div_ceil(8).max(2)));
            for text in [key.clone(), format!("run --x='{key}' y"), format!("\"\\n{key}\"")] {
                assert_eq!(found(&text), [key.as_str()], "{text}");
            }
        }
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        assert_eq!(found(&format!("echo '{pem}' > k")), [pem]);
        for other in [
            "sk-learn-tutorial",
            "--task-sk-learn",
            "hf_transformers_v2.yaml",
            "risk-0123456789abcdef",
            "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "550e8400-e29b-41d4-a716-446655440000",
            "-----BEGIN PUBLIC KEY-----\nMIIE\n-----END PUBLIC KEY-----",
            "python fw_train.py --config npm_install_all.json",
        ] {
            assert_eq!(found(other), Vec::<&str>::new(), "{other}");
        }
    }
}
