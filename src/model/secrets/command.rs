//! A command without keys: a word at a time, each of which may be a script, JSON, a header or a URL.
//!
//! There is one rule: what stands under the name of a key is a key, however the two are written side by side. A name is a run of
//! letters and digits; what may stand between it and its value is in [`assigned`], and how far a value goes is in [`extent`].
//! Besides, keys are known by how they begin (`published`), and by their values, if these are known.

use std::ops::Range;

use super::published::each_key;
use super::unescaped_text::UnescapedText;
use super::{STRUCK, Secrets, without};
use crate::model::key_names::{is_a_key, is_placeholder};

/// Options of curl and its kind that are followed by a user and a password.
const USERS: &[&str] = &["-u", "-U", "-a", "--user", "--proxy-user", "--auth"];

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
const SETTERS: &[&str] = &["set", "setx", "setenv", "Set-Item", "-x", "-gx", "-Ux", "-gU", "put"];

/// What stands before a key in a header.
const SCHEMES: &[&str] = &["bearer", "basic", "token", "apikey", "digest", "key"];

/// What ends a value that is in no quotes.
const DELIMITERS: &str = "'\"`;,&|()<>{}\\";

/// What stands under a name where it is declared, or empty.
const NO_VALUES: &[&str] = &[
    "str",
    "string",
    "String",
    "None",
    "null",
    "nil",
    "undefined",
    "true",
    "false",
    "True",
    "False",
];

/// The names of the field that has the value of what another field names.
const VALUES: &[&str] =
    &["value", "values", "val", "stringvalue", "secret_value", "parametervalue"];

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
            false => match attached(&word, &before) {
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
fn attached<'a>(word: &'a str, before: &[String]) -> Option<&'a str> {
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

