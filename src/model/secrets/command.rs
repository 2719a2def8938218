//! A command without keys: a word at a time, each of which may be a script, JSON, a header or a URL.
//!
//! There is one rule: the value under the name of a key is a key, however the two are written side by side. A name is a run
//! of letters and digits; `word_scan` says what may stand between it and its value, and how far a value goes. Besides, keys
//! are known by how they begin (`published`), and by their values, if these are known.

use super::published::each_key;
use super::unescaped_text::UnescapedText;
use super::word_scan::WordScan;
use super::{STRUCK, Secrets, without};
use crate::model::key_names::{is_a_key, is_placeholder};

/// Options of curl and its kind that are followed by a user and a password.
pub(super) const USERS: &[&str] = &["-u", "-U", "-a", "--user", "--proxy-user", "--auth"];

/// Options without a name that hold a key behind these words.
const BEHIND: &[(&str, &[&str])] = &[
    ("login", &["-p", "-t"]),
    ("secret", &["-b", "--body"]),
    ("sshpass", &["-p"]),
    ("mysql", &["-p"]),
    ("mysqldump", &["-p"]),
    ("redis-cli", &["-a"]),
    ("openssl", &["-k", "-K"]),
    ("ssh-keygen", &["-N"]),
];

/// Words before a name that is set to the next word, without a sign between them.
pub(super) const SETTERS: &[&str] =
    &["set", "setx", "setenv", "Set-Item", "-x", "-gx", "-Ux", "-gU", "put"];

/// The words before a key in a header.
const SCHEMES: &[&str] = &["bearer", "basic", "token", "apikey", "digest", "key"];

/// The words of a command without keys: those that `keys` has, those under names of keys, and those that begin as keys do.
pub fn command_without_keys(
    words: impl IntoIterator<Item = String>,
    keys: &Secrets,
) -> Vec<String> {
    let (mut shown, mut before): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    // `--authorization Bearer KEY`.
    let mut follows_scheme = false;
    for word in words {
        let is_value = follows_scheme || is_value(&word, &before);
        follows_scheme = is_value && is_scheme(&word);
        let last = before.last().map_or("", String::as_str);
        shown.push(match is_value && !is_placeholder(&word) {
            _ if follows_scheme => word.clone(),
            true => STRUCK.to_owned(),
            false => match option_in(&word, &before) {
                Some(option) => format!("{option}{STRUCK}"),
                None => struck(&word, is_script_option(last), keys),
            },
        });
        before.push(word);
    }
    shown
}

/// Whether a word is a key because of those before it.
fn is_value(word: &str, before: &[String]) -> bool {
    let last = before.last().map_or("", String::as_str);
    if USERS.contains(&last) && word.contains(':') {
        // Numbers are ids of a user and a group.
        return !word.chars().all(|c| c.is_ascii_digit() || c == ':');
    }
    let is_set = before.iter().rev().nth(1).is_some_and(|it| SETTERS.contains(&it.as_str()));
    let name = last.rsplit(|c| !is_name_char(c)).next().unwrap_or_default();
    !word.starts_with('-')
        && (is_plain(last) && is_key_option(last)
            || is_set && name.contains('_') && is_key_name(name)
            || is_behind(last, before)
            || last == "login" && is_random(word))
}

/// Whether an option holds a key because of a word before it.
fn is_behind(option: &str, before: &[String]) -> bool {
    let has = |due: &str| before.iter().any(|word| word.rsplit('/').next() == Some(due));
    BEHIND.iter().any(|(word, options)| options.contains(&option) && has(word))
}

/// The option to which a key is attached: `-pKEY`.
fn option_in<'a>(word: &'a str, before: &[String]) -> Option<&'a str> {
    let option = word.get(..2)?;
    (word.len() > 2 && !word.starts_with("--") && is_behind(option, before)).then_some(option)
}

/// Whether a word looks as if nobody had made it up.
fn is_random(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    word.len() >= 20 && word.chars().all(is_part) && word.contains(|c: char| c.is_ascii_digit())
}

/// Whether a word is a name or an option and nothing else.
fn is_plain(word: &str) -> bool {
    word.chars().all(is_name_char)
}

pub(super) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_.%".contains(c)
}

/// Whether a key follows an option.
fn is_key_option(option: &str) -> bool {
    option.starts_with('-') && is_key_name(option)
}

/// Whether a script follows an option: `-c`, `-lc`, `-e`.
fn is_script_option(option: &str) -> bool {
    let short = option.strip_prefix('-').filter(|rest| rest.len() <= 3);
    short.is_some_and(|rest| rest.ends_with(['c', 'e', 'E', 'p']))
        || ["--eval", "-Command", "/c"].contains(&option)
}

/// Whether a name means a key: also one of several (`API_KEY_2`, `API_KEYS`), and headers in a variable.
pub(super) fn is_key_name(name: &str) -> bool {
    let one = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', '-']);
    let is_one_of_many = || is_plural(one) && is_a_key(&one[..one.len() - 1]);
    is_a_key(name) || is_a_key(one) || is_one_of_many() || is_header_list(name)
}

/// Whether a variable has headers: `OTEL_EXPORTER_OTLP_HEADERS`.
pub(super) fn is_header_list(name: &str) -> bool {
    name.ends_with("_HEADERS") && !name.contains(|c: char| c.is_ascii_lowercase())
}

/// Whether a name has a list of keys, or an object of them.
pub(super) fn is_plural(name: &str) -> bool {
    let end = |many: &str| {
        name.get(name.len().saturating_sub(many.len())..)
            .is_some_and(|end| end.eq_ignore_ascii_case(many))
    };
    ["keys", "secrets", "passwords", "credentials"].iter().any(|many| end(many))
}

/// Whether a text is the name of a variable that holds a key.
pub(super) fn is_variable(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.contains('_') && text.chars().all(is_part) && is_key_name(text)
}

/// A word without keys.
fn struck(word: &str, is_script: bool, keys: &Secrets) -> String {
    let mut places = keys.places(word.as_bytes());
    each_key(word, |place| places.push(place));
    WordScan { word, is_script }.each_place(&mut places);
    // In a query within a query, and in JSON within JSON, quotes and signs are escaped.
    let is_escaped =
        ["%2", "%3", "%5", "%7", "&quot", "&#", "\\u00", "\\x"].iter().any(|it| word.contains(it));
    if is_escaped && !word.contains('\n') {
        for view in UnescapedText::new(word) {
            if let Ok(text) = std::str::from_utf8(view.bytes()) {
                let mut found = Vec::new();
                WordScan { word: text, is_script }.each_place(&mut found);
                places.extend(found.into_iter().map(|place| view.origin(place)));
            }
        }
    }
    match places.is_empty() {
        true => word.to_owned(),
        false => without(word, places),
    }
}

/// Whether a word stands before a key in a header.
pub(super) fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}
