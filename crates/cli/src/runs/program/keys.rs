//! A command as it is recorded: without keys.

use std::ffi::OsString;

use retold::model::NamedUrl;
use retold_wire::{MASK, is_a_key};

/// The shortest value of a variable that is taken for a key.
const SHORTEST: usize = 8;

/// How keys of known providers begin, and how long they are at least.
const PREFIXES: &[&str] = &["sk-", "sk_", "gsk_", "xai-", "hf_", "AIza", "pplx-", "r8_", "csk-"];
const LONG: usize = 12;

/// A URL as it is recorded: without user name, password and query, and without keys in its path. What
/// is left out is marked, because nobody can type what is not there.
pub(super) fn url_without_keys(url: &NamedUrl) -> String {
    let shown = url.without_secrets();
    let parts = masked(shown.split('/').map(str::to_owned), &of_environment()).join("/");
    let left_out = if url.as_str().contains(['@', '?']) { MASK } else { "" };
    format!("{parts}{left_out}")
}

/// A command without the values of variables that hold keys, without what follows an option for a
/// key (`--api-key X`, `--token=X`, `KEY=X`), and without words that begin as providers' keys do.
pub(super) fn without_keys(command: &[OsString]) -> Vec<String> {
    masked(command.iter().map(|word| word.to_string_lossy().into_owned()), &of_environment())
}

/// The values of our own variables that hold keys.
fn of_environment() -> Vec<String> {
    let keys = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(names_a_key));
    let keys = keys.filter_map(|(_, value)| value.into_string().ok());
    keys.filter(|value| value.len() >= SHORTEST).collect()
}

fn masked(command: impl Iterator<Item = String>, keys: &[String]) -> Vec<String> {
    let mut follows_option = false;
    let mut shown = Vec::new();
    for word in command {
        let word = keys.iter().fold(word, |word, key| word.replace(key, MASK));
        let is_value = std::mem::replace(&mut follows_option, false) && !word.starts_with('-');
        if is_value {
            shown.push(MASK.to_owned());
            continue;
        }
        follows_option = word.starts_with('-') && !word.contains(['=', ' ']) && is_option(&word);
        shown.push(without_values(&without_user_info(&word)));
    }
    shown
}

/// A word without the user names and passwords of the URLs in it.
fn without_user_info(word: &str) -> String {
    let mut parts = word.split("://");
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_end = |c: char| c.is_whitespace() || "/?#'\"`<>".contains(c);
        let (authority, rest) = part.split_at(part.find(is_end).unwrap_or(part.len()));
        let host = authority.rsplit_once('@').map(|(_, host)| format!("{MASK}@{host}"));
        shown.push_str(&format!("://{}{rest}", host.as_deref().unwrap_or(authority)));
    }
    shown
}

/// A word, which may be a whole script: without the values of settings that name a key, and without
/// parts that begin as providers' keys do.
fn without_values(word: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || "'\"`;,&|()<>{}".contains(c);
    let mut follows_option = false;
    // A name in quotes, as in JSON: a value follows its colon.
    let mut follows_colon = false;
    let part = |part: &str| {
        let text = part.trim_end_matches(is_end);
        let end = &part[text.len()..];
        let is_colon = text == ":" && std::mem::take(&mut follows_colon);
        follows_colon =
            end.starts_with(['"', '\'']) && names_a_key(text) || text.is_empty() && follows_colon;
        let follows = std::mem::replace(
            &mut follows_option,
            is_colon
                || is_scheme(text)
                || text.strip_suffix(':').is_some_and(names_a_key)
                || text.starts_with('-') && !text.contains('=') && is_option(text),
        );
        // `Authorization: Bearer KEY`.
        if follows && is_scheme(text) {
            return part.to_owned();
        }
        let is_key = |text: &str| {
            text.len() >= LONG && PREFIXES.iter().any(|prefix| text.starts_with(prefix))
        };
        match text.split_once('=') {
            _ if text.is_empty() => {
                follows_option = follows;
                part.to_owned()
            }
            // A value in quotes is the next part.
            Some((name, "")) => {
                follows_option = names_a_key(name);
                part.to_owned()
            }
            Some((name, _)) if names_a_key(name) => format!("{name}={MASK}{end}"),
            // In a URL, of which other parameters are parts of their own.
            Some(_) if let Some(name) = key_in_query(text) => format!("{name}={MASK}{end}"),
            Some((name, value)) if is_key(value) => format!("{name}={MASK}{end}"),
            _ if is_key(text) || (follows && !text.starts_with('-')) => format!("{MASK}{end}"),
            _ => part.to_owned(),
        }
    };
    word.split_inclusive(is_end).map(part).collect()
}

