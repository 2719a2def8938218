//! A word of a command, which may be a whole script: where the values of names that mean a key stand in it.

use std::ops::Range;

use super::command::{
    SETTERS, USERS, is_header_list, is_key_name, is_name_char, is_plural, is_scheme, is_variable,
};
use crate::model::key_names::is_placeholder;

/// The characters that end a value without quotes.
const DELIMITERS: &str = "'\"`;,&|()<>{}\\";

/// The values under a name that is only declared, or empty.
const NO_VALUES: &[&str] = &[
    "str", "string", "String", "None", "null", "nil", "undefined", "true", "false", "True", "False",
];

/// The names of the field that has the value of what another field names.
const VALUES: &[&str] =
    &["value", "values", "val", "stringvalue", "secret_value", "parametervalue"];

/// How a value is written.
struct AssignedValue {
    begin: usize,
    /// The quotation mark, with the backslashes before it.
    quote: Option<String>,
    /// Whether only a blank stands before it.
    is_bare: bool,
    /// Whether it follows a colon.
    follows_colon: bool,
}

/// A word of a command.
#[derive(Clone, Copy)]
pub(super) struct WordScan<'a> {
    pub(super) word: &'a str,
    pub(super) is_script: bool,
}

impl WordScan<'_> {
    /// Passes on each place with a key.
    pub(super) fn each_place(self, places: &mut Vec<Range<usize>>) {
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

    /// Finds the key under a name.
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
        if let Some(value) = self.assignment(&name) {
            places.extend(self.extent(&name, &value));
        }
    }

    /// What comes after a name, up to its value; `None` if nothing is set.
    fn assignment(self, name: &Range<usize>) -> Option<AssignedValue> {
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
            // An option, or a name that a word before it sets.
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
                None => bare_end(rest, is_header_list(&self.word[name.clone()])),
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
            self.add_continuation(end + quote.len(), &mut places);
        }
        places
    }

    /// What continues a value in quotes: `'a'"b"`, `"a" + "b"`.
    fn add_continuation(self, from: usize, places: &mut Vec<Range<usize>>) {
        let Some(rest) = self.word.get(from..) else { return };
        let joined = rest.trim_start_matches([' ', '+', '.']);
        let is_next = joined.len() == rest.len() || rest.trim_start().starts_with(['+', '.']);
        let begin = self.word.len() - joined.len();
        let mark = joined.chars().next().filter(|c| matches!(c, '"' | '\'')).filter(|_| is_next);
        match mark {
            Some(mark) => {
                let end = joined[1..].find(mark).map_or(self.word.len(), |at| begin + 1 + at);
                places.push(begin + 1..end);
                self.add_continuation(end + 1, places);
            }
            None if joined.len() == rest.len() => {
                let end = bare_end(rest, false);
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
        let assigned = nearest.and_then(|it| Some((self.assignment(&it)?, it)));
        assigned.map(|(value, it)| self.extent(&it, &value)).unwrap_or_default()
    }
}

/// How far a value without quotes goes: to a blank, or to a sign that ends a word.
fn bare_end(rest: &str, is_list: bool) -> usize {
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
