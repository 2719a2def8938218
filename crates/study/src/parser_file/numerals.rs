//! The numbers in a text, as people write them.
//!
//! The digits that belong together are found first, with everything that joins them, and only then
//! read: a number never begins in the middle of another. What can be read in one way is read;
//! everything else is doubtful, and nobody guesses about it.
//!
//! | written | read |
//! |---|---|
//! | `-3`, `−3`, `–3`, `-$12`, `.5`, `1e3` | as they stand |
//! | `1,000`, `1{,}000`, `1'000`, `1_000`, `1.000.000`, `1 234 567` | thousands in groups of three |
//! | `1.234,56`, `3{,}5` | with a decimal comma |
//! | `3-5`, `4,5,6`, `7/10` | several numbers |
//! | `3,5`, `- 12`, `1 234`, `0,500`, `1.2.3`, `10^6`, `±3`, `25\\pi`, `3 ½`, `17.200 €`, `5 million` | doubtful |
//!
//! A point is a decimal point (`1.000` is 1), unless several of them separate thousands.

use std::ops::Range;

use super::digit_group::{DigitGroups, WrittenNumber};
use super::fields::DecimalMark;
use super::number_context::{NumberEnd, NumberStart, is_fraction};
use super::plain_text::pieces;

/// Digits in a text, and where they are with everything that belongs to them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Numeral {
    pub(super) at: Range<usize>,
    /// The number in the spelling of Rust and JSON; `None` if it may be more than one, or another
    /// than it seems.
    pub(super) number: Option<String>,
}

/// The numbers in a text, in order. Digits in a word (`p_0007`, `4th`) are part of the word. At a cut,
/// one ends and another begins, whatever they look like.
pub(super) fn numerals(text: &str, decimal: DecimalMark, cuts: &[usize]) -> Vec<Numeral> {
    let mut found = Vec::new();
    for (start, text) in pieces(text, cuts) {
        let known = found.len();
        add_numerals(text, decimal, &mut found);
        for numeral in &mut found[known..] {
            numeral.at = numeral.at.start + start..numeral.at.end + start;
        }
    }
    found
}

fn add_numerals(text: &str, decimal: DecimalMark, found: &mut Vec<Numeral>) {
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let is_start = |c: char| c.is_ascii_digit() || is_fraction(c);
        let Some((start, first)) = rest.char_indices().find(|(_, c)| is_start(*c)) else { break };
        let start = at + start;
        at = match first.is_ascii_digit() {
            true => read(text, start, decimal, found),
            false => {
                let end = start + first.len_utf8();
                found.push(Numeral { at: start..end, number: None });
                end
            }
        };
    }
}

/// Adds the numbers whose first digit is at `start`, and returns where they end.
fn read(text: &str, start: usize, decimal: DecimalMark, found: &mut Vec<Numeral>) -> usize {
    let groups = DigitGroups::at(text, start, decimal);
    let end = NumberEnd::after(text, groups.end());
    if end.is_word || NumberStart::is_in_word(text, start) {
        let rest = text.get(groups.end()..).unwrap_or("");
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        return groups.end() + word;
    }
    let begin = NumberStart::before(text, start, decimal);
    let has_currency = begin.has_currency || end.has_currency;
    let is_doubtful =
        begin.is_doubtful || end.is_doubtful || has_currency && groups.is_like_thousands();
    match if is_doubtful { None } else { certain(&groups, &begin, &end) } {
        Some(numbers) => {
            found.extend(numbers.into_iter().map(|it| Numeral { at: it.at, number: Some(it.text) }))
        }
        None => found.push(Numeral { at: begin.at..end.at, number: None }),
    }
    end.at
}

/// The numbers of some digits, if they can be read in one way only.
fn certain(
    groups: &DigitGroups<'_>,
    begin: &NumberStart,
    end: &NumberEnd<'_>,
) -> Option<Vec<WrittenNumber>> {
    let mut numbers = groups.numbers()?;
    if begin.has_point {
        match numbers.as_mut_slice() {
            [fraction] if fraction.text.bytes().all(|byte| byte.is_ascii_digit()) => {
                fraction.text.insert_str(0, "0.");
            }
            _ => return None,
        }
    }
    if let Some(last) = numbers.last_mut() {
        last.at.end = end.at;
        if let Some(exponent) = end.exponent {
            last.text = scale(&last.text, exponent)?;
        }
    }
    if let Some(first) = numbers.first_mut() {
        first.at.start = begin.at;
        if begin.is_negative {
            first.text.insert(0, '-');
        }
    }
    Some(numbers)
}

/// A number with an exponent, without one if it is whole.
fn scale(number: &str, exponent: &str) -> Option<String> {
    let exponent = exponent.replace(['−', '–'], "-");
    let value: f64 = format!("{number}e{exponent}").parse().ok()?;
    value.is_finite().then(|| format!("{value}"))
}

#[cfg(test)]
mod tests {
    use super::numerals;
    use crate::parser_file::fields::DecimalMark;

