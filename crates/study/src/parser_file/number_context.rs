//! The characters directly before and after digits that belong to the number: its sign, its
//! currency, its exponent.

use super::fields::DecimalMark;
use super::latex::{is_transformed, transforms};
use super::words::is_joining;

/// Signs of money before an amount.
const CURRENCIES: &str = "$€£¥₹₽₩₺₫₪₦₱฿¢";

/// A minus, and the dashes and hyphens that are written for one.
const MINUS: &str = "-−–‐‑﹣－";

/// Words that multiply the number before them.
const MULTIPLES: [&str; 16] = [
    "hundred", "thousand", "million", "billion", "trillion", "dozen", "lakh", "crore", "bn", "tsd",
    "mio", "mrd", "millionen", "milliarden", "mille", "millone",
];

/// The same in languages that write it without a space.
const MULTIPLE_SIGNS: &str = "百千万萬億亿兆백천만억";

/// True if a sign is a fraction of its own, such as `½`.
pub(super) fn is_fraction(c: char) -> bool {
    matches!(c, '\u{bc}'..='\u{be}' | '\u{2150}'..='\u{215e}')
}

fn is_minus(c: char) -> bool {
    MINUS.contains(c)
}

/// The characters before the first digit.
pub(super) struct NumberStart {
    /// Where the number begins, in bytes.
    pub(super) at: usize,
    pub(super) is_negative: bool,
    /// Whether a decimal point comes before the first digit.
    pub(super) has_point: bool,
    pub(super) has_currency: bool,
    /// Whether it may have another meaning.
    pub(super) is_doubtful: bool,
}

/// The characters after the last digit.
pub(super) struct NumberEnd<'t> {
    /// Where the number ends, in bytes.
    pub(super) at: usize,
    pub(super) exponent: Option<&'t str>,
    /// Whether the digits are part of a word.
    pub(super) is_word: bool,
    pub(super) has_currency: bool,
    /// Whether it is another number than its digits, such as a power.
    pub(super) is_doubtful: bool,
}

impl NumberStart {
    /// Whether the digits at `start` continue a word. Underscores around a number are emphasis.
    pub(super) fn is_in_word(text: &str, start: usize) -> bool {
        let before = text.get(..start).unwrap_or("");
        if before.ends_with("_{") || is_transformed(before) {
            return before.ends_with("_{");
        }
        let before = before.trim_end_matches('_');
        before.chars().next_back().is_some_and(is_joining)
            || before.len() < start && before.ends_with(char::is_alphanumeric)
    }

    pub(super) fn before(text: &str, start: usize, decimal: DecimalMark) -> Self {
        let mut begin = NumberStart {
            at: start,
            is_negative: false,
            has_point: false,
            has_currency: false,
            is_doubtful: false,
        };
        // `½5`, or digits of another script.
        begin.is_doubtful = begin.last(text).is_some_and(|c| c.is_numeric() || c == '√');
        begin.point(text, decimal);
        if !begin.sign(text) && begin.currency(text) {
            begin.has_currency = true;
            begin.sign(text);
        }
        begin.sign_in_words(text);
        begin.is_doubtful |= text.get(..begin.at).is_some_and(is_transformed);
        begin
    }

    fn last(&self, text: &str) -> Option<char> {
        text.get(..self.at)?.chars().next_back()
    }

    /// `.5`, but not the end of a sentence or an ellipsis; `,5` may be meant like it.
    fn point(&mut self, text: &str, decimal: DecimalMark) {
        let Some(mark @ ('.' | ',')) = self.last(text) else { return };
        let is_other = (mark == ',') == (decimal == DecimalMark::Point);
        let before = text.get(..self.at - 1).and_then(|before| before.chars().next_back());
        let is_word = before.is_some_and(|c| c.is_alphanumeric() || ")]}".contains(c));
        if before == Some('.') || mark == ',' && before.is_some_and(|c| !c.is_whitespace()) {
            return;
        }
        self.at -= 1;
        self.has_point = true;
        self.is_doubtful |= is_word || is_other;
    }

