//! Numbers as players write them.

/// A whole number found in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number<'a> {
    pub(super) value: i64,
    /// It had a fraction, which was cut off.
    pub(super) cut: bool,
    /// Its digits, if they are more than fit.
    pub(super) huge: Option<&'a str>,
}

impl PartialEq for Number<'_> {
    /// By the value that counts.
    fn eq(&self, other: &Self) -> bool {
        (self.value, self.cut) == (other.value, other.cut)
    }
}

/// Every number in a text: digits with an optional sign and fraction. A sign behind a digit or a
/// letter is a dash (`10-20`, `agent-3`), and digits inside a word are no number.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = Number<'_>> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            let digits = |from: usize| {
                let rest = bytes.get(from..).unwrap_or_default();
                rest.iter().take_while(|b| b.is_ascii_digit()).count()
            };
            let length = digits(at);
            if length == 0 {
                at += 1;
                continue;
            }
            at += length;
            let whole = text.get(start..at).unwrap_or_default();
            let fraction = if bytes.get(at) == Some(&b'.') { digits(at + 1) } else { 0 };
            let rest = text.get(at + 1..at + 1 + fraction).unwrap_or_default();
            let cut = rest.contains(|c| c != '0');
            if fraction > 0 {
                at += 1 + fraction;
            }
            let before = text.get(..start).and_then(|t| t.chars().next_back());
            let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            if in_word(before) || in_word(text.get(at..).and_then(|t| t.chars().next())) {
                continue;
            }
            let sign_at = start.saturating_sub(1);
            let signed = before == Some('-') || before == Some('−');
            let ahead = text.get(..start).map(|t| t.trim_end_matches(['-', '−']));
            let dash = ahead.and_then(|t| t.chars().next_back()).is_some_and(char::is_alphanumeric);
            let negative = signed && !(dash && sign_at > 0);
            // A number of more digits than fit is as large as there is.
            let read = whole.parse::<i64>();
            let huge = read.is_err().then_some(whole);
            let value = read.unwrap_or(i64::MAX);
            return Some(Number { value: if negative { -value } else { value }, cut, huge });
        }
        None
    })
}

/// The only number in a text; none if there are several that differ.
pub(super) fn only_number(text: &str) -> Option<Number<'_>> {
    let mut all = numbers(text);
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}
