//! The values of texts without quotes, in YAML 1.1 and in YAML 1.2.

use serde_json::Number;

use crate::node::Value;

/// The value of a text without quotes in YAML 1.1, as PyYAML reads it.
pub(super) fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Value::Bool(true);
        }
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Value::Bool(false);
        }
        _ => {}
    }
    let number = integer(text).or_else(|| float(text));
    number.map_or_else(|| Value::Text(text.to_owned()), Value::Number)
}

/// The value of a text without quotes in the core schema of YAML 1.2.2 (10.3.2).
pub(super) fn core(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    core_number(text).map_or_else(|| Value::Text(text.to_owned()), Value::Number)
}

fn core_number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Number::from);
    if let Some(octal) = text.strip_prefix("0o") {
        return radix(octal, 8);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return radix(hex, 16);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    // Of the letters, a number has only the exponent: neither "inf" nor "NaN" are JSON.
    let fits = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') || !digits.bytes().all(fits) {
        return None;
    }
    let text = text.strip_prefix('+').unwrap_or(text);
    let whole =
        text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from));
    whole.ok().or_else(|| Number::from_f64(text.parse().ok()?))
}

fn integer(text: &str) -> Option<Number> {
    let (is_negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let clean = digits.replace('_', "");
    let value = if let Some(binary) = clean.strip_prefix("0b") {
        i128::from_str_radix(binary, 2).ok()?
    } else if let Some(hex) = clean.strip_prefix("0x") {
        i128::from_str_radix(hex, 16).ok()?
    } else if clean.len() > 1 && clean.starts_with('0') && !clean.contains(':') {
        i128::from_str_radix(&clean, 8).ok()?
    } else if clean.contains(':') {
        sixties(&clean)?
    } else {
        if !clean.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        match clean.parse::<i128>() {
            Ok(value) => value,
            Err(_) => return Number::from_f64(text.replace('_', "").parse().ok()?),
        }
    };
    let value = if is_negative { -value } else { value };
    match (u64::try_from(value), i64::try_from(value)) {
        (Ok(value), _) => Some(value.into()),
        (_, Ok(value)) => Some(value.into()),
        // As JSON has it, too.
        #[expect(
            clippy::cast_precision_loss,
            reason = "the closest double, as JSON readers have it"
        )]
        _ => Number::from_f64(value as f64),
    }
}

/// `1:30` is ninety.
fn sixties(text: &str) -> Option<i128> {
    if text.starts_with('0') {
        return None;
    }
    text.split(':').enumerate().try_fold(0_i128, |value, (at, part)| {
        let fits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let digits = part.parse::<i128>().ok().filter(|n| fits && (at == 0 || *n < 60))?;
        value.checked_mul(60)?.checked_add(digits)
    })
}

/// A float has a point, and the sign of its exponent.
fn float(text: &str) -> Option<Number> {
    let clean = text.replace('_', "");
    let digits = clean.strip_prefix(['-', '+']).unwrap_or(&clean);
    let (whole, rest) = digits.split_once('.')?;
    if whole.is_empty() && (digits.len() < clean.len() || text.starts_with("._")) {
        return None;
    }
    let (part, exponent) = match rest.find(['e', 'E']) {
        Some(at) => (&rest[..at], Some(&rest[at + 1..])),
        None => (rest, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']);
        digits.is_some_and(|digits| !digits.is_empty() && all_digits(digits))
    });
    let fits = all_digits(whole) && all_digits(part) && whole.len() + part.len() > 0;
    if !fits || !exponent_fits {
        return None;
    }
    Number::from_f64(clean.strip_prefix('+').unwrap_or(&clean).parse().ok()?)
}