/// What comes before the value of a URL's first parameter, if that holds a key.
fn key_in_query(text: &str) -> Option<&str> {
    let query = text.rfind('?')? + 1;
    let name = text.get(query..)?.split_once('=')?.0;
    is_a_key(name).then(|| text.get(..query + name.len())).flatten()
}

/// What stands before a key in a header.
fn is_scheme(text: &str) -> bool {
    ["bearer", "basic"].iter().any(|scheme| text.eq_ignore_ascii_case(scheme))
}

/// Whether a key follows an option; `-u` and `--user` of curl are followed by a password, too.
fn is_option(option: &str) -> bool {
    names_a_key(option) || ["-u", "--user"].contains(&option)
}

/// How the names of options, variables and headers end that hold keys.
const NAMES: &[&str] = &[
    "KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PWD",
    "CREDENTIAL",
    "CREDENTIALS",
    "AUTHORIZATION",
    "BEARER",
    "JWT",
    "COOKIE",
];

/// Whether an option, a variable or a header holds a key, by its name.
fn names_a_key(name: &str) -> bool {
    let name = name.trim_start_matches('-').replace('-', "_").to_ascii_uppercase();
    NAMES.iter().any(|word| {
        name.strip_suffix(word).is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(words: &[&str]) -> String {
        masked(words.iter().map(|word| (*word).to_owned()), &["hunter22".to_owned()]).join(" ")
    }

    #[test]
    fn keys_are_left_out() {
        for (command, due) in [
            (&["python", "s.py", "--api-key", "abc"][..], "python s.py --api-key [key]"),
            (&["python", "s.py", "--api-key=abc", "-v"], "python s.py --api-key=[key] -v"),
            (&["python", "s.py", "--token", "--dry"], "python s.py --token --dry"),
            (
                &["sh", "-c", "OPENAI_API_KEY='xyz' run --key abc; ls"],
                "sh -c OPENAI_API_KEY='[key]' run --key [key]; ls",
            ),
            (&["sh", "-c", "A=1 curl -H 'x: sk-verysecret1' u"], "sh -c A=1 curl -H 'x: [key]' u"),
            (&["env", "X=sk-verysecret1", "a"], "env X=[key] a"),
            (
                &["curl", "-H", "Authorization: Bearer eyJ.abc.def", "-u", "me:pass", "u"],
                "curl -H Authorization: Bearer [key] -u [key] u",
            ),
            (&["sh", "-c", "c -H 'x-auth-token: 12ab' u"], "sh -c c -H 'x-auth-token: [key]' u"),
            (&["a", "--apikey", "xyz", "--credential=1"], "a --apikey [key] --credential=[key]"),
            (
                &["a", "{\"api_key\": \"xyz\", \"key\" : 7, \"model\":\"m\"}"],
                "a {\"api_key\": \"[key]\", \"key\" : [key], \"model\":\"m\"}",
            ),
            (&["a", "hunter22"], "a [key]"),
            (&["curl", "http://u:pw@h.example/x?q=1"], "curl http://[key]@h.example/x?q=1"),
            (&["curl", "--url=https://h/x?sig=ab%3D&q=1"], "curl --url=https://h/x?sig=[key]&q=1"),
            (
                &["sh", "-c", "A=http://u@h B=ftp://v:w@i; c http://h/?a=1&api_key=x"],
                "sh -c A=http://[key]@h B=ftp://[key]@i; c http://h/?a=1&api_key=[key]",
            ),
            (
                &["python", "monkey.py", "--monkey", "ape", "sk-1"],
                "python monkey.py --monkey ape sk-1",
            ),
        ] {
            assert_eq!(shown(command), due);
        }
    }
}
