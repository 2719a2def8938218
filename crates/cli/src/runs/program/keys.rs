//! A command as it is recorded: without keys.

use std::ffi::OsString;

use retold::model::{NamedUrl, is_a_key};
use retold_wire::MASK;

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
pub(crate) fn without_keys(command: &[OsString]) -> Vec<String> {
    masked(command.iter().map(|word| word.to_string_lossy().into_owned()), &of_environment())
}

/// The values of our own variables that hold keys.
fn of_environment() -> Vec<String> {
    let keys = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(is_a_key));
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
        let word = without_password(&without_header_values(&without_user_info(&word)));
        shown.push(without_values(&word));
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

/// A word without the values of the headers in it that hold keys: to the end of the quotes in which a header is, or of the word.
fn without_header_values(word: &str) -> String {
    let (mut shown, mut from) = (String::new(), 0);
    for (colon, _) in word.match_indices(':') {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "-_%".contains(c);
        let begin = word[from..colon].rfind(|c| !is_part(c)).map_or(from, |at| from + at + 1);
        let name = &word[begin..colon];
        let value = &word[colon + 1..];
        let before = word[..begin].chars().next_back();
        let is_begin = before.is_none_or(|c| c.is_whitespace() || "'\"=".contains(c));
        if colon < from || !is_begin || value.starts_with("//") || !is_a_key(name) {
            continue;
        }
        let begin = value.len() - value.trim_start_matches(' ').len();
        let end = match before {
            None | Some('=') => value.find(['\'', '"', '\n']),
            Some(quote @ ('\'' | '"')) => value.find([quote, '\n']),
            _ => value[begin..]
                .find(|c: char| c.is_whitespace() || "'\"".contains(c))
                .map(|at| begin + at),
        };
        let end = end.unwrap_or(value.len());
        // `Bearer KEY`: the scheme is shown.
        let scheme = value[begin..end].split_once(' ').map_or("", |(scheme, _)| scheme);
        let scheme = if is_scheme(scheme) { format!("{scheme} ") } else { String::new() };
        if begin >= end {
            continue;
        }
        shown.push_str(&word[from..colon + 1 + begin]);
        shown.push_str(&scheme);
        shown.push_str(MASK);
        from = colon + 1 + end;
    }
    shown + &word[from..]
}

/// `-ume:PASSWORD` and `--user=me:PASSWORD` of curl, without the password.
fn without_password(word: &str) -> String {
    let user = word.strip_prefix("--user=").or_else(|| word.strip_prefix("-u"));
    match user.and_then(|user| user.split_once(':')) {
        Some((user, _)) if !user.contains(' ') => {
            format!("{}:{MASK}", word.split_once(':').map_or(user, |(before, _)| before))
        }
        _ => word.to_owned(),
    }
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
            end.starts_with(['"', '\'']) && is_a_key(text) || text.is_empty() && follows_colon;
        let follows = std::mem::replace(
            &mut follows_option,
            is_colon
                || is_scheme(text)
                || text.strip_suffix(':').is_some_and(is_a_key)
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
                follows_option = is_a_key(name);
                part.to_owned()
            }
            Some((name, _)) if is_a_key(name) => format!("{name}={MASK}{end}"),
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
    ["bearer", "basic", "token", "apikey", "digest"]
        .iter()
        .any(|scheme| text.eq_ignore_ascii_case(scheme))
}

/// Whether a key follows an option; `-u` and `--user` of curl are followed by a password, too.
fn is_option(option: &str) -> bool {
    is_a_key(option) || ["-u", "--user"].contains(&option)
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
            (
                &["curl", "-H", "Authorization: Token abc", "u"],
                "curl -H Authorization: Token [key] u",
            ),
            (
                &["curl", "-H", "X-Api-Key:abc", "-ume:pw", "u"],
                "curl -H X-Api-Key:[key] -ume:[key] u",
            ),
            (
                &["curl", "--user=me:pw", "--header=Cookie: a=b; c=d"],
                "curl --user=me:[key] --header=Cookie: [key]",
            ),
            (
                &["curl", "-H", "Cookie: a=b; c=d", "-H", "Accept: x"],
                "curl -H Cookie: [key] -H Accept: x",
            ),
            (
                &[
                    "sh",
                    "-c",
                    "curl -H 'X-Amz-Security-Token: a b' -H \"cf-aig-authorization: Bearer c d\" http://h:80/x",
                ],
                "sh -c curl -H 'X-Amz-Security-Token: [key]' -H \"cf-aig-authorization: Bearer [key]\" http://h:80/x",
            ),
            (
                &[
                    "sh",
                    "-c",
                    "c -H Ocp-Apim-Subscription-Key:abc http://h/?%6Bey=x&AWSAccessKeyId=y&code=z",
                ],
                "sh -c c -H Ocp-Apim-Subscription-Key:[key] http://h/?%6Bey=[key]&AWSAccessKeyId=[key]&code=[key]",
            ),
            (
                &["python", "-c", "print('model: m')", "session:1"],
                "python -c print('model: m') session:[key]",
            ),
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
