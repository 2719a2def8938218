//! No piece of eight or more characters of a key is left, however it is encoded and cut.

use data_encoding::{BASE64, BASE64_NOPAD, BASE64URL, BASE64URL_NOPAD, HEXLOWER, HEXUPPER};
use proptest::prelude::*;

use super::*;

const KEY: &str = "sk-live-0123456789abcdefSECRET+/=_zZ";

fn secrets(key: &str) -> Secrets {
    let mut secrets = Secrets::default();
    secrets.add(key);
    secrets
}

/// Writes each character with a function.
fn each(text: &str, write: impl Fn(char) -> String) -> String {
    text.chars().map(write).collect()
}

const ENCODINGS: usize = 22;

/// A text as a server might send it back.
fn encoded(text: &str, how: usize) -> String {
    let json = |c: char| format!("\\u{:04x}", u32::from(c));
    match how {
        0 => text.to_owned(),
        1 => each(text, json),
        2 => each(text, json).replace('\\', "\\\\"),
        3 => each(text, json).replace('\\', "\\\\\\\\"),
        4 => each(text, |c| format!("\\u{:04X}", u32::from(c))),
        5 => each(text, |c| format!("%{:02x}", u32::from(c))),
        6 => each(text, |c| format!("%25{:02X}", u32::from(c))),
        7 => each(text, |c| {
            if c.is_alphanumeric() { c.into() } else { format!("%{:02X}", u32::from(c)) }
        }),
        8 => each(text, |c| format!("&#{};", u32::from(c))),
        9 => each(text, |c| format!("&#x{:X};", u32::from(c))),
        10 => each(text, |c| format!("&amp;#x{:x};", u32::from(c))),
        11 => HEXLOWER.encode(text.as_bytes()),
        12 => HEXUPPER.encode(text.as_bytes()),
        13 => BASE64.encode(text.as_bytes()),
        14 => BASE64_NOPAD.encode(format!("u{text}").as_bytes()),
        15 => BASE64URL.encode(format!("me{text}").as_bytes()),
        16 => BASE64URL_NOPAD.encode(format!("{text}:").as_bytes()),
        17 => text.to_uppercase(),
        18 => each(text, |c| format!("{c}\u{200b}")),
        19 => each(text, |c| format!("\\x{:02x}", u32::from(c))),
        // Every character in a different encoding.
        20 => text
            .chars()
            .enumerate()
            .map(|(n, c)| encoded(&c.to_string(), [0, 1, 5, 9][n % 4]))
            .collect(),
        _ => each(
            &BASE64.encode(text.as_bytes()),
            |c| if c == '=' { "%3D".into() } else { c.into() },
        ),
    }
}

/// The shortest pieces of a text that must not remain, in an encoding: those that eight characters
/// alone determine.
fn pieces(key: &str, how: usize) -> Vec<String> {
    let whole: Vec<char> = key.chars().collect();
    let eights = whole.windows(8).map(|piece| piece.iter().collect::<String>());
    match how {
        13..=16 | 21 => {
            // Computed independently: the base64 of eight characters between any others.
            let between = |piece: &String, before: usize| {
                let text = format!("{}{piece}", "?".repeat(before));
                let (from, to) = ((8 * before).div_ceil(6), 8 * text.len() / 6);
                let alphabet =
                    if how == 15 || how == 16 { &BASE64URL_NOPAD } else { &BASE64_NOPAD };
                alphabet.encode(text.as_bytes())[from..to].to_owned()
            };
            eights.flat_map(|piece| [0, 1, 2].map(|before| between(&piece, before))).collect()
        }
        how => eights.map(|piece| encoded(&piece, how)).collect(),
    }
}

fn assert_nothing_left(message: &str, key: &str, how: usize) {
    for piece in pieces(key, how) {
        assert!(!message.contains(&piece), "encoding {how}: {piece} is left in {message}");
    }
}

#[test]
fn every_encoding_at_every_cut() {
    let secrets = secrets(KEY);
    for how in 0..ENCODINGS {
        let text = encoded(KEY, how);
        let whole = format!("Incorrect key: {text} was sent.");
        let said = secrets.strike(&whole);
        assert_nothing_left(&said, KEY, how);
        assert!(
            said.starts_with("Incorrect key: ") && said.ends_with(" was sent."),
            "{how}: {said}"
        );
        // A body that is cut off at any point, and one that begins at any point.
        for at in (0..=whole.len()).filter(|at| whole.is_char_boundary(*at)) {
            assert_nothing_left(&secrets.strike(&whole[..at]), KEY, how);
            assert_nothing_left(&secrets.strike(&whole[at..]), KEY, how);
        }
    }
}

#[test]
fn the_end_of_a_text_is_not_the_beginning_of_a_key() {
    let secrets = secrets(KEY);
    for how in [0, 1, 2, 5, 8, 11] {
        let ends: Vec<String> =
            (4..8).map(|n| secrets.strike(&format!("x {}", encoded(&KEY[..n], how)))).collect();
        assert_eq!(ends, vec!["x [key]"; 4], "encoding {how}");
    }
    assert_eq!(secrets.strike(r"x \u0073k-li\u007"), r"x [key]\u007");
    assert_eq!(secrets.strike("x sk- y"), "x sk- y");
}

