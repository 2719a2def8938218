//! What looks like an id, a time or a path, and the options under which it does not count.

use std::sync::LazyLock;

use regex::Regex;
use retold::prompt::Request;
use serde_json::Value;

use crate::body_differences::FieldDifference;
use crate::field_names::named_path;
use crate::rules::{RecordedRules, Rules};

/// The names of months in English.
macro_rules! month {
    () => {
        r"(Jan(uary)?|Feb(ruary)?|Mar(ch)?|Apr(il)?|May|June?|July?|Aug(ust)?|Sept?(ember)?|Oct(ober)?|Nov(ember)?|Dec(ember)?)\.?"
    };
}

/// The beginnings of names of months in more languages, for dates with a day before and a year after.
macro_rules! any_month {
    () => {
        r"(?i:jan|ene|feb|fév|mar|mär|apr|abr|avr|may|mai|jun|juin|jul|juil|aug|ago|août|sep|set|oct|okt|out|nov|dec|dez|déc|dic)\p{L}*\.?"
    };
}

/// A token that has digits within it, long enough to be random.
const RANDOM: &str = r"\b([A-Za-z_-]*[0-9][0-9A-Za-z_-]{9,}|[0-9A-Za-z_-]{9,}[0-9][A-Za-z_-]*)\b";

