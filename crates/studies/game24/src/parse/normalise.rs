//! LaTeX, Unicode and Markdown to plain arithmetic.

use std::borrow::Cow;

/// Rewrites the notations models use for arithmetic into digits, `+ - * / = ( )`.
///
/// | written | becomes |
/// |---|---|
/// | `× · ∗ \times \cdot`, `x` between operands | `*` |
/// | `÷ ／ \div`, `\frac{a}{b}` | `/` |
/// | `− – －`, full-width digits and signs | their ASCII forms |
/// | `[ ] { }`, `\left( \right)` | `( )` |
/// | `)(` and `4(`, the product without a sign | `)*(` and `4*(` |
/// | `\( \) \[ \] $`, `\boxed{}`, `\text{}`, `**bold**`, code marks | white space, or nothing |
/// | `≠ \neq` | `!=` |
///
/// Everything else is unchanged, including unknown commands, so that what we do not understand does
/// not become an expression. In particular, `2**3` remains a power: it must not become `23`.
#[must_use]
pub fn normalise(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut writer = Writer { out: String::with_capacity(text.len() + 8), braces: Vec::new() };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        rest = match c {
            '\\' => writer.command(rest),
            '*' if rest.starts_with('*') => writer.stars(&rest[1..]),
            'x' | 'X' if writer.is_times(rest) => writer.push('*', rest),
            _ => writer.character(c, rest),
        };
    }
    Cow::Owned(writer.out)
}

/// Whether there is nothing to rewrite, which is the common case and costs nothing.
fn is_plain(text: &str) -> bool {
    let mut before = 0;
    text.bytes().all(|byte| {
        let plain = match byte {
            b'\\' | b'$' | b'`' | b'[' | b'{' | b'x' | b'X' => false,
            b'*' => before != b'*',
            b'(' => !ends_operand(before),
            _ => byte.is_ascii(),
        };
        before = byte;
        plain
    })
}

fn ends_operand(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b')'
}

fn starts_operand(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'('
}

/// What an open brace belongs to.
#[derive(Clone, Copy, PartialEq)]
enum Brace {
    /// A group: parentheses.
    Group,
    /// The argument of a command that only affects its appearance.
    Dress,
    /// The numerator of a fraction, with the length of the output before it.
    Numerator(usize),
    /// The denominator, likewise.
    Denominator(usize),
}

struct Writer {
    out: String,
    braces: Vec<Brace>,
}

impl Writer {
    fn last(&self) -> u8 {
        self.out.as_bytes().last().copied().unwrap_or(0)
    }

