//! Whether a request that is not recorded looks like a recorded one that was made with other draws, or in another order.

use std::fmt;

use serde_json::Value;

use crate::body_differences::{BodyDifferences, FieldDifference};

/// What differs, where it looks like chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChanceLook {
    /// Names and numbers.
    Draw,
    /// The order of messages, lines or words.
    Order,
}

impl ChanceLook {
    /// As JSON has it.
    pub fn as_str(self) -> &'static str {
        match self {
            ChanceLook::Draw => "draw",
            ChanceLook::Order => "order",
        }
    }

    /// What can be done about it; `is_recorded` says whether the draws of the run are recorded.
    pub(crate) fn advice(self, is_recorded: bool) -> ChanceAdvice {
        ChanceAdvice { look: self, is_recorded }
    }

    /// What two bodies look like that differ so.
    pub(crate) fn of(recorded: &Value, now: &Value, found: &BodyDifferences) -> Option<Self> {
        let is_number = |it: &FieldDifference| {
            [&it.recorded, &it.now].iter().any(|side| matches!(side, Some(Value::Number(_))))
        };
        if !found.first.iter().any(is_number) && sorted(texts(recorded)) == sorted(texts(now)) {
            return Some(ChanceLook::Order);
        }
        let mut look = ChanceLook::Order;
        for FieldDifference { recorded, now, .. } in &found.first {
            match (recorded.as_ref()?, now.as_ref()?) {
                (Value::String(before), Value::String(after)) => {
                    if sorted(words(before)) != sorted(words(after)) {
                        if masked(before) != masked(after) {
                            return None;
                        }
                        look = ChanceLook::Draw;
                    }
                }
                (Value::Number(_), Value::Number(_)) => look = ChanceLook::Draw,
                _ => return None,
            }
        }
        Some(look)
    }
}

/// Whether all that differs are numbers, in texts or by themselves.
pub(crate) fn are_numbers(found: &[FieldDifference]) -> bool {
    found.iter().all(|FieldDifference { recorded, now, .. }| match (recorded, now) {
        (Some(Value::String(before)), Some(Value::String(after))) => {
            with_one_number(before) == with_one_number(after)
        }
        (before, after) => [before, after].iter().all(|it| matches!(it, Some(Value::Number(_)))),
    })
}

/// What can be done where a difference looks like chance.
pub(crate) struct ChanceAdvice {
    look: ChanceLook,
    is_recorded: bool,
}

impl fmt::Display for ChanceAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.look, self.is_recorded) {
            (ChanceLook::Draw, false) => {
                "equal but for names and numbers, so it looks like an unseeded draw: record with --chance (in a block of Python: \
                 chance=True), and a replay draws the same"
            }
            (ChanceLook::Order, false) => {
                "the same words in another order, so it looks like an unseeded draw: record with --chance (in a block of Python: \
                 chance=True), and a replay draws the same. The order in which tasks or threads end cannot be recorded: put it in order \
                 with sorted()"
            }
            (ChanceLook::Draw, true) => {
                "equal but for names and numbers: a draw that is not the run's. It comes from os.urandom, secrets, uuid4 (which \
                 --chance=uuid records), another library or another language, a generator that was made before the block, or what tasks \
                 or threads draw together, or the script has another name than in its run: seed it, or draw with random where the task \
                 begins"
            }
            (ChanceLook::Order, true) => {
                "the same words in another order: the order of a set, or in which tasks or threads end, cannot be recorded: put it in \
                 order with sorted(), or wait for all with gather() or map()"
            }
        })
    }
}

