//! Which headers, parameters, options and variables hold keys, by their names.

use data_encoding::HEXLOWER_PERMISSIVE;

/// The words that mean a key, a password or a signature, at the end of a name or as the last two words of it.
const KEY_WORDS: &[&str] = &[
    "key", "keyid", "auth", "jwt", "otp", "pass", "pwd", "sid", "sig", "accesskey", "apikey",
    "masterkey", "privatekey", "secretkey", "subscriptionkey", "authorization", "bearer", "cookie",
    "credential", "credentials", "passphrase", "passwd", "password", "secret", "session",
    "sessionid", "signature", "token",
];

/// How long they are at least if they also end a word that is not divided: `authtoken`, but not `monkey`.
const LONG: usize = 5;

/// Whole names that hold a key; as the end of another name, they mean something else.
const KEY_NAMES: &[&str] = &["code", "auth_code", "authorization_code"];

/// Names that end like one that holds a key, and say where a list goes on.
const PLACES: &[&str] = &["page_token", "next_token", "next_page_token", "continuation_token"];

/// Whether a header, a parameter, an option or a variable holds a key or a signature, by its name. It may have percent escapes.
pub fn is_a_key(name: &str) -> bool {
    // Every header of every request is looked at, and few hold keys.
    let is_plain = name.is_ascii() && !name.contains('%');
    if is_plain && !KEY_WORDS.iter().chain(&["code"]).any(|word| ends_with_letters(name, word)) {
        return false;
    }
    let name = words(&String::from_utf8_lossy(&percent_decoded(name)));
    let whole = name.join("_");
    let Some(last) = name.last().filter(|_| !PLACES.contains(&&*whole)) else { return false };
    let two = name[name.len().saturating_sub(2)..].concat();
    let is_meant =
        |word: &&str| last == word || two == **word || word.len() >= LONG && last.ends_with(word);
    KEY_NAMES.contains(&&*whole) || KEY_WORDS.iter().any(is_meant)
}

/// True if the last letters and digits of a name are those of a word; other characters between them are ignored.
fn ends_with_letters(name: &str, word: &str) -> bool {
    let mut letters = name.bytes().rev().filter(u8::is_ascii_alphanumeric);
    word.bytes()
        .rev()
        .all(|letter| letters.next().is_some_and(|it| it.eq_ignore_ascii_case(&letter)))
}

/// Words that stand in a placeholder.
const OF_PLACEHOLDERS: &[&str] =
    &["redacted", "filtered", "masked", "sanitized", "scrubbed", "censored"];

/// The same, among other words without digits.
const OF_PLAIN_PLACEHOLDERS: &[&str] =
    &["your", "dummy", "fake", "placeholder", "example", "removed", "hidden"];

/// Whether a value stands for a key that somebody has taken out, or that is put in later: `<OPENAI_ACCESS_TOKEN>`, `**REDACTED**`,
/// `[key]`, `${TOKEN}`.
pub fn is_placeholder(value: &str) -> bool {
    let (scheme, rest) = value.trim().split_once(' ').unwrap_or(("", value.trim()));
    let value = if scheme.chars().all(char::is_alphabetic) { rest.trim() } else { value.trim() };
    let is_in = |open: &str, close: &str| {
        let inner = value.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        inner.is_some_and(|inner| is_name(inner.trim()))
    };
    let is_variable = value.strip_prefix('$').is_some_and(|name| {
        let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_part)
    });
    let lower = value.to_ascii_lowercase();
    let words = || lower.split(|c: char| !c.is_ascii_alphanumeric());
    let is_mask = |c: char| matches!(c, '*' | 'x' | '#' | '\u{2022}' | '.');
    is_variable
        || BRACKETS.iter().any(|(open, close)| is_in(open, close))
        || lower.chars().count() >= 4 && lower.chars().all(is_mask)
        || words().any(|word| OF_PLACEHOLDERS.contains(&word))
        || is_name(&lower)
            && lower.chars().all(|c| !c.is_ascii_digit())
            && words().count() > 1
            && words().any(|word| OF_PLAIN_PLACEHOLDERS.contains(&word))
        || lower.rsplit_once('-').is_some_and(|(kind, rest)| {
            kind.len() <= 6 && rest.chars().count() >= 3 && rest.chars().all(is_mask)
        })
}

/// What tools put around the name of what they have taken out, or will put in.
const BRACKETS: &[(&str, &str)] = &[
    ("<", ">"),
    ("<<", ">>"),
    ("[", "]"),
    ("{{", "}}"),
    ("${{", "}}"),
    ("**", "**"),
    ("__", "__"),
    ("%", "%"),
    ("%%", "%%"),
    ("@@", "@@"),
];