fn is_name_char(c: char) -> bool {
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
fn is_key_name(name: &str) -> bool {
    let one = name.trim_end_matches(|c: char| c.is_ascii_digit()).trim_end_matches(['_', '-']);
    let is_one_of_many = || is_plural(one) && is_a_key(&one[..one.len() - 1]);
    is_a_key(name) || is_a_key(one) || is_one_of_many() || is_header_list(name)
}

/// Whether a variable has headers: `OTEL_EXPORTER_OTLP_HEADERS`.
fn is_header_list(name: &str) -> bool {
    name.ends_with("_HEADERS") && !name.contains(|c: char| c.is_ascii_lowercase())
}

/// Whether a name has a list of keys, or an object of them.
fn is_plural(name: &str) -> bool {
    let end = |many: &&str| {
        name.get(name.len().saturating_sub(many.len())..)
            .is_some_and(|end| end.eq_ignore_ascii_case(many))
    };
    ["keys", "secrets", "passwords", "credentials"].iter().any(|many| end(&many))
}

/// Whether a text is the name of a variable that holds a key.
fn is_variable(text: &str) -> bool {
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

/// How a value is written.
struct AssignedValue {
    begin: usize,
    /// What it is quoted with, with the backslashes before it.
    quote: Option<String>,
    /// Whether only a blank stands before it.
    is_bare: bool,
    /// Whether it follows a colon.
    follows_colon: bool,
}

/// A word of a command.
#[derive(Clone, Copy)]
struct WordScan<'a> {
    word: &'a str,
    is_script: bool,
}

impl WordScan<'_> {
    /// Passes on each place with a key.
    fn each_place(self, places: &mut Vec<Range<usize>>) {
        self.users(places);
        for name in self.names() {
            self.of_name(name, places);
        }
    }

    /// Where all runs of letters, digits and the signs of names are.
    fn names(self) -> Vec<Range<usize>> {
        let (mut names, mut begin) = (Vec::new(), None);
        for (at, c) in self.word.char_indices().chain([(self.word.len(), ' ')]) {
            match (is_name_char(c), begin) {
                (true, None) => begin = Some(at),
                (false, Some(from)) => {
                    names.push(from..at);
                    begin = None;
                }
                _ => {}
            }
        }
        names
    }

    /// The users and passwords of the URLs, and of options that have them in the same word.
    fn users(self, places: &mut Vec<Range<usize>>) {
        for (at, _) in self.word.match_indices("://") {
            let begin = at + 3;
            let is_end = |c: char| c.is_whitespace() || "/?#'\"`<>\\".contains(c);
            let rest = &self.word[begin..];
            let authority = &rest[..rest.find(is_end).unwrap_or(rest.len())];
            if let Some(end) = authority.rfind('@') {
                places.push(begin..begin + end);
            }
        }
        for (at, option) in USERS.iter().flat_map(|it| self.word.match_indices(it)) {
            let is_long = option.starts_with("--");
            let rest = &self.word[at + option.len()..];
            let is_begin = self.word[..at].chars().next_back().is_none_or(char::is_whitespace);
            let value = rest.trim_start_matches([' ', '=', '\'', '"']);
            if !is_begin || is_long && !rest.starts_with(['=', ' ']) || value.starts_with('+') {
                continue;
            }
            let is_end = |c: char| c.is_whitespace() || "'\"".contains(c);
            let is_whole = at == 0 && !rest.starts_with(' ');
            let end = if is_whole { None } else { value.find(is_end) };
            let value = &value[..end.unwrap_or(value.len())];
            if let Some((user, password)) = value.split_once(':')
                && !user.contains(' ')
                && !password.starts_with("//")
            {
                let begin = self.word.len() - rest.len()
                    + (rest.len() - rest.trim_start_matches([' ', '=', '\'', '"']).len());
                places.push(begin + user.len() + 1..begin + value.len());
            }
        }
    }

    /// What stands under a name.
    fn of_name(self, name: Range<usize>, places: &mut Vec<Range<usize>>) {
        let text = &self.word[name.clone()];
        let is_scheme = ["bearer", "basic"].iter().any(|scheme| text.eq_ignore_ascii_case(scheme));
        if is_scheme && self.word[name.end..].starts_with(' ') {
            let begin = name.end + 1;
            let value = &self.word[begin..];
            let is_end = |c: char| c.is_whitespace() || DELIMITERS.contains(c);
            let end = value.find(is_end).unwrap_or(value.len());
            if end >= 4
                && !is_placeholder(&value[..end])
                && value[..end].contains(|c: char| !c.is_ascii_lowercase())
            {
                places.push(begin..begin + end);
            }
            return;
        }
        if !is_key_name(text) {
            return;
        }
        places.extend(self.of_sibling(&name));
        if let Some(value) = self.assigned(&name) {
            places.extend(self.extent(&name, &value));
        }
    }

    /// What comes after a name, up to its value; `None` if nothing is set.
    fn assigned(self, name: &Range<usize>) -> Option<AssignedValue> {
        let rest = &self.word[name.end..];
        let closed = rest.trim_start_matches(['\\', '"', '\'', '`', ']', ')', '}']);
        let unquoted = rest.trim_start_matches(['\\', '"', '\'', '`']);
        let is_closed = unquoted.len() < rest.len() && unquoted.len() == closed.len();
        let spaced = closed.trim_start();
        let has_blank = spaced.len() < closed.len();
        let word = &self.word[name.clone()];
        let signs = [":=", "=>", "==", "%3D", "%3d", "=", ":"];
        let sign = signs.into_iter().find(|sign| spaced.starts_with(sign));
        let is_call = || is_closed && spaced.starts_with(',') && self.is_in_call(name.start);
        let is_element = || spaced.starts_with('>') && self.word[..name.start].ends_with('<');
        let (after, follows_colon) = match sign {
            Some(":") if spaced.starts_with("::") || spaced.starts_with("://") => return None,
            Some(sign) => (&spaced[sign.len()..], sign == ":"),
            None if is_call() || is_element() => (&spaced[1..], false),
            // An option, and what is set by a word before it.
            None if has_blank && (word.starts_with('-') || self.is_set(name.start)) => {
                (spaced, false)
            }
            // A table.
            None if rest.starts_with('\t') || rest.starts_with("\\t") => {
                (rest.trim_start_matches("\\t"), false)
            }
            None => return None,
        };
        let is_bare = sign.is_none() && has_blank;
        let trimmed = after.trim_start_matches([' ', '\t', '\n']);
        let begin = self.word.len() - trimmed.len();
        if trimmed.is_empty() || is_bare && trimmed.starts_with('-') {
            return None;
        }
        let prefix =
            trimmed.len() - trimmed.trim_start_matches(['r', 'b', 'f', 'u', '$', '@']).len();
        let prefixed = if prefix <= 2 { &trimmed[prefix..] } else { trimmed };
        let quoted = if prefixed.trim_start_matches('\\').starts_with(['"', '\'', '`']) {
            prefixed
        } else {
            trimmed
        };
        let slashes = quoted.len() - quoted.trim_start_matches('\\').len();
        let mark = quoted[slashes..].chars().next().filter(|c| matches!(c, '"' | '\'' | '`'));
        let quote = mark.map(|mark| format!("{}{mark}", &quoted[..slashes]));
        let begin = match &quote {
            // Three quotes are one.
            Some(quote) if quoted[quote.len()..].starts_with(&quote.repeat(2)) => {
                self.word.len() - quoted.len() + 3 * quote.len()
            }
            Some(quote) => self.word.len() - quoted.len() + quote.len(),
            None => begin,
        };
        Some(AssignedValue { begin, quote, is_bare, follows_colon })
    }

    /// Where the parts of a value stand; none if it is a reference to one, or stands for one.
    fn extent(self, name: &Range<usize>, value: &AssignedValue) -> Vec<Range<usize>> {
        let AssignedValue { begin, quote, is_bare, follows_colon } = value;
        let rest = &self.word[*begin..];
        let before = self.word[..name.start].chars().next_back();
        let is_first = before.is_none() || before == Some('=') && self.word.starts_with('-');
        // A header in quotes, or a setting, goes on to the quote.
        let within = before.filter(|c| matches!(c, '"' | '\''));
        let is_closed = within.is_some_and(|mark| self.word[name.end..].starts_with(mark));
        let open = rest.chars().next().filter(|c| *c != '{' || is_plural(&self.word[name.clone()]));
        let end = match quote {
            Some(quote) => rest.find(quote.as_str()).unwrap_or(rest.len()),
            None if rest.starts_with("$(") => closing(rest),
            None if open == Some('{') => return self.literals(*begin),
            None if is_first && !is_bare && self.is_one(rest) => rest.len(),
            None if let Some(argument) = argument(rest) => return self.literals(begin + argument),
            None => match within.filter(|_| !is_closed && !is_bare) {
                Some(mark) if *follows_colon => rest.find([mark, '\n']).unwrap_or(rest.len()),
                Some(mark) => rest.find([mark, '&', '\n']).unwrap_or(rest.len()),
                None => unquoted(rest, is_header_list(&self.word[name.clone()])),
            },
        };
        let begin = begin + scheme(&rest[..end]);
        let end = self.word.len() - rest.len() + end;
        let text = self.word.get(begin..end).unwrap_or_default();
        let is_none = quote.is_none() && NO_VALUES.contains(&text) || is_variable(text);
        let mut places = Vec::new();
        if !text.is_empty() && !is_placeholder(text) && !is_none {
            places.push(begin..end);
        }
        if let Some(quote) = quote {
            self.continued(end + quote.len(), &mut places);
        }
        places
    }

    /// What continues a value in quotes: `'a'"b"`, `"a" + "b"`.
    fn continued(self, from: usize, places: &mut Vec<Range<usize>>) {
        let Some(rest) = self.word.get(from..) else { return };
        let joined = rest.trim_start_matches([' ', '+', '.']);
        let is_next = joined.len() == rest.len() || rest.trim_start().starts_with(['+', '.']);
        let begin = self.word.len() - joined.len();
        let mark = joined.chars().next().filter(|c| matches!(c, '"' | '\'')).filter(|_| is_next);
        match mark {
            Some(mark) => {
                let end = joined[1..].find(mark).map_or(self.word.len(), |at| begin + 1 + at);
                places.push(begin + 1..end);
                self.continued(end + 1, places);
            }
            None if joined.len() == rest.len() => {
                let end = unquoted(rest, false);
                let is_word = rest.starts_with(|c: char| c.is_ascii_alphanumeric());
                places.extend((end > 0 && is_word).then_some(from..from + end));
            }
            None => {}
        }
    }

    /// Whether a value that begins the word goes on to its end: in a script, the next blank ends it.
    fn is_one(self, rest: &str) -> bool {
        let is_option = self.word.starts_with('-');
        !rest.contains('\n')
            && !rest.starts_with('`')
            && (is_option
                || !self.is_script && !rest.starts_with('{')
                || !rest.contains(char::is_whitespace))
            && !(self.is_script && rest.contains([';', '&', '|']))
    }

    /// The literals among the arguments or items that begin here, without names of variables and fields.
    fn literals(self, begin: usize) -> Vec<Range<usize>> {
        let (mut found, mut open, mut at) = (Vec::new(), 1, begin);
        while let Some(c) = self.word[at..].chars().next() {
            let mut next = at + c.len_utf8();
            match c {
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => open -= 1,
                '"' | '\'' => {
                    let slashes =
                        self.word[..at].len() - self.word[..at].trim_end_matches('\\').len();
                    let quote = format!("{}{c}", "\\".repeat(slashes));
                    let from = at + 1;
                    let end =
                        self.word[from..].find(&quote).map_or(self.word.len(), |it| from + it);
                    next = (end + quote.len()).min(self.word.len());
                    let text = &self.word[from..end];
                    let is_field = self.word[next..].trim_start().starts_with(':');
                    if !text.is_empty() && !is_variable(text) && !is_placeholder(text) && !is_field
                    {
                        found.push(from..end);
                    }
                }
                _ => {}
            }
            if open == 0 {
                break;
            }
            at = next;
        }
        found
    }

    /// Whether a place is among the arguments of a call.
    fn is_in_call(self, at: usize) -> bool {
        let mut open = 0;
        for c in self.word[..at].chars().rev() {
            match c {
                ')' | ']' | '}' => open += 1,
                '(' if open == 0 => return true,
                '[' | '{' if open == 0 => return false,
                '(' | '[' | '{' => open -= 1,
                _ => {}
            }
        }
        false
    }

    /// Whether the word before a place sets what follows; or a login stands before that word, as in a `.netrc`.
    fn is_set(self, at: usize) -> bool {
        let begin = self.word[..at].rfind(char::is_whitespace).unwrap_or(0);
        let mut before = self.word[..begin].split_whitespace().rev();
        let last = before.next().map_or("", |word| word.trim_matches(['\'', '"', '(']));
        SETTERS.contains(&last)
            || before.next().is_some_and(|word| word == "login" || word == "user")
    }

    /// The value beside a field that names a key: `{"name": "api_key", "value": "K"}`, in either order, also without quotes.
    fn of_sibling(self, name: &Range<usize>) -> Vec<Range<usize>> {
        let before = self.word[..name.start].trim_end_matches(['\\', '"', '\'', ' ']);
        let Some(before) = before.strip_suffix([':', '=']) else { return Vec::new() };
        let before = before.trim_end_matches(['\\', '"', '\'', ' ']);
        let is_naming = ["name", "key", "header", "variable"].iter().any(|it| {
            before.len() >= it.len()
                && before
                    .get(before.len() - it.len()..)
                    .is_some_and(|end| end.eq_ignore_ascii_case(it))
        });
        if !is_naming {
            return Vec::new();
        }
        let begin = self.word[..name.start].rfind(['{', '(', '[']).map_or(0, |at| at + 1);
        let end =
            self.word[name.end..].find(['}', ')']).map_or(self.word.len(), |at| name.end + at);
        let siblings =
            self.names().into_iter().filter(|it| begin <= it.start && it.end <= end && it != name);
        let is_value = |it: &Range<usize>| {
            VALUES.iter().any(|value| self.word[it.clone()].eq_ignore_ascii_case(value))
        };
        let nearest = siblings.filter(is_value).min_by_key(|it| it.start.abs_diff(name.start));
        let assigned = nearest.and_then(|it| Some((self.assigned(&it)?, it)));
        assigned.map(|(value, it)| self.extent(&it, &value)).unwrap_or_default()
    }
}

