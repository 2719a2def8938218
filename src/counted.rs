//! Numbers and counts as people read them.

/// A number with its digits in groups of three: `10,000`.
pub fn group_digits(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun: `1 answer`, `10,000 answers`.
pub fn count_of(n: u64, noun: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{} {noun}{s}", group_digits(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular_and_digits_are_in_groups() {
        let all = [0, 1, 2, 999, 1000, 1_234_567].map(|n| count_of(n, "fact"));
        let due = ["0 facts", "1 fact", "2 facts", "999 facts", "1,000 facts", "1,234,567 facts"];
        assert_eq!(all, due);
    }
}