    /// Takes the sign, if there is one.
    fn sign(&mut self, text: &str) -> bool {
        let Some(sign) = self.last(text) else { return false };
        if sign == ' ' {
            self.spaced_sign(text);
            return false;
        }
        let at = self.at - sign.len_utf8();
        let before = text.get(..at).unwrap_or("");
        let earlier = before.chars().next_back();
        if "±∓".contains(sign) {
            (self.at, self.is_doubtful) = (at, true);
            return true;
        }
        if sign != '+' && sign != '—' && !MINUS.contains(sign) {
            return false;
        }
        // After a word, an amount or a bracket, it is a dash: `3-5`, `5$-10$`.
        let amount = before.trim_end_matches(|c| CURRENCIES.contains(c));
        let is_amount = amount.len() < before.len() && amount.ends_with(char::is_numeric);
        if is_amount || earlier.is_some_and(|c| c.is_alphanumeric() || "_)]}%".contains(c)) {
            return false;
        }
        let is_difference =
            earlier == Some(' ') && before.trim_end_matches(' ').ends_with(char::is_numeric);
        let is_second = earlier.is_some_and(|c| MINUS.contains(c) || "+—".contains(c));
        self.is_doubtful |= sign != '+' && is_difference || is_second || sign == '—';
        self.is_negative = sign != '+';
        self.at = at;
        true
    }

    /// `- 12`: an operator after a number or a letter, and a dash after a word if it is longer than a
    /// hyphen; otherwise perhaps a minus.
    fn spaced_sign(&mut self, text: &str) {
        let before = text.get(..self.at).unwrap_or("").trim_end_matches(' ');
        let Some(sign) = before.chars().next_back().filter(|c| is_minus(*c)) else { return };
        let at = before.len() - sign.len_utf8();
        let left = text.get(..at).unwrap_or("").trim_end_matches(' ');
        let word = left.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        let is_term = word.chars().count() == 1 || word.ends_with(char::is_numeric);
        let is_dash = !word.is_empty() && matches!(sign, '–' | '—');
        if !is_term && !is_dash && !left.ends_with([')', ']', '}', '%']) {
            (self.at, self.is_doubtful) = (at, true);
        }
    }

    /// `minus 3`, unless it is a difference.
    fn sign_in_words(&mut self, text: &str) {
        let before = text.get(..self.at).unwrap_or("");
        let spaceless = before.trim_end_matches([' ', '\u{a0}']);
        let word = spaceless.bytes().rev().take(9).take_while(u8::is_ascii_alphabetic).count();
        let at = spaceless.len() - word;
        let name = spaceless.get(at..).unwrap_or("").to_ascii_lowercase();
        if spaceless.len() == before.len() || !matches!(name.as_str(), "minus" | "negative") {
            return;
        }
        let earlier = text.get(..at).unwrap_or("").trim_end_matches(' ');
        self.is_doubtful |= self.is_negative || earlier.ends_with(char::is_numeric);
        (self.at, self.is_negative) = (at, true);
    }

    /// Steps over a currency, such as `$`, `€ ` or `US$`; returns whether there was one.
    fn currency(&mut self, text: &str) -> bool {
        let before = text.get(..self.at).unwrap_or("");
        let before = before.strip_suffix(' ').unwrap_or(before);
        let is_sign = |c: &char| CURRENCIES.contains(*c);
        let sign = before.chars().next_back().filter(is_sign);
        let before = before.trim_end_matches(|c| sign == Some(c)).trim_end_matches('\\');
        let bytes = before.as_bytes();
        let letters =
            bytes.iter().rev().take(4).take_while(|byte| byte.is_ascii_uppercase()).count();
        let code = before.len() - if letters < 4 { letters } else { 0 };
        // Letters alone are a currency only after a sign: `-USD 12`.
        let is_code = letters == 3 && text.get(..code).is_some_and(|it| it.ends_with(is_minus));
        if sign.is_none() && !is_code {
            return false;
        }
        self.at = code;
        true
    }
}

impl<'t> NumberEnd<'t> {
    pub(super) fn after(text: &'t str, digits_end: usize) -> Self {
        let mut end = NumberEnd {
            at: digits_end,
            exponent: None,
            is_word: false,
            has_currency: false,
            is_doubtful: false,
        };
        end.take_exponent(text);
        let rest = text.get(end.at..).unwrap_or("");
        end.has_currency = is_currency(rest.trim_start_matches([' ', '\u{a0}', '\u{202f}', '\\']));
        let after = rest.trim_start_matches('_').chars().next();
        end.is_word = after.is_some_and(is_joining)
            || rest.starts_with('_') && after.is_some_and(char::is_alphanumeric);
        if let Some(length) = [power, multiple, fraction, transforms].iter().find_map(|is| is(rest))
        {
            end.at += length;
            (end.is_doubtful, end.is_word) = (true, false);
        }
        end
    }

