//! Formats numbers for prompts and reports.

/// A number with at most this many decimals, without trailing zeros.
pub(super) fn number(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    // A number that is rounded to zero has no sign.
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// `1 coin`, `12.5 coins`.
pub(super) fn coins(value: f64) -> String {
    quantity(number(value, 2), "coin")
}

/// `1 unit`, `2 units`.
pub(super) fn units(count: i64) -> String {
    quantity(count, "unit")
}

/// A number of things.
pub(super) fn quantity(number: impl std::fmt::Display, thing: &str) -> String {
    let number = number.to_string();
    let s = if number == "1" { "" } else { "s" };
    format!("{number} {thing}{s}")
}
