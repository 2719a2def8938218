//! Python's rules for text, where they differ from Rust's.
//!
//! Version 1 of a parser follows a document's rule, and the documents' programs are written in
//! Python: some decisions depend on what Python treats as white space, as a digit and as an
//! integer.

/// `str.isspace` for one character: Unicode white space and four control characters.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The first `count` characters: `text[:count]`.
pub fn head(text: &str, count: usize) -> &str {
    let end = text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or(text)
}

/// The zeros of Unicode's decimal digits: each is followed by one to nine.
const ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// The value of a decimal digit of any script, as `\d` and `int` know them.
pub fn digit(c: char) -> Option<u8> {
    let code = u32::from(c);
    if code < 128 {
        return c.to_digit(10).and_then(|d| u8::try_from(d).ok());
    }
    let before = ZEROS.partition_point(|zero| *zero <= code);
    let zero = ZEROS.get(before.checked_sub(1)?)?;
    u8::try_from(code - zero).ok().filter(|value| *value < 10)
}

/// The value of a run of digits; a value that is too large becomes the maximum.
pub fn number(digits: &str) -> i64 {
    digits
        .chars()
        .filter_map(digit)
        .fold(0_i64, |number, digit| number.saturating_mul(10).saturating_add(i64::from(digit)))
}

/// `int(text)`: allows surrounding white space, a sign, and underscores between digits.
pub fn int(text: &str) -> Option<i64> {
    let text = strip(text);
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut after_digit = false;
    for c in digits.chars() {
        let is_digit = digit(c).is_some();
        let separates = c == '_' && after_digit;
        if !is_digit && !separates {
            return None;
        }
        after_digit = is_digit;
    }
    let number = after_digit.then(|| number(digits))?;
    Some(if negative { -number } else { number })
}

/// The runs of decimal digits in a text, with their starting positions: `\d+`.
pub fn digit_runs(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.get(at..)?;
        let start = at + rest.find(|c| digit(c).is_some())?;
        let run = text.get(start..)?;
        let end = run.find(|c| digit(c).is_none()).unwrap_or(run.len());
        at = start + end;
        Some((start, run.get(..end)?))
    })
}

/// `\w`, except for combining marks, which Rust counts as letters in some scripts.
pub fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Whether a pattern's letter matches under `re.IGNORECASE`: `i` also matches the Turkish letters,
/// and `s` also matches the long s.
fn same_letter(pattern: char, c: char) -> bool {
    pattern.eq_ignore_ascii_case(&c)
        || match pattern.to_ascii_lowercase() {
            'i' => matches!(c, 'İ' | 'ı'),
            's' => c == 'ſ',
            'k' => c == '\u{212a}',
            _ => false,
        }
}

/// The rest of a text after an ASCII prefix, compared as with `re.IGNORECASE`.
pub fn strip_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    for wanted in prefix.chars() {
        if !same_letter(wanted, rest.next()?) {
            return None;
        }
    }
    Some(rest.as_str())
}