    fn take_exponent(&mut self, text: &'t str) {
        let Some(rest) = text.get(self.at..).and_then(|rest| rest.strip_prefix(['e', 'E'])) else {
            return;
        };
        let unsigned = rest.trim_start_matches('+').trim_start_matches(['-', '−', '–']);
        let digits = unsigned.bytes().take_while(u8::is_ascii_digit).count();
        let length = rest.len() - unsigned.len() + digits;
        if digits > 0 && digits < 10 {
            self.exponent = rest.get(..length);
            self.at += 1 + length;
        }
    }
}

/// How long a power is that follows a number: `^6`, `**6`, `²`, `½` (which adds to it) or ` × 10^3`.
fn power(rest: &str) -> Option<usize> {
    let length = |after: &str| rest.len() - after.len();
    let raised = |rest: &str| -> Option<usize> {
        let is_raised = |c: char| c.is_numeric() && !c.is_ascii() || matches!(c, '⁻' | '⁺');
        let other = rest.trim_start_matches(is_raised);
        if other.len() < rest.len() {
            return Some(rest.len() - other.len());
        }
        if let Some(after) = rest.strip_prefix('^') {
            // A degree is no power.
            return (!after.trim_start_matches('{').starts_with("\\circ")).then(|| {
                let digits = after.trim_start_matches(['{', '(', '-', '−']);
                let end = digits.trim_start_matches(|c: char| c.is_ascii_digit());
                rest.len() - end.trim_start_matches('}').len()
            });
        }
        let digits = rest.strip_prefix("**")?.trim_start_matches(['(', '-', '−']);
        let end = digits.trim_start_matches(|c: char| c.is_ascii_digit());
        (end.len() < digits.len()).then(|| rest.len() - end.len())
    };
    raised(rest).or_else(|| {
        let after = rest.trim_start_matches(' ');
        let after = after
            .strip_prefix(['×', 'x', '*', '·', '⋅'])
            .or_else(|| after.strip_prefix("\\times"))
            .or_else(|| after.strip_prefix("\\cdot"))?;
        let after = after.trim_start_matches(' ').strip_prefix("10")?;
        Some(length(after) + raised(after)?)
    })
}

/// How long a word is that multiplies the number before it.
fn multiple(rest: &str) -> Option<usize> {
    if let Some(sign) = rest.chars().next().filter(|c| MULTIPLE_SIGNS.contains(*c)) {
        return Some(sign.len_utf8());
    }
    let after = rest.trim_start_matches([' ', '\u{a0}', '-']);
    let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
    let word = after.get(..end)?;
    let word = word.strip_suffix('s').unwrap_or(word);
    let is_one = after.len() < rest.len()
        && MULTIPLES.iter().any(|multiple| word.eq_ignore_ascii_case(multiple));
    is_one.then(|| rest.len() - after.len() + end)
}

/// True if a text begins with a currency: `€`, `EUR`, `Euro`.
fn is_currency(rest: &str) -> bool {
    let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    let word = rest.get(..end).unwrap_or("");
    let is_code = word.len() == 3 && word.bytes().all(|byte| byte.is_ascii_uppercase());
    is_code || word.eq_ignore_ascii_case("euro") || rest.starts_with(|c| CURRENCIES.contains(c))
}

/// The length of a fraction after a whole number: ` 1/2`, ` ½`.
fn fraction(rest: &str) -> Option<usize> {
    let part = rest.trim_start_matches([' ', '\u{a0}', '\u{2009}', '\u{202f}']);
    if let Some(sign) = part.chars().next().filter(|c| is_fraction(*c)) {
        return Some(rest.len() - part.len() + sign.len_utf8());
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let above = rest.strip_prefix(' ')?;
    let below = above.get(digits(above)..)?.strip_prefix('/')?;
    (digits(above) > 0 && digits(below) > 0).then(|| rest.len() - below.len() + digits(below))
}