/// The parts of texts that change from run to run: the name that each counts as, and its pattern. Longer forms come before
/// those that are a part of them.
const VOLATILE: &[(&str, &str)] = &[
    ("ID", "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),
    ("TIME", r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z| ?[+-]\d\d:?\d\d)?"),
    ("TIME", r"\b\d{8}T\d{6}Z?\b"),
    ("DATE", r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}"),
    ("DATE", r"\d{1,2}[-./]\d{1,2}[-./]\d{4}"),
    ("DATE", r"\b\d{1,2}/\d{1,2}/\d\d\b"),
    ("DATE", r"\b\d{4}-(W\d\d(-\d)?|\d{3})\b"),
    ("DATE", r"\d{4} ?[年년] ?\d{1,2} ?[月월] ?\d{1,2} ?[日일]"),
    (
        "DATE",
        concat!(r"\b\d{1,2}(st|nd|rd|th|\.)?( of| de)?[ -]", any_month!(), r",?( de)?[ -]\d{4}\b"),
    ),
    ("DATE", concat!(r"\b", month!(), r" {1,2}\d{1,2}(st|nd|rd|th)?\b(,? \d{4})?")),
    ("DAY", r"\b((Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )"),
    ("PORT", r"\b(https?://[^\s/:]+|localhost|127\.0\.0\.1|0\.0\.0\.0):\d{2,5}\b"),
    ("PORT", r"\b[Pp]ort\W{1,2}\d{4,5}\b"),
    ("TIME", r"\d{1,2}:\d\d(:\d\d([.,]\d+)?)?( ?[AaPp][Mm])?"),
    ("PATH", r#"/(tmp|var|private|home|Users|root|mnt|workspace)/[^\s"'`),;]+"#),
    ("PATH", r#"[A-Za-z]:\\[^\s"'`),;]+"#),
    ("ADDRESS", "0x[0-9a-f]+"),
    ("TIME", r"\b1\d{9}(\d{3}|\.\d+)?\b"),
    ("ID", r"\b[A-Za-z]+[_-][0-9A-Za-z]{10,}\b"),
    ("ID", r"\b[0-9a-fA-F]{8,}\b"),
    ("ID", RANDOM),
];

static PATTERNS: LazyLock<Vec<(&'static str, &'static str, Regex)>> = LazyLock::new(|| {
    let compiled = |(text, pattern): &(&'static str, &'static str)| {
        Some((*text, *pattern, Regex::new(pattern).ok()?))
    };
    VOLATILE.iter().filter_map(compiled).collect()
});

/// The options under which two requests are equal, if all that differs looks like ids, times or paths; empty if it does not.
/// `differences` are all of theirs.
pub(crate) fn options(
    (recorded, now): (&Request, &Request),
    differences: &[FieldDifference],
    rules: &Rules,
) -> Vec<String> {
    let (mut ignore, mut replace) = (Vec::new(), Vec::new());
    for FieldDifference { path, recorded: before, now: after } in differences {
        let is_whole =
            before.as_ref().is_none_or(is_volatile) && after.as_ref().is_none_or(is_volatile);
        match (before, after) {
            _ if is_whole => {
                let field = field(&named_path(now, path));
                if !ignore.contains(&field) {
                    ignore.push(field);
                }
            }
            (Some(Value::String(before)), Some(Value::String(after))) => {
                let Some(patterns) = patterns(before, after) else { return Vec::new() };
                for pattern in patterns {
                    if !replace.contains(&pattern) {
                        replace.push(pattern);
                    }
                }
            }
            _ => return Vec::new(),
        }
    }
    let tried = RecordedRules::parse(&ignore, &replace).and_then(|it| rules.clone().adding(it));
    let Ok(tried) = tried else { return Vec::new() };
    match (tried.key(recorded), tried.key(now)) {
        (Ok(recorded), Ok(now)) if recorded == now => {}
        _ => return Vec::new(),
    }
    let ignore = ignore.iter().map(|field| format!("--ignore {field}"));
    let replace = replace.iter().map(|rule| format!("--replace '{}'", rule.replace('\'', r"'\''")));
    ignore.chain(replace).collect()
}

/// Whether a value is nothing but an id, a time or a path.
fn is_volatile(value: &Value) -> bool {
    let is_all = |text: &str| {
        let whole = |regex: &Regex| regex.find(text).is_some_and(|it| it.len() == text.len());
        PATTERNS
            .iter()
            .any(|(_, pattern, regex)| whole(regex) && (*pattern != RANDOM || is_mixed(text)))
    };
    match value {
        Value::String(text) => is_all(text),
        Value::Number(number) => is_all(&number.to_string()),
        _ => false,
    }
}

/// The replacements that make two texts equal, as `REGEX=TEXT`.
fn patterns(before: &str, after: &str) -> Option<Vec<String>> {
    let (mut before, mut after) = (before.to_owned(), after.to_owned());
    let mut used = Vec::new();
    for (text, pattern, regex) in PATTERNS.iter() {
        let found = |whole: &str| {
            regex.find_iter(whole).map(|it| it.as_str().to_owned()).collect::<Vec<_>>()
        };
        let (old, new) = (found(&before), found(&after));
        // The same token in both is left out of it.
        let mut differing = old.iter().zip(&new).filter(|(old, new)| old != new);
        let is_meant =
            *pattern != RANDOM || differing.all(|(old, new)| is_mixed(old) && is_mixed(new));
        if old != new && is_meant {
            before = regex.replace_all(&before, *text).into_owned();
            after = regex.replace_all(&after, *text).into_owned();
            used.push(format!("{pattern}={text}"));
        }
        if before == after {
            return Some(used);
        }
    }
    None
}

/// Whether a token has letters of both cases and digits, as random ones have; names of models have not.
fn is_mixed(token: &str) -> bool {
    let has = |is: fn(&char) -> bool| token.chars().any(|c| is(&c));
    has(char::is_ascii_lowercase) && has(char::is_ascii_uppercase) && has(char::is_ascii_digit)
}

/// A field as it is given to `--ignore`: for all items of a list, because the next request has more of them.
fn field(path: &[String]) -> String {
    let general = |name: &String| match name.bytes().all(|byte| byte.is_ascii_digit()) {
        true => "*".to_owned(),
        false => name.clone(),
    };
    path.iter().map(general).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::body_differences::BodyDifferences;

    fn found(recorded: Value, now: Value) -> Vec<String> {
        let of = |body: Value| Request::from_body(body).unwrap();
        let (recorded, now) = (of(recorded), of(now));
        let differences = BodyDifferences::between(recorded.body(), now.body()).first;
        options((&recorded, &now), &differences, &Rules::default())
    }

    fn chat(said: &str, id: &str) -> Value {
        json!({"model": "m", "trace": {"id": id}, "messages": [{"role": "user", "content": said}]})
    }

    #[test]
    fn ids_times_and_paths_have_options_under_which_they_do_not_count() {
        let one = "6f2f7a0e-1c1b-4c53-9d43-0a0a6d2f1c3e";
        let two = "0b7d8a51-7a0e-4f1c-8d1e-3e2f1c0a9b8c";
        assert_eq!(found(chat("hi", one), chat("hi", two)), ["--ignore trace.id"]);
        assert_eq!(
            found(
                chat("It is 2026-11-27 08:12:01. In /tmp/x81/a.", "1"),
                chat("It is 2026-11-28 19:00:44. In /tmp/b7/a.", "1")
            ),
            [
                r"--replace '\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z| ?[+-]\d\d:?\d\d)?=TIME'",
                r#"--replace '/(tmp|var|private|home|Users|root|mnt|workspace)/[^\s"'\''`),;]+=PATH'"#
            ]
        );
        let at = |time: u64| json!({"model": "m", "messages": [{"role": "user", "content": "a", "at": time}]});
        assert_eq!(found(at(1_795_000_000), at(1_795_000_017_123)), ["--ignore messages.*.at"]);
    }

    #[test]
    fn dates_in_all_their_written_forms_have_options() {
        for (before, after) in [
            ("2026-11-30", "2026-12-01"),
            ("2026/11/30", "2026/12/01"),
            ("20261130", "20261201"),
            ("30.11.2026", "1.12.2026"),
            ("11/30/2026", "12/1/2026"),
            ("11/30/26", "12/01/26"),
            ("30-11-2026", "01-12-2026"),
            ("November 30, 2026", "December 1, 2026"),
            ("Nov. 30, 2026", "Dec. 1, 2026"),
            ("November 30th", "December 1st"),
            ("30 November 2026", "1 December 2026"),
            ("30th of November 2026", "1st of December 2026"),
            ("30-Nov-2026", "01-Dec-2026"),
            ("Mon, 30 Nov 2026 08:12:01 GMT", "Tue, 01 Dec 2026 19:00:44 GMT"),
            ("Mon Nov 30 08:12:01 2026", "Tue Dec  1 19:00:44 2026"),
            ("2026-W49-1", "2026-W49-2"),
            ("2026-334", "2026-335"),
            ("20261130T081201Z", "20261201T190044Z"),
            ("30. November 2026", "1. Dezember 2026"),
            ("30 novembre 2026", "1 décembre 2026"),
            ("30 de noviembre de 2026", "1 de diciembre de 2026"),
            ("2026年11月30日", "2026年12月1日"),
            ("2026년 11월 30일", "2026년 12월 1일"),
        ] {
            let text = |date: &str| chat(&format!("Today is {date} in Oslo."), "1");
            let options = found(text(before), text(after));
            assert!(options.iter().any(|it| it.starts_with("--replace")), "{before}: {options:?}");
        }
    }

    #[test]
    fn ports_and_random_ids_have_options() {
        for (before, after, text) in [
            ("http://localhost:51234/x", "http://localhost:8080/x", "PORT"),
            ("127.0.0.1:51234", "127.0.0.1:39999", "PORT"),
            ("port 51234", "port 39999", "PORT"),
            ("V1StGXR8_Z5jdHi6B-myT", "3n8Ux-qLw2KpVb70_RtyE", "ID"),
            ("ckJ3k9XyZabcdQ", "ckZ8m2AbCdefgH", "ID"),
        ] {
            let of = |part: &str| chat(&format!("See {part} now."), "1");
            let options = found(of(before), of(after));
            let due = format!("={text}'");
            assert!(options.iter().any(|it| it.ends_with(&due)), "{before}: {options:?}");
        }
    }

    #[test]
    fn a_changed_prompt_has_no_option() {
        let id = "6f2f7a0e-1c1b-4c53-9d43-0a0a6d2f1c3e";
        for (before, after) in [
            ("Say yes at 12:30.", "Say no at 12:31."),
            ("Say yes.", "Say no."),
            ("Take 3 of 10.", "Take 4 of 10."),
            ("Take 3 seats of 2000.", "Take 4 seats of 2000."),
            ("Answer as gpt-4o-mini-2024 does.", "Answer as gpt-4o-large-2024 does."),
            ("A well-known-constraint.", "A less-known-constraint."),
            ("", "yes"),
        ] {
            assert_eq!(found(chat(before, id), chat(after, id)), Vec::<String>::new(), "{before}");
        }
        let hot = |heat: f64| json!({"model": "m", "temperature": heat, "messages": [{"role": "user", "content": id}]});
        assert_eq!(found(hot(0.5), hot(0.7)), Vec::<String>::new());
    }
}
