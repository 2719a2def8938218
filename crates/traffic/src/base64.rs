//! Base64 as the tools read it that write these files (Node's `Buffer`, Ruby, Python): on several lines, with or without
//! padding, and in the alphabet of URLs as well.

use data_encoding::BASE64_NOPAD;

/// The bytes of a text; `None` if it is not base64.
pub(crate) fn decode(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'-' => b'+',
        b'_' => b'/',
        byte => byte,
    };
    let lines = text.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    let packed: Vec<u8> = lines.map(digit).collect();
    let padding = packed.iter().rev().take(2).take_while(|byte| **byte == b'=').count();
    BASE64_NOPAD.decode(&packed[..packed.len() - padding]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_is_read_and_nothing_else() {
        for text in ["+/8A", "-_8A", "+/\r\n8A\n"] {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(&[0xFB, 0xFF, 0][..]), "{text}");
        }
        for text in ["aGk=", "aGk", "aGk=\n"] {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(&b"hi"[..]), "{text}");
        }
        for text in ["a", "aGk===", "a=Gk", "%%"] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }
}
