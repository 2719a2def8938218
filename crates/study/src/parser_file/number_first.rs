//! The numbers of the first rules: those of decisions that were recorded before rules 2.

/// The numbers in a text, with thousands separators left out. A minus directly after a letter, a
/// digit or a bracket is a dash (`3-5`), and digits that continue a word are part of it.
pub(super) fn numbers(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        loop {
            let start = at + bytes.get(at..)?.iter().position(u8::is_ascii_digit)?;
            let mut end = start + digits(&bytes[start..]);
            let mut number = text[start..end].to_owned();
            // One to three digits, then groups of three.
            while (end - start <= 3 || number.len() < end - start)
                && bytes.get(end) == Some(&b',')
                && digits(&bytes[end + 1..]) == 3
            {
                number.push_str(&text[end + 1..end + 4]);
                end += 4;
            }
            if bytes.get(end) == Some(&b'.') {
                let decimals = digits(&bytes[end + 1..]);
                if decimals > 0 {
                    number.push_str(&text[end..=end + decimals]);
                    end += 1 + decimals;
                }
            }
            at = end;
            let before = text[..start].chars().next_back();
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            if before.is_some_and(is_word) || text[end..].chars().next().is_some_and(is_word) {
                continue;
            }
            if before == Some('-') {
                let earlier = text[..start - 1].chars().next_back();
                if earlier.is_none_or(|c| !is_word(c) && !")]".contains(c)) {
                    number.insert(0, '-');
                }
            }
            return Some(number);
        }
    })
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}