#[test]
fn what_is_masked_keeps_its_mask() {
    let secrets = secrets("sk-proj-abcdefghijklmnop");
    assert_eq!(secrets.strike("sk-proj-****mnop"), "[key]****mnop");
    assert_eq!(
        secrets.strike("key=sk-proj-abcdefghijklmnop, SK-PROJ-ABCDEFGH"),
        "key=[key], [key]"
    );
}

#[test]
fn text_that_is_not_secret_stays() {
    let secrets = secrets(KEY);
    for text in [
        "",
        "The model `gpt-9` does not exist",
        r#"{"error":{"message":"100% of \"quota\" & more","path":"C:\\new\\users"}}"#,
        "%zz &#; &#x; &#99999999; \\u12 \\x",
        "äöü 日本語 \u{1f600} &amp; \\ud83d\\ude00",
        "0123456 abcdef",
    ] {
        assert_eq!(secrets.strike(text), text);
    }
}

#[test]
fn a_basic_header_that_is_sent_back_is_struck_out() {
    let secrets = secrets("hunter2!");
    let header = BASE64.encode(b"alice:hunter2!");
    let said = secrets.strike(&format!("got Basic {header}."));
    assert_eq!(said, "got Basic YWxpY2U[key]=.");
}

fn answer(text: &str) -> Response {
    Response::text(text)
}

#[test]
fn answers_lose_keys_and_nothing_else() {
    let secrets = secrets(KEY);
    for how in [0, 1, 2, 5, 8, 11, 13, 14, 15, 16] {
        let mut response = answer(&format!("Your key is {}, isn't it?", encoded(KEY, how)));
        secrets.strike_response(&mut response);
        let Content::Text(text) = &response.content else { panic!("a text") };
        assert_nothing_left(text, KEY, how);
        assert!(text.starts_with("Your key is ") && text.ends_with(", isn't it?"), "{text}");
    }
    // A piece that a person could have written by chance.
    let mut response = answer("sk-live-0123 and 0123456789abcde are no keys: \\u0041 100%");
    let before = response.clone();
    secrets.strike_response(&mut response);
    assert_eq!(response, before);
}

/// An escaped percent sign at the end of a text that was cut off is not the beginning of an escape.
#[test]
fn a_secret_with_a_percent_sign_is_found_at_the_end_of_a_text() {
    let said = secrets("a!aa!a00aaaa0%0a").strike("wrong key: %30%61%61%61%61%30%25%30");
    assert_eq!(said, format!("wrong key: {STRUCK}"));
}

#[test]
fn a_placeholder_for_a_key_ruins_no_answer() {
    for key in ["test", "none", "ollama", "not-needed", "placeholder", "EMPTY"] {
        let mut response = answer(&format!("This is {key}, and {key} again."));
        let before = response.clone();
        secrets(key).strike_response(&mut response);
        assert_eq!(response, before);
        assert_eq!(secrets(key).strike(&format!("{key}!")), "[key]!");
    }
}

#[test]
fn long_answers_are_looked_at_in_stretches() {
    let secrets = secrets(KEY);
    for at in [0, STRETCH - OVERLAP, STRETCH - 10, STRETCH, 2 * STRETCH - OVERLAP - 5] {
        let mut text = "é".repeat(at / 2);
        text.push_str(&encoded(KEY, 2));
        text.push_str(&"x".repeat(STRETCH));
        let mut response = answer(&text);
        secrets.strike_response(&mut response);
        let Content::Text(struck) = &response.content else { panic!("a text") };
        assert_eq!(struck.matches(STRUCK).count(), 1);
        assert_nothing_left(struck, KEY, 2);
    }
}

proptest! {
    #[test]
    fn no_piece_is_left_of_any_key(
        // A backslash that an encoding leaves unescaped changes the meaning of what follows it.
        key in r"[!-\[\]-~]{16,60}", how in 0..ENCODINGS, before in "[ -~]{0,20}", after in "[ -~]{0,20}",
        from in 0usize..8, cut in 0usize..400,
    ) {
        // Any piece of the key, in a text that is cut off at any point.
        let text = format!("{before} {} {after}", encoded(&key[from..], how));
        let cut = cut.min(text.len());
        let text = &text[..boundary(&text, text.len() - cut / 4)];
        let said = secrets(&key).strike(text);
        // The text around it may itself be an escape, which changes its meaning.
        for piece in pieces(&key, how) {
            prop_assert!(!said.contains(&piece), "encoding {how}: {piece} is left in {said}");
        }
    }

    #[test]
    fn any_text_is_cut_between_characters(text in "\\PC{0,80}", key in "\\PC{4,20}") {
        let secrets = secrets(&key);
        secrets.strike(&format!("{text}{key}{text}"));
        secrets.strike_response(&mut answer(&text));
    }
}