/// How far a value without quotes goes: to a blank, or to a sign that ends a word.
fn unquoted(rest: &str, is_list: bool) -> usize {
    let braced = if rest.starts_with("${") { rest.find('}').map_or(0, |at| at + 1) } else { 0 };
    let mut chars = rest.char_indices().skip_while(|(at, _)| *at < scheme(rest).max(braced));
    while let Some((at, c)) = chars.next() {
        if c == '\\' && rest[at + 1..].starts_with(' ') {
            chars.next();
        } else if c.is_whitespace() || DELIMITERS.contains(c) && !(is_list && ",;".contains(c)) {
            return at;
        }
    }
    rest.len()
}

/// Whether a word stands before a key in a header.
fn is_scheme(word: &str) -> bool {
    SCHEMES.iter().any(|scheme| word.eq_ignore_ascii_case(scheme))
}

/// How long the scheme is with which a header's value begins, with the blank behind it.
fn scheme(value: &str) -> usize {
    match value.split_once(' ') {
        Some((scheme, rest)) if is_scheme(scheme) && !rest.is_empty() => scheme.len() + 1,
        _ => 0,
    }
}

/// How long a command substitution is.
fn closing(text: &str) -> usize {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '(' => open += 1,
            ')' if open == 1 => return at + 1,
            ')' => open -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Where the argument begins, if a value is a call or an item: `os.environ["X"]`, `SecretStr("K")`.
fn argument(value: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
    let end = value.find(|c| !is_part(c))?;
    let is_path = value.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || end == 0;
    (is_path && value[end..].starts_with(['(', '['])).then_some(end + 1)
}