/// The texts in a body, wherever they are.
fn texts(body: &Value) -> Vec<&str> {
    match body {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn sorted(mut texts: Vec<&str>) -> Vec<&str> {
    texts.sort_unstable();
    texts
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}

/// A text in which each name and each number is one sign: a word that begins with a capital letter or has a digit, and those beside
/// it that do, too.
fn masked(text: &str) -> String {
    let mut out = String::new();
    // The spaces after a name, which are a part of it if another name follows.
    let mut spaces: Option<String> = None;
    for part in with_one_number(text).split_inclusive(|c: char| !c.is_alphanumeric()) {
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        let after = part.get(word.len()..).unwrap_or_default();
        let is_name =
            word.starts_with(char::is_uppercase) || word.contains(|c: char| c.is_numeric());
        if is_name {
            if spaces.take().is_none() {
                out.push('\u{0}');
            }
            match after.trim().is_empty() {
                true => spaces = Some(after.to_owned()),
                false => out.push_str(after),
            }
            continue;
        }
        if word.is_empty()
            && after.trim().is_empty()
            && let Some(spaces) = &mut spaces
        {
            spaces.push_str(after);
            continue;
        }
        out.push_str(&spaces.take().unwrap_or_default());
        out.push_str(part);
    }
    out + &spaces.unwrap_or_default()
}

/// A text with 0 in place of each number, whatever its sign, point and exponent are.
fn with_one_number(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let begins = first.is_ascii_digit() && !out.ends_with(char::is_alphanumeric);
        if !begins {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        if let Some(before) = out.strip_suffix(['-', '+'])
            && !before.ends_with(char::is_alphanumeric)
        {
            out.truncate(before.len());
        }
        out.push('0');
        let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
        rest = &rest[digits(rest)..];
        for mark in [".", "e", "E"] {
            if let Some(after) = rest.strip_prefix(mark) {
                let sign = usize::from(mark != "." && after.starts_with(['-', '+']));
                let more = digits(&after[sign..]);
                rest = if more > 0 { &after[sign + more..] } else { rest };
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn look(recorded: &Value, now: &Value) -> Option<ChanceLook> {
        ChanceLook::of(recorded, now, &BodyDifferences::between(recorded, now))
    }

    fn of_texts(recorded: &str, now: &str) -> Option<ChanceLook> {
        let body = |text: &str| json!({"messages": [{"role": "user", "content": text}]});
        look(&body(recorded), &body(now))
    }

    #[test]
    fn names_and_numbers_look_like_a_draw() {
        use ChanceLook::Draw;
        assert_eq!(of_texts("drew [-0.5, 3]", "drew [0.25, -1e-05]"), Some(Draw));
        assert_eq!(of_texts("You are Mary Ann Lee, 41.", "You are Bob, 7."), Some(Draw));
        assert_eq!(of_texts("Ask Bob and Eve.", "Ask Dave and Carol."), Some(Draw));
        assert_eq!(of_texts("It is 3.", "It is 14."), Some(Draw));
        assert_eq!(of_texts("a room", "a house"), None);
        assert_eq!(of_texts("You are Bob.", "You are Bob. Answer briefly."), None);
        assert_eq!(look(&json!({"seed": 1}), &json!({"seed": 2})), Some(Draw));
        assert_eq!(look(&json!({"seed": 1}), &json!({})), None);
        assert_eq!(look(&json!({"seed": 1}), &json!({"seed": "x"})), None);
    }

    #[test]
    fn numbers_differ_by_nothing_but_their_digits() {
        let differing = |before: &str, after: &str| {
            let body = |text: &str| json!({"messages": [{"content": text}]});
            are_numbers(&BodyDifferences::between(&body(before), &body(after)).first)
        };
        assert!(differing("number 0.8444218515250481", "number 0.7579544029403025"));
        assert!(differing("at -3e-5, 7", "at 12, 8"));
        assert!(!differing("id 0a1b2c3d4e", "id 1b2c3d4e5f") && !differing("Ada 1", "Bob 1"));
    }

    #[test]
    fn the_same_words_or_messages_look_like_another_order() {
        use ChanceLook::Order;
        assert_eq!(of_texts("apples, pears or figs?", "figs, apples or pears?"), Some(Order));
        assert_eq!(of_texts("- Bob\n- Eve\n", "- Eve\n- Bob\n"), Some(Order));
        let body = |texts: [&str; 3]| json!({"messages": texts.map(|it| json!({"content": it}))});
        assert_eq!(look(&body(["a b", "c", "d"]), &body(["c", "d", "a b"])), Some(Order));
        assert_eq!(look(&body(["a b", "c", "d"]), &body(["c", "d", "e"])), None);
    }

    #[test]
    fn names_and_numbers_beside_each_other_are_one_sign() {
        for (text, sign) in [
            ("", ""),
            (" \n", " \n"),
            ("A", "0"),
            ("the Old  Man and 3 boys", "the 0 and 0 boys"),
            ("\u{c9}t\u{e9} 3", "0"),
            ("x\u{1f600}B.", "x\u{1f600}0."),
        ] {
            assert_eq!(masked(text), sign.replace('0', "\u{0}"), "{text:?}");
        }
    }
}
