//! The file name of a snapshot: its call path, made safe for every file system.

use crate::id::{CallPath, Sample};

/// The longest call path that is used as a name unchanged, in bytes.
const LONGEST: usize = 120;

/// The file of an answer's snapshot: `solve.900.3.snap` for sample 3 of the call `solve/900`, and
/// `solve.900.3.choice-1.snap` for the second choice of that answer, if it has several.
///
/// If a call has anything but lower-case letters, digits, `-` and `_` in it, is long, or has a name
/// that Windows reserves, its file is named by the readable part of it and by its digest:
/// `a__b-1f0c9d8e7b6a5f4e.snap`. No two answers share a file, even where case is ignored, and no
/// name leads out of the folder.
pub fn file_name(call: &CallPath, sample: Sample, choice: u32) -> String {
    let call = call.as_str();
    let (plain, other) = match choice {
        0 => (String::new(), String::new()),
        choice => (format!(".choice-{choice}"), format!(" choice {choice}")),
    };
    let is_plain = |part: &str| part.bytes().all(is_plain_byte) && !is_reserved(part);
    if call.len() <= LONGEST && call.split('/').all(is_plain) {
        return format!("{}.{sample}{plain}.snap", call.replace('/', "."));
    }
    let readable: String = call
        .chars()
        .take(60)
        .map(|c| c.to_ascii_lowercase())
        .map(|c| if u8::try_from(c).is_ok_and(is_plain_byte) { c } else { '_' })
        .collect();
    let digest = blake3::hash(format!("{call}#{sample}{other}").as_bytes()).to_hex();
    format!("{readable}-{}.snap", &digest.as_str()[..16])
}

fn is_plain_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_')
}

/// Whether Windows reserves a name for a device, whatever its extension.
fn is_reserved(part: &str) -> bool {
    let numbered = |name: &str| {
        part.strip_prefix(name).is_some_and(|n| n.len() == 1 && n.as_bytes()[0].is_ascii_digit())
    };
    matches!(part, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::*;

    fn name(call: &str, sample: Sample) -> String {
        file_name(&CallPath::new(call).expect("a call"), sample, 0)
    }

    #[test]
    fn plain_calls_are_readable_and_all_others_are_safe() {
        assert_eq!(name("solve/900", 3), "solve.900.3.snap");
        assert_eq!(name("game/a-b_c/0", 0), "game.a-b_c.0.0.snap");
        let call = CallPath::new("solve/900").expect("a call");
        assert_eq!(file_name(&call, 3, 1), "solve.900.3.choice-1.snap");
        for hostile in [
            "../../etc/passwd", "..", ".", ".ssh/x", "a/../b", "C:\\x", "\\\\host\\x", "con",
            "nul/1", "com1", "-rf", "a b", "ä/ö", "A/B", "a.b", "x\u{202e}y", "~/x", "$HOME",
            "a\u{2028}b", "a%2fb", "aux",
        ] {
            let name = name(hostile, 0);
            assert!(name.len() < 100 && name.ends_with(".snap"), "{name}");
            let parts: Vec<_> = Path::new(&name).components().collect();
            assert!(matches!(parts[..], [Component::Normal(_)]), "{hostile}: {name}");
            assert!(!name.starts_with('.'), "{hostile}: {name}");
            let stem = name.split('.').next().expect("a stem");
            assert!(!is_reserved(stem), "{hostile}: {name}");
        }
        assert!(name(&"x".repeat(500), 7).len() < 100);
    }

    proptest! {
        #[test]
        fn no_two_answers_share_a_file(
            calls in prop::collection::btree_set(("[aAbB./_-]{1,6}", 0..3_u32, 0..3_u32), 2..40),
        ) {
            let calls: Vec<_> = calls
                .into_iter()
                .filter_map(|(call, sample, choice)| Some((CallPath::new(call).ok()?, sample, choice)))
                .collect();
            let name = |(call, sample, choice): &(_, u32, u32)| file_name(call, *sample, *choice).to_lowercase();
            let names: BTreeSet<String> = calls.iter().map(name).collect();
            prop_assert_eq!(names.len(), calls.len());
        }
    }
}