/// Whether a text names something: a key between brackets has other signs, or letters and digits in one word.
fn is_name(text: &str) -> bool {
    let is_word = |word: &str| {
        word.chars().all(|c| c.is_ascii_alphabetic())
            || word.len() <= 8 && word.chars().all(|c| c.is_ascii_alphanumeric())
    };
    !text.is_empty() && text.split(['_', '-', '.', ':', ' ']).all(is_word)
}

/// The words of a name, in lower case: divided by anything but letters and digits, and where capitals begin.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let chars: Vec<char> = name.chars().collect();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let after = chars.get(at + 1);
        let begins = c.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || before.is_uppercase() && after.is_some_and(|after| after.is_lowercase())
            });
        if begins || !c.is_alphanumeric() {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && c.is_alphanumeric()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The bytes that a part of a URL stands for.
pub fn percent_decoded(part: &str) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(part.len()), part.as_bytes());
    while let Some((byte, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *byte == b'%');
        match digits.and_then(|digits| HEXLOWER_PERMISSIVE.decode(digits).ok()) {
            Some(decoded) => {
                out.extend(decoded);
                rest = &after[2..];
            }
            None => {
                out.push(*byte);
                rest = after;
            }
        }
    }
    out
}

/// A query without the parameters that hold keys: Gemini's `key=`, signatures of signed URLs.
pub fn query_without_keys(query: &str) -> String {
    let is_kept = |pair: &&str| !is_a_key(pair.split_once('=').map_or(pair, |(name, _)| name));
    query.split('&').filter(is_kept).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_keys_are_known_however_they_are_written() {
        for name in [
            "key",
            "KEY",
            "api_key",
            "apiKey",
            "APIKEY",
            "x-api-key",
            "X-Goog-Api-Key",
            "%6Bey",
            "api%5Fkey",
            "Ocp-Apim-Subscription-Key",
            "subscriptionkey",
            "AWSAccessKeyId",
            "AWS_SECRET_ACCESS_KEY",
            "X-Amz-Security-Token",
            "X-Amz-Signature",
            "X-Amz-Credential",
            "access_token",
            "accessToken",
            "authtoken",
            "cf-aig-authorization",
            "Authorization",
            "Proxy-Authorization",
            "jwt",
            "sid",
            "session",
            "sessionid",
            "PHPSESSIONID",
            "pwd",
            "db_pwd",
            "password",
            "userPassword",
            "code",
            "sig",
            "Cookie",
            "client_secret",
            "clientsecret",
            "OPENAI_API_KEY",
            "otp",
        ] {
            assert!(is_a_key(name), "{name}");
        }
        for name in [
            "monkey", "keyword", "model", "alt", "api-version", "max_tokens", "pageToken",
            "page_token", "nextPageToken", "language_code", "status_code", "compass", "design",
            "side", "inside", "bypass_cache", "hockey", "tokens", "author", "sign", "",
        ] {
            assert!(!is_a_key(name), "{name}");
        }
    }

    #[test]
    fn what_stands_for_a_key_is_no_key() {
        for value in [
            "<OPENAI_ACCESS_TOKEN>",
            "Bearer <OPENAI_ACCESS_TOKEN>",
            "**REDACTED**",
            "Bearer **REDACTED**",
            "REDACTED",
            "sk-REDACTED",
            "[key]",
            "Bearer [FILTERED]",
            "[redacted-abcdefghijklm]",
            "{{api_key}}",
            "${OPENAI_API_KEY}",
            "$OPENAI_API_KEY",
            "********",
            "XXXX",
            "Bearer <OPENAI API KEY>",
            "<your api key>",
            "<<API_KEY>>",
            "%OPENAI_API_KEY%",
            "@@KEY@@",
            "${{ secrets.KEY }}",
            "sk-XXXXXXXXXXXX",
            "sk-...",
            "DUMMY_API_KEY",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in [
            "",
            "x",
            "sk-0123456789",
            "Bearer sk-0123456789",
            "none",
            "[\"a b\"]",
            "$ab-c",
            "12ab",
            "abcd",
            "fake",
            "your-4f8a",
            "correct horse battery",
        ] {
            assert!(!is_placeholder(value), "{value}");
        }
    }

    #[test]
    fn a_query_is_kept_without_its_keys() {
        let query =
            "alt=sse&key=AIza0123&%6Bey=x&page_token=2&AWSAccessKeyId=AK&Signature=a%3D&v=1";
        assert_eq!(query_without_keys(query), "alt=sse&page_token=2&v=1");
    }
}
