//! Numbers as players write them.

/// A whole number found in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number<'a> {
    pub(super) value: i64,
    /// Whether it had a fraction, which was dropped.
    pub(super) cut: bool,
    /// Its digits, if it is too large.
    pub(super) huge: Option<&'a str>,
    /// The number as written, if it has separators between thousands.
    pub(super) grouped: Option<&'a str>,
}

impl PartialEq for Number<'_> {
    /// Compares only the values.
    fn eq(&self, other: &Self) -> bool {
        (self.value, self.cut) == (other.value, other.cut)
    }
}

/// All numbers in a text: digits with an optional sign and fraction. A sign after a digit or a
/// letter is a dash (`10-20`, `agent-3`), and digits inside a word are not a number.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = Number<'_>> {
    scan(text, false)
}

/// Characters that only occur as separators between thousands. A full stop may be a decimal point,
/// and a space may separate two numbers.
const SEPARATORS: [char; 6] = [',', '\'', '’', '\u{a0}', '\u{202f}', '\u{2009}'];

/// By how much the groups of three extend the digits at the start of a text: `,000` in `1,000`.
/// `None` if the groups are not complete, as in a list of numbers.
fn groups(first: &str, before: Option<char>, rest: &str) -> usize {
    let separator = rest.chars().next().filter(|c| SEPARATORS.contains(c));
    let is_first = (1..=3).contains(&first.len()) && !first.starts_with('0');
    let Some(separator) = separator.filter(|c| is_first && before != Some(*c)) else { return 0 };
    let mut length = 0;
    while let Some(group) = rest.get(length..).and_then(|t| t.strip_prefix(separator)) {
        let digits = group.bytes().take(4).take_while(u8::is_ascii_digit).count();
        if digits != 3 {
            // The comma at the end of a clause is not a separator: `1,000, or less`.
            return if digits == 0 { length } else { 0 };
        }
        length += separator.len_utf8() + 3;
    }
    length
}

/// All numbers in a text; with `grouped`, separators between thousands belong to them.
fn scan(text: &str, grouped: bool) -> impl Iterator<Item = Number<'_>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            let digits = |from: usize| {
                let rest = bytes.get(from..).unwrap_or(&[]);
                rest.iter().take_while(|b| b.is_ascii_digit()).count()
            };
            let length = digits(at);
            if length == 0 {
                at += 1;
                continue;
            }
            at += length;
            let before = text.get(..start).and_then(|t| t.chars().next_back());
            let first = text.get(start..at).unwrap_or("");
            let more =
                if grouped { groups(first, before, text.get(at..).unwrap_or("")) } else { 0 };
            at += more;
            let whole = text.get(start..at).unwrap_or("");
            let fraction = if bytes.get(at) == Some(&b'.') { digits(at + 1) } else { 0 };
            let rest = text.get(at + 1..at + 1 + fraction).unwrap_or("");
            let cut = rest.contains(|c| c != '0');
            if fraction > 0 {
                at += 1 + fraction;
            }
            let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            if in_word(before) || in_word(text.get(at..).and_then(|t| t.chars().next())) {
                continue;
            }
            let sign_at = start.saturating_sub(1);
            let signed = before == Some('-') || before == Some('−');
            let ahead = text.get(..start).map(|t| t.trim_end_matches(['-', '−']));
            let dash = ahead.and_then(|t| t.chars().next_back()).is_some_and(char::is_alphanumeric);
            let negative = signed && !(dash && sign_at > 0);
            // A number with too many digits becomes the maximum.
            let read = match more {
                0 => whole.parse::<i64>(),
                _ => whole.replace(SEPARATORS, "").parse(),
            };
            let grouped = (more > 0).then_some(whole);
            let huge = read.is_err().then_some(whole);
            let value = read.unwrap_or(i64::MAX);
            return Some(Number {
                value: if negative { -value } else { value },
                cut,
                huge,
                grouped,
            });
        }
        None
    })
}

/// The only number in a text, possibly with separators between thousands; `None` if there are
/// several different ones.
pub(super) fn only_number(text: &str) -> Option<Number<'_>> {
    let mut all = scan(text, true);
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}
