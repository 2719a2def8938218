//! Digits that something joins: `1,000`, `1.234,56`, `1 234 567`.

use std::ops::Range;

use super::fields::DecimalMark;

/// The joiner between two groups of digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joiner {
    Comma,
    Point,
    /// A plain space, which may also separate two numbers.
    Space,
    /// A space that keeps a number on one line.
    FixedSpace,
    /// `{,}`, which LaTeX writes for a comma without a space after it: in a German text before the
    /// decimals, in an English one between thousands.
    LatexComma,
    /// Only ever between thousands: an apostrophe, `_`, the thin spaces of LaTeX.
    Separator,
}

/// The joiners as they are written.
const JOINERS: [(&str, Joiner); 15] = [
    ("{,}", Joiner::LatexComma),
    (",\\!", Joiner::Separator),
    ("\\,", Joiner::Separator),
    ("\\!", Joiner::Separator),
    ("\\:", Joiner::Separator),
    ("\\;", Joiner::Separator),
    (",", Joiner::Comma),
    (".", Joiner::Point),
    ("'", Joiner::Separator),
    ("\u{2019}", Joiner::Separator),
    ("_", Joiner::Separator),
    ("\u{a0}", Joiner::FixedSpace),
    ("\u{202f}", Joiner::FixedSpace),
    ("\u{2009}", Joiner::FixedSpace),
    (" ", Joiner::Space),
];

/// A number, and where the text has it with everything that belongs to it, in bytes.
#[derive(Debug)]
pub(super) struct WrittenNumber {
    pub(super) at: Range<usize>,
    pub(super) text: String,
}

/// Groups of digits, with what joins each to the one before.
pub(super) struct DigitGroups<'t> {
    first: &'t str,
    start: usize,
    /// The joiner, as it is written, and the digits after it.
    more: Vec<(Joiner, &'static str, &'t str)>,
    end: usize,
    decimal: DecimalMark,
}

impl<'t> DigitGroups<'t> {
    /// The groups of which the first begins at `start`.
    pub(super) fn at(text: &'t str, start: usize, decimal: DecimalMark) -> Self {
        let first = digits(text, start);
        let end = start + first.len();
        let mut groups = DigitGroups { first, start, more: Vec::new(), end, decimal };
        while let Some((joiner, written, next)) = groups.next(text) {
            groups.more.push((joiner, written, next));
            groups.end += written.len() + next.len();
        }
        groups
    }

    /// Where the last digit ends.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// The next group.
    fn next(&self, text: &'t str) -> Option<(Joiner, &'static str, &'t str)> {
        let rest = text.get(self.end..)?;
        let (written, joiner) = JOINERS.iter().find(|(written, _)| rest.starts_with(written))?;
        let joiner = match (self.decimal, joiner) {
            (DecimalMark::Comma, Joiner::Comma) => Joiner::Point,
            (DecimalMark::Comma, Joiner::Point) => Joiner::Comma,
            _ => *joiner,
        };
        let next = digits(text, self.end + written.len());
        // A space only joins groups of three.
        let fits = joiner != Joiner::Space
            || next.len() == 3
                && self.first.len() <= 3
                && self.more.last().is_none_or(|(joiner, ..)| *joiner == Joiner::Space);
        (fits && !next.is_empty()).then_some((joiner, written, next))
    }

    /// True if there is a point before three digits, which in an amount of money may be thousands.
    pub(super) fn is_like_thousands(&self) -> bool {
        matches!(self.more.as_slice(), [(Joiner::Point, ..)]) && self.are_thousands(1)
    }

    /// The numbers, without signs; `None` if they could be others.
    pub(super) fn numbers(&self) -> Option<Vec<WrittenNumber>> {
        let one = |text| Some(vec![WrittenNumber { at: self.start..self.end, text }]);
        let Some((last_joiner, _, last)) = self.more.last() else {
            return one(self.first.to_owned());
        };
        let (joiner, count) = (self.more[0].0, self.more.len());
        let is_one_kind = self.more.iter().all(|(other, ..)| *other == joiner);
        if is_one_kind && self.are_thousands(count) {
            match joiner {
                Joiner::Point if count == 1 => {}
                // `1 234` may be two numbers; `1 234 567` hardly is three.
                Joiner::Space if count == 1 || self.first.len() == 3 => return None,
                _ => return one(self.join(count)),
            }
        }
        if count == 1 && matches!(joiner, Joiner::Point | Joiner::LatexComma) {
            return one(format!("{}.{last}", self.first));
        }
        let before = count - 1;
        if before > 0
            && self.more[..before].iter().all(|(other, ..)| *other == joiner)
            && self.are_thousands(before)
            && has_decimals(joiner, before, *last_joiner)
        {
            return one(format!("{}.{last}", self.join(before)));
        }
        self.list()
    }

    /// Whether the first groups are thousands: at most three digits, then three each.
    fn are_thousands(&self, count: usize) -> bool {
        self.first.len() <= 3
            && !self.first.starts_with('0')
            && self.more[..count].iter().all(|(.., digits)| digits.len() == 3)
    }

    fn join(&self, count: usize) -> String {
        std::iter::once(self.first)
            .chain(self.more[..count].iter().map(|(.., digits)| *digits))
            .collect()
    }

    /// Several numbers with commas or fixed spaces between them, if they cannot be anything else.
    fn list(&self) -> Option<Vec<WrittenNumber>> {
        let mut end = self.start + self.first.len();
        let number = |end: usize, digits: &str| WrittenNumber {
            at: end - digits.len()..end,
            text: digits.to_owned(),
        };
        let mut numbers = vec![number(end, self.first)];
        let (mut commas, mut points) = (0, 0);
        for (joiner, written, digits) in &self.more {
            end += written.len() + digits.len();
            match joiner {
                Joiner::Point => {
                    points += 1;
                    let number = numbers.last_mut().filter(|it| !it.text.contains('.'))?;
                    number.text = format!("{}.{digits}", number.text);
                    number.at.end = end;
                    continue;
                }
                Joiner::Comma => commas += 1,
                Joiner::FixedSpace => {}
                Joiner::Space | Joiner::LatexComma | Joiner::Separator => return None,
            }
            numbers.push(number(end, digits));
        }
        // A comma before three digits may separate thousands, a single one decimals.
        let is_list = commas != 1 || points > 0;
        let has_thousands = self
            .more
            .iter()
            .any(|(joiner, _, digits)| *joiner == Joiner::Comma && digits.len() == 3);
        (is_list && !has_thousands).then_some(numbers)
    }
}

/// Whether the last joiner, after groups of thousands, comes before decimals.
fn has_decimals(thousands: Joiner, groups: usize, last: Joiner) -> bool {
    match thousands {
        Joiner::Comma | Joiner::LatexComma => last == Joiner::Point,
        Joiner::Point => last == Joiner::Comma,
        Joiner::Space => groups > 1 && matches!(last, Joiner::Point | Joiner::Comma),
        Joiner::FixedSpace | Joiner::Separator => matches!(last, Joiner::Point | Joiner::Comma),
    }
}

fn digits(text: &str, start: usize) -> &str {
    let rest = text.get(start..).unwrap_or("");
    let end = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest.get(..end).unwrap_or("")
}