    /// The numbers, each between spaces, and what is doubtful in brackets.
    fn read(text: &str) -> String {
        let found = numerals(text, DecimalMark::Point, &[]).into_iter();
        let shown = found.map(|numeral| match numeral.number {
            Some(number) => number,
            None => format!("[{}]", text[numeral.at].trim()),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn each_number_of_a_list_has_its_own_place() {
        let text = "-4.5,5,6e2";
        let found = numerals(text, DecimalMark::Point, &[]).into_iter();
        let places: Vec<&str> = found.map(|numeral| &text[numeral.at]).collect();
        assert_eq!(places, ["-4.5", "5", "6e2"]);
    }

    #[test]
    fn each_spelling_of_a_number_is_read_or_doubtful() {
        for (text, due) in [
            // Signs.
            ("I give -3.50", "-3.50"),
            ("\u{2212}3", "-3"),
            ("it is \u{2013}3 now", "-3"),
            ("\u{2011}3, \u{ff0d}4", "-3 -4"),
            ("+5", "5"),
            ("(-7)", "-7"),
            ("x=-2", "-2"),
            ("3-5 and 3\u{2013}5 and 3\u{2212}5", "3 5 3 5 3 5"),
            ("5%-10%", "5 10"),
            ("- 12", "[- 12]"),
            ("costs - 12", "[- 12]"),
            ("costs \u{2013} 12", "12"),
            ("x - 12, 3 - 12", "12 3 12"),
            ("balance: - 12", "[- 12]"),
            ("3 -5", "3 [-5]"),
            ("--3", "[-3]"),
            ("\u{b1}3", "[\u{b1}3]"),
            ("so \u{2014}3", "[\u{2014}3]"),
            ("so\u{2014}3", "3"),
            // Currencies.
            ("-$12", "-12"),
            ("$-12", "-12"),
            ("\u{2212}\u{20ac}12", "-12"),
            ("-US$12", "-12"),
            ("$ 12", "12"),
            ("-\\$12, -USD 12, USD 12", "-12 -12 12"),
            ("minus 3, negative 4", "-3 -4"),
            ("5 minus 3", "5 [minus 3]"),
            ("\u{221a}9", "[9]"),
            ("3 1/2 cups", "[3 1/2]"),
            ("10\u{207b}\u{b3}", "[10\u{207b}\u{b3}]"),
            ("$5-$10, 5$-10$", "5 10 5 10"),
            // Points.
            (".5", "0.5"),
            ("-.5 and ($.25)", "-0.5 0.25"),
            ("...5", "5"),
            ("1...5", "1 5"),
            ("No.5", "[.5]"),
            (".5,3", "[.5,3]"),
            ("I give 7.", "7"),
            ("1.000", "1.000"),
            ("1.2.3", "[1.2.3]"),
            ("12.05.2024", "[12.05.2024]"),
            // Thousands.
            ("1,234,567.5", "1234567.5"),
            ("1,000, or less", "1000"),
            ("1{,}000", "1000"),
            ("1\\,000\\,000", "1000000"),
            ("1'000 1\u{2019}000", "1000 1000"),
            ("1_000", "1000"),
            ("1 234 567", "1234567"),
            ("1\u{a0}234", "1234"),
            ("1\u{202f}234\u{202f}567,5", "1234567.5"),
            ("1.234.567", "1234567"),
            ("1.234,56", "1234.56"),
            ("3{,}5", "3.5"),
            ("1 234", "[1 234]"),
            ("100 200 300", "[100 200 300]"),
            ("5\u{a0}20", "5 20"),
            ("2024 100", "2024 100"),
            ("3,5", "[3,5]"),
            ("12,34", "[12,34]"),
            ("1234,567", "[1234,567]"),
            ("0,500", "[0,500]"),
            (",5", "[,5]"),
            ("yes,5", "5"),
            ("12,34,567", "[12,34,567]"),
            ("1,234,56", "[1,234,56]"),
            ("4,5,6,10", "4 5 6 10"),
            ("3.5,4.5", "3.5 4.5"),
            ("1'5", "[1'5]"),
            // Exponents and powers.
            ("1e3", "1000"),
            ("1.5E-3", "0.0015"),
            ("-2e2", "-200"),
            ("1e\u{2212}2", "0.01"),
            ("1e999", "[1e999]"),
            ("10^6", "[10^6]"),
            ("10**6", "[10**6]"),
            ("10\u{b2}", "[10\u{b2}]"),
            ("1.5 \u{d7} 10^3 in all", "[1.5 \u{d7} 10^3]"),
            ("2\u{bd}", "[2\u{bd}]"),
            ("5 million people", "[5 million]"),
            // Words.
            ("p_0007 GPT4 4th 0x1F 12k 1e3x", ""),
            ("_7_ __8__ **9**", "7 8 9"),
            ("a_7_b", ""),
            ("7/10", "7 10"),
            ("2 * 3", "2 3"),
            ("007", "007"),
            ("\u{6211}\u{7d66}12\u{500b}", "12"),
            ("5\u{4e07}", "[5\u{4e07}]"),
            ("\u{666}", ""),
            ("5\u{666}", "[5\u{666}]"),
        ] {
            assert_eq!(read(text), due, "{text}");
        }
    }
}