    fn push<'t>(&mut self, c: char, rest: &'t str) -> &'t str {
        self.out.push(c);
        rest
    }

    /// One character that is not a command.
    fn character<'t>(&mut self, c: char, rest: &'t str) -> &'t str {
        match c {
            '(' | '（' | '[' => self.open(),
            '{' => {
                self.braces.push(Brace::Group);
                self.open();
            }
            '}' => return self.close(rest),
            ')' | '）' | ']' => self.out.push(')'),
            '×' | '✕' | '✖' | '⨯' | '·' | '∙' | '⋅' | '•' | '∗' | '＊' => {
                self.out.push('*')
            }
            '÷' | '／' | '∕' | '⁄' | '➗' => self.out.push('/'),
            '−' | '–' | '—' | '‐' | '‑' | '－' | '➖' => self.out.push('-'),
            '＋' | '➕' => self.out.push('+'),
            '＝' => self.out.push('='),
            '≠' => self.out.push_str("!="),
            '$' | '`' => self.out.push(' '),
            // Zero-width marks, a byte-order mark, and the selector that makes a sign an emoji.
            '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' | '\u{fe0f}' => {}
            '０'..='９' => {
                let digit = u32::from(c) - u32::from('０');
                self.out.extend(char::from_digit(digit, 10));
            }
            _ if c != '\t' && c.is_whitespace() => self.out.push(' '),
            _ => self.out.push(c),
        }
        rest
    }

    /// An opening parenthesis; after an operand, this is a product.
    fn open(&mut self) {
        if ends_operand(self.last()) {
            self.out.push('*');
        }
        self.out.push('(');
    }

    /// A closing brace, and its consequences.
    fn close<'t>(&mut self, rest: &'t str) -> &'t str {
        match self.braces.pop() {
            Some(Brace::Dress) => self.out.push(' '),
            Some(Brace::Numerator(start)) => {
                self.close_part(start);
                self.out.push('/');
                return self.part(rest, Brace::Denominator(self.out.len()));
            }
            Some(Brace::Denominator(start)) => {
                self.close_part(start);
                self.out.push(')');
            }
            Some(Brace::Group) | None => self.out.push(')'),
        }
        rest
    }

    /// Closes a part of a fraction; the parentheses around a bare number are left out.
    fn close_part(&mut self, start: usize) {
        let inner = self.out.as_bytes().get(start + 1..).unwrap_or(&[]);
        if !inner.is_empty() && inner.iter().all(u8::is_ascii_digit) {
            self.out.remove(start);
        } else {
            self.out.push(')');
        }
    }

    /// Opens a part of a fraction: a brace, or one digit as in `\frac12`. Anything else will fail
    /// to parse as an expression.
    fn part<'t>(&mut self, rest: &'t str, part: Brace) -> &'t str {
        if let Some(rest) = rest.strip_prefix('{') {
            self.braces.push(part);
            return self.push('(', rest);
        }
        let Some(digit) = rest.chars().next().filter(char::is_ascii_digit) else {
            return rest;
        };
        let rest = self.push(digit, &rest[1..]);
        if matches!(part, Brace::Numerator(_)) {
            let rest = self.push('/', rest);
            return self.part(rest, Brace::Denominator(self.out.len()));
        }
        self.push(')', rest)
    }

    /// What follows a backslash.
    fn command<'t>(&mut self, rest: &'t str) -> &'t str {
        let end = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (name, rest) = rest.split_at(end);
        match name {
            // `\(`, `\]`, `\\`, `\,` and the like: a delimiter or a space.
            "" => {
                let mark = rest.chars().next().map_or(0, char::len_utf8);
                self.push(' ', &rest[mark..])
            }
            "times" | "cdot" | "ast" => self.push('*', rest),
            "div" => self.push('/', rest),
            "frac" | "dfrac" | "tfrac" => {
                let rest = self.push('(', rest.trim_start_matches(' '));
                self.part(rest, Brace::Numerator(self.out.len()))
            }
            "boxed" | "fbox" | "text" | "mathbf" | "mathrm" | "textbf" => {
                let Some(rest) = rest.strip_prefix('{') else { return rest };
                self.braces.push(Brace::Dress);
                self.push(' ', rest)
            }
            // A delimiter follows, and is read next.
            "left" | "right" | "big" | "Big" | "bigl" | "bigr" => rest,
            "quad" | "qquad" => self.push(' ', rest),
            "ne" | "neq" => {
                self.out.push_str("!=");
                rest
            }
            _ => {
                self.out.push('\\');
                self.out.push_str(name);
                rest
            }
        }
    }

    /// `**`: a power between two operands (`2**3`, `2 ** 3`), otherwise a mark for bold text. Looks
    /// past one space only, so that a text consisting of marks takes linear time.
    fn stars<'t>(&mut self, rest: &'t str) -> &'t str {
        let spaced = self.out.strip_suffix(' ').zip(rest.strip_prefix(' '));
        let (left, right) = spaced.unwrap_or((&self.out, rest));
        if left.bytes().last().is_some_and(ends_operand)
            && right.bytes().next().is_some_and(starts_operand)
        {
            self.out.push_str("**");
        }
        rest
    }

    /// Whether an `x` before `rest` is a multiplication sign, that is, between two operands.
    fn is_times(&self, rest: &str) -> bool {
        let left = self.out.trim_end_matches(' ').bytes().last();
        let right = rest.trim_start_matches(' ').bytes().next();
        left.is_some_and(ends_operand) && right.is_some_and(starts_operand)
    }
}
