//! A command as it is recorded: without keys.

use std::ffi::OsString;

/// What stands in place of a key.
const MASK: &str = "[key]";

/// The shortest value of a variable that is taken for a key.
const SHORTEST: usize = 8;

/// How keys of known providers begin, and how long they are at least.
const PREFIXES: &[&str] = &["sk-", "sk_", "gsk_", "xai-", "hf_", "AIza", "pplx-", "r8_", "csk-"];
const LONG: usize = 12;

/// A command without the values of variables that hold keys, without what follows an option for a
/// key (`--api-key X`, `--token=X`, `KEY=X`), and without words that begin as providers' keys do.
pub(super) fn without_keys(command: &[OsString]) -> Vec<String> {
    let keys = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(names_a_key));
    let keys = keys.filter_map(|(_, value)| value.into_string().ok());
    let keys: Vec<String> = keys.filter(|value| value.len() >= SHORTEST).collect();
    masked(command.iter().map(|word| word.to_string_lossy().into_owned()), &keys)
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
        follows_option = word.starts_with('-') && !word.contains(['=', ' ']) && names_a_key(&word);
        shown.push(without_values(&word));
    }
    shown
}

/// A word, which may be a whole script: without the values of settings that name a key, and without
/// parts that begin as providers' keys do.
fn without_values(word: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || "'\"`;,&|()<>".contains(c);
    let mut follows_option = false;
    let part = |part: &str| {
        let text = part.trim_end_matches(is_end);
        let end = &part[text.len()..];
        let follows = std::mem::replace(
            &mut follows_option,
            text.starts_with('-') && !text.contains('=') && names_a_key(text),
        );
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
            Some((name, value)) if is_key(value) => format!("{name}={MASK}{end}"),
            _ if is_key(text) || (follows && !text.starts_with('-')) => format!("{MASK}{end}"),
            _ => part.to_owned(),
        }
    };
    word.split_inclusive(is_end).map(part).collect()
}

/// Whether an option or a variable holds a key, by its name.
fn names_a_key(name: &str) -> bool {
    let name = name.trim_start_matches('-').replace('-', "_").to_ascii_uppercase();
    ["KEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| {
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
            (&["a", "hunter22"], "a [key]"),
            (
                &["python", "monkey.py", "--monkey", "ape", "sk-1"],
                "python monkey.py --monkey ape sk-1",
            ),
        ] {
            assert_eq!(shown(command), due);
        }
    }
}
