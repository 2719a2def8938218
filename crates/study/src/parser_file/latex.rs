//! LaTeX: commands that make another number of the digits beside them, and backslashes that JSON took for its own (in `"\frac"`,
//! `\f` is a form feed).

use serde_json::Value;

/// Commands that begin like an escape for a space of some kind, by what follows its letter. After a
/// form feed or a backspace, which no answer needs, any letter counts.
const TABS: [&str; 12] =
    ["an", "anh", "au", "ext", "extbf", "extit", "heta", "ilde", "imes", "o", "op", "riangle"];
const LINES: [&str; 9] = ["abla", "e", "eg", "eq", "ewline", "ot", "otin", "u", "warrow"];
const RETURNS: [&str; 9] = ["angle", "ceil", "ef", "floor", "ho", "ight", "ightarrow", "m", "oot"];

/// Commands whose result is another number than the digits after them, or before them.
const TRANSFORMING: [&str; 16] = [
    "pm", "mp", "frac", "dfrac", "tfrac", "cfrac", "sqrt", "binom", "log", "ln", "exp", "sin",
    "cos", "tan", "pi", "overline",
];

/// True if the text before a number makes another one of it: `\sqrt{`, `\pm `, `e^`.
pub(super) fn is_transformed(before: &str) -> bool {
    if before.ends_with("}{") || before.ends_with("]{") || before.ends_with('π') {
        return true;
    }
    let before = before.trim_end_matches(['{', '(', '[', ' ']);
    let base = before.strip_suffix('^').or_else(|| before.strip_suffix("**"));
    if base.is_some_and(|base| base.ends_with(|c: char| c.is_alphanumeric() || c == ')')) {
        return true;
    }
    let letters = before.bytes().rev().take(12).take_while(u8::is_ascii_alphabetic).count();
    let (before, name) = before.split_at(before.len() - letters);
    before.ends_with('\\') && TRANSFORMING.contains(&name)
}

/// The length of a command after a number that makes another one of it: `\pi`, `√`.
pub(super) fn transforms(rest: &str) -> Option<usize> {
    let after = rest.trim_start_matches(' ').trim_start_matches("\\,").trim_start_matches(' ');
    let length = |after: &str, sign: usize| rest.len() - after.len() + sign;
    if let Some(sign) = after.chars().next().filter(|c| "π√".contains(*c)) {
        return Some(length(after, sign.len_utf8()));
    }
    let name = after.strip_prefix('\\')?;
    let end = name.bytes().take(12).take_while(u8::is_ascii_alphabetic).count();
    let is_one = TRANSFORMING.contains(&name.get(..end)?) && !after.starts_with("\\pm");
    is_one.then(|| length(after, 1 + end))
}

/// The LaTeX command that an escape has probably eaten in a text of JSON.
pub(super) fn eaten(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => eaten_in(text),
        Value::Array(items) => items.iter().find_map(eaten),
        Value::Object(members) => members.values().find_map(eaten),
        _ => None,
    }
}

fn eaten_in(text: &str) -> Option<String> {
    text.match_indices(['\u{8}', '\t', '\n', '\u{c}', '\r']).find_map(|(at, control)| {
        let rest = text.get(at + 1..)?;
        let end = rest.bytes().take(24).take_while(u8::is_ascii_alphabetic).count();
        let name = rest.get(..end)?;
        let is = |known: &[&str]| known.contains(&name);
        let (letter, is_command) = match control {
            "\u{8}" => ('b', !name.is_empty()),
            "\u{c}" => ('f', !name.is_empty()),
            "\t" => ('t', is(&TABS)),
            "\n" => ('n', is(&LINES)),
            _ => ('r', is(&RETURNS)),
        };
        is_command.then(|| format!("{letter}{name}"))
    })
}

#[cfg(test)]
mod tests {
    use super::eaten_in;

    #[test]
    fn an_escape_that_took_the_letter_of_a_command_is_noticed() {
        let read = |json: &str| eaten_in(&serde_json::from_str::<String>(json).unwrap());
        for (json, command) in [
            (r#""\frac{1}{2}""#, Some("frac")),
            (r#""so \boxed{4}""#, Some("boxed")),
            (r#""2 \times 3""#, Some("times")),
            (r#""a \neq b""#, Some("neq")),
            (r#""\rho = 1""#, Some("rho")),
            (r#""one\ntwo\tthree\r\nnot x""#, None),
            (r#""\\frac{1}{2}""#, None),
            (r#""a\n\nnew line""#, None),
        ] {
            assert_eq!(read(json).as_deref(), command, "{json}");
        }
    }
}
