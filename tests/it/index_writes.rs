//! No production code writes through an index: `value["a"] = 1` panics if the value turns out to be a list or a text, and
//! so does `value["a"].as_array_mut()`, which looks as if it asked. Compiler and lints let both pass, because
//! `serde_json::Value` has `IndexMut`, so this reads the sources. `retold::members` has what does the same and is total.

use std::ops::Range;
use std::path::{Path, PathBuf};

/// All methods of a `serde_json::Value` that change it, and what every value has.
const CHANGING: &[&str] = &[
    "as_array_mut", "as_object_mut", "clone_from", "get_mut", "pointer_mut", "sort_all_objects",
    "take",
];

/// Lists of our own with indices of our own, which no bytes from elsewhere reach: a wrong index there is a mistake that should not
/// pass in silence. All other writes are refused.
const LISTS: &[(&str, &[&str])] = &[
    ("crates/bucket/src/committer.rs", &["self.staged"]),
    (
        "crates/figures/src/agreement/kappa.rs",
        &["given.entry(*one).or_default()", "given.entry(*other).or_default()"],
    ),
    ("crates/figures/src/holm.rs", &["adjusted"]),
    ("crates/figures/src/robust.rs", &["parts_of_both.entry(cluster).or_default()", "variances"]),
    ("crates/report/src/plot/flow.rs", &["taken[0]", "taken[1]"]),
    ("crates/report/src/plot/network.rs", &["sums"]),
    ("crates/serve/src/decision_columns.rs", &["self.latest"]),
    ("crates/stats/src/kmeans.rs", &["labels", "centres"]),
    ("crates/stats/src/plane.rs", &["place"]),
    ("crates/stats/src/silhouette.rs", &["sizes", "sums"]),
    ("crates/stats/src/span.rs", &["left"]),
    ("crates/stats/src/ward.rs", &["labels"]),
    ("crates/studies/game24/src/parse/refusal.rs", &["lengths"]),
    ("crates/studies/public_goods/src/original/local/run.rs", &["games"]),
    ("crates/studies/public_goods/src/parse/redistribution.rs", &["methods"]),
    ("crates/studies/public_goods/src/rules.rs", &["changes"]),
    ("crates/studies/public_goods/src/state.rs", &["self.games", "rounds"]),
    ("crates/studies/society/src/personality.rs", &["counts"]),
    ("src/audit/independence/draws.rs", &["decisions"]),
    ("src/audit/independence/sizes.rs", &["self.0"]),
    ("src/compare/gather.rs", &["self.run.asked"]),
    ("src/compare/pairs.rs", &["counts"]),
    ("src/decided/seqs.rs", &["self.0.entry(block).or_default()"]),
    ("src/event/exchanged.rs", &["self.answers"]),
    ("src/log/index/builder.rs", &["self.kinds", "sorted"]),
    ("src/log/sqlite/descriptors.rs", &["handles"]),
    ("src/model/secrets/forms.rs", &["bits"]),
    ("src/run/ask.rs", &["waiting"]),
    ("src/run/converse.rs", &["waiting"]),
    ("src/run/valid.rs", &["done"]),
];

/// What an expression cannot begin with, so that a bracket behind it is no index.
const KEYWORDS: &[&str] = &[
    "as", "box", "break", "const", "dyn", "else", "for", "if", "impl", "in", "let", "match",
    "move", "mut", "ref", "return", "static", "where", "while", "yield",
];

/// The source with blanks in place of comments, of what is in literals, and of tests.
fn code_of(source: &str) -> Vec<u8> {
    let mut code = source.as_bytes().to_vec();
    let mut at = 0;
    while at < code.len() {
        let rest = &code[at..];
        let end = match rest {
            [b'/', b'/', ..] => at + length_until(rest, b"\n"),
            [b'/', b'*', ..] => at + length_until(rest, b"*/") + 2,
            [b'"', ..] => at + 1 + length_of_text(&rest[1..]),
            [b'r', ..] if !is_word(&code, at) => match raw_text(rest) {
                Some(length) => at + length,
                None => at,
            },
            [b'\'', b'\\', _, more @ ..] => at + 3 + length_until(more, b"'"),
            // A lifetime has no second quote.
            [b'\'', ..] => match char_length(&rest[1..]) {
                Some(length) => at + 1 + length,
                None => at,
            },
            _ => at,
        };
        let end = end.min(code.len());
        blank(&mut code, at..end);
        at = end.max(at) + 1;
    }
    without_tests(&mut code);
    code
}

fn blank(code: &mut [u8], range: Range<usize>) {
    // Quotes stay, so that an index by a text has something in it.
    let is_kept = |byte: u8| matches!(byte, b'\n' | b'"');
    code[range].iter_mut().filter(|byte| !is_kept(**byte)).for_each(|byte| *byte = b' ');
}

fn length_until(text: &[u8], end: &[u8]) -> usize {
    text.windows(end.len()).position(|it| it == end).unwrap_or(text.len())
}

/// The length of a text up to its closing quote.
fn length_of_text(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

/// The length of a raw text up to its last sign, if this begins one.
fn raw_text(text: &[u8]) -> Option<usize> {
    let hashes = text[1..].iter().take_while(|byte| **byte == b'#').count();
    let begun = text.get(1 + hashes) == Some(&b'"');
    let end = [&b"\""[..], &b"#".repeat(hashes)].concat();
    begun.then(|| 2 + hashes + length_until(&text[2 + hashes..], &end) + hashes)
}

/// The length of the character up to the closing quote, if there is one.
fn char_length(text: &[u8]) -> Option<usize> {
    let length = match text.first()? {
        0..0x80 => 1,
        0x80..0xE0 => 2,
        0xE0..0xF0 => 3,
        0xF0.. => 4,
    };
    (text.get(length) == Some(&b'\'')).then_some(length)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether the byte before this one belongs to a word.
fn is_word(code: &[u8], at: usize) -> bool {
    at > 0 && is_letter(code[at - 1])
}

/// Blanks every item that is compiled for tests alone.
fn without_tests(code: &mut [u8]) {
    const TESTS: &[u8] = b"#[cfg(test)]";
    let mut at = 0;
    while let Some(found) = code[at..].windows(TESTS.len()).position(|it| it == TESTS) {
        let begin = at + found;
        let body =
            begin + code[begin..].iter().position(|byte| matches!(byte, b'{' | b';')).unwrap_or(0);
        let end = if code[body] == b'{' { closing(code, body) } else { body } + 1;
        blank(code, begin..end);
        at = end;
    }
}

/// Where the bracket closes that opens here; the end of the code if it does not.
fn closing(code: &[u8], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.iter().enumerate().skip(open) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    code.len() - 1
}

/// Where the bracket opens that closes here.
fn opening(code: &[u8], close: usize) -> usize {
    let mut depth = 0_usize;
    for at in (0..=close).rev() {
        match code[at] {
            b')' | b']' | b'}' => depth += 1,
            b'(' | b'[' | b'{' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    0
}

/// Where the text before this place ends that is not blank, if there is one.
fn before(code: &[u8], at: usize) -> Option<usize> {
    code[..at].iter().rposition(|byte| !byte.is_ascii_whitespace())
}

fn after(code: &[u8], at: usize) -> usize {
    code[at..]
        .iter()
        .position(|byte| !byte.is_ascii_whitespace())
        .map_or(code.len(), |skip| at + skip)
}

/// Where the word begins that ends with this byte.
fn word_begin(code: &[u8], last: usize) -> usize {
    code[..=last].iter().rposition(|byte| !is_letter(*byte)).map_or(0, |at| at + 1)
}

/// Whether a bracket opens an index: something that has a value stands before it.
fn is_index(code: &[u8], open: usize) -> bool {
    let Some(last) = before(code, open) else { return false };
    match code[last] {
        b')' | b']' | b'?' => true,
        byte if is_letter(byte) => {
            let begin = word_begin(code, last);
            let word = str::from_utf8(&code[begin..=last]).unwrap_or("");
            let is_lifetime = begin > 0 && code[begin - 1] == b'\'';
            !is_lifetime && !KEYWORDS.contains(&word)
        }
        _ => false,
    }
}

/// Where the expression begins of which this is an index.
fn base(code: &[u8], open: usize) -> usize {
    let mut begin = open;
    while let Some(last) = before(code, begin) {
        begin = match code[last] {
            b')' | b']' => opening(code, last),
            b'.' | b'?' => last,
            b':' if last > 0 && code[last - 1] == b':' => last - 1,
            byte if is_letter(byte) => {
                let word = word_begin(code, last);
                let is_keyword =
                    KEYWORDS.contains(&str::from_utf8(&code[word..=last]).unwrap_or(""));
                // Two words are not one expression.
                let is_joined = matches!(code[begin], b'.' | b'?' | b'(' | b'[' | b':');
                if is_keyword || !is_joined {
                    return begin;
                }
                word
            }
            _ => return begin,
        };
    }
    begin
}

/// What is done to what an index shows, if that changes it.
fn write_through(code: &[u8], open: usize) -> bool {
    let close = closing(code, open);
    if code[open..close].windows(2).any(|it| it == b"..") {
        // A part of a slice, which no JSON value has.
        return false;
    }
    let first = base(code, open);
    let is_lent = before(code, first).is_some_and(|last| {
        let word = word_begin(code, last);
        &code[word..=last] == b"mut" && before(code, word).is_some_and(|it| code[it] == b'&')
    });
    let mut at = after(code, close + 1);
    loop {
        match code.get(at..).unwrap_or_default() {
            // The next one is looked at by itself.
            [b'[', ..] => return false,
            [b'.', b'.', ..] => return is_lent,
            [b'.', ..] => {
                let name = after(code, at + 1);
                let end = name + code[name..].iter().take_while(|byte| is_letter(**byte)).count();
                let next = after(code, end);
                if matches!(code.get(next), Some(b'(')) {
                    let method = str::from_utf8(&code[name..end]).unwrap_or("");
                    return CHANGING.contains(&method);
                }
                at = next;
            }
            [b'=', b'=' | b'>', ..] => return is_lent,
            [b'=', ..] => return true,
            [b'+' | b'-' | b'*' | b'/' | b'%' | b'|' | b'&' | b'^', b'=', ..] => return true,
            [b'<', b'<', b'=', ..] | [b'>', b'>', b'=', ..] => return true,
            _ => return is_lent,
        }
    }
}

/// The writes through an index in a source: the line of each, and what has the index.
fn writes(source: &str) -> Vec<(usize, String)> {
    let code = code_of(source);
    let opens = (0..code.len()).filter(|at| code[*at] == b'[');
    let found = opens.filter(|at| is_index(&code, *at) && write_through(&code, *at));
    let line =
        |at: usize| source.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
    let indexed = |open: usize| source[base(&code, open)..open].split_whitespace().collect();
    found.map(|open| (line(open), indexed(open))).collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        // Files of tests are named so.
        let is_test = name == "tests" || name.ends_with("_tests");
        if path.is_dir() && !is_test {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") && !is_test {
            found.push(path);
        }
    }
}

#[test]
fn nothing_is_written_through_an_index() {
    let root = Path::new(env!("RETOLD_ROOT"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    sources(&root.join("crates"), &mut files);
    assert!(files.len() > 800, "the sources were not read");
    let (mut found, mut known) = (Vec::new(), 0);
    for file in files {
        let source = std::fs::read_to_string(&file).unwrap();
        let shown = file.strip_prefix(root).unwrap().to_str().unwrap();
        let own = LISTS.iter().find(|(name, _)| *name == shown).map_or(&[][..], |(_, own)| own);
        let written = writes(&source);
        let is_own = |list: &&&str| written.iter().any(|(_, indexed)| indexed == **list);
        known += own.iter().filter(is_own).count();
        let texts: Vec<&str> = source.lines().collect();
        let other = written.iter().filter(|(_, indexed)| !own.contains(&&**indexed));
        found.extend(other.map(|(at, _)| format!("{shown}:{at}: {}", texts[at - 1].trim())));
    }
    found.sort();
    found.dedup();
    assert!(
        found.is_empty(),
        "written through an index; see src/members.rs:\n{}",
        found.join("\n")
    );
    assert_eq!(
        known,
        LISTS.iter().map(|(_, own)| own.len()).sum::<usize>(),
        "LISTS has one that is gone"
    );
}

#[test]
fn what_writes_through_an_index_is_found_however_it_is_written() {
    for written in [
        r#"v["a"] = 1.into();"#,
        r#"v["a"]["b"] = json!({"c": [1]});"#,
        "v[name] = x;",
        "v[0] = x;",
        "v[&*name.to_owned()]\n    = x;",
        "self.fields[field(name)] = x;",
        r#"f(x)?["a"] = y;"#,
        r#"f(x).g["a"].b = y;"#,
        r#"v["a"] /* why */ = y;"#,
        "counts[at] += 1;",
        "bits[at] |= 1;",
        "bits[at] <<= 1;",
        r#"for x in reply["choices"].as_array_mut().into_iter().flatten() {}"#,
        "let x = message[\"content\"]\n    .take();",
        r#"v["a"].get_mut("b").map(Value::take)"#,
        r#"keep(&mut v["a"]);"#,
        r#"keep(&mut self.of(x)["a"]["b"]);"#,
        "let Value::Array(x) = &mut v[name] else { return };",
        "match (a, b) { (c, d) => all[name] = value.clone(), }",
        r##"let a = r#"text"#; v["a"] = 1;"##,
        "let a = '\"'; v[0] = 1;",
        "fn f<'a>(v: &'a mut Value) { v[0] = 1; }",
        "#[cfg(test)]\nfn f() {} fn g() { v[0] = 1; }",
    ] {
        assert_eq!(writes(written).len(), 1, "{written}");
    }
    for read in [
        r#"let a = v["a"].as_str();"#,
        r#"if v["a"] == w["b"] {}"#,
        r#"match v["a"] { _ => 1 }"#,
        r#"v["a"] >= w["b"] && v["a"] <= w["b"] && v["a"] != 1"#,
        r#"let [a, b] = f() else { return };"#,
        "let a: &mut [u8] = x;",
        "let a: &'static [u8] = x;",
        "type A = [u8; 4]; const B: [u8; 2] = [1, 2];",
        "let a = vec![1]; let b = json!([1]);",
        "#[expect(x)] a = 1;",
        r#"let a = "v[0] = 1";"#,
        r##"let a = r#"v["a"] = 1"#;"##,
        "// v[0] = 1\n/* v[0] = 1 */",
        "#[cfg(test)]\nmod tests { fn f() { v[0] = 1; } }",
        "out.extend_from_slice(&mut body[..4]);",
        "let a = &self.calls[at].1;",
        "if let [first, ..] = list {}",
        "let x = f(&mut a, b[0]);",
        r#"v.get_mut("a").and_then(Value::as_array_mut)"#,
    ] {
        assert_eq!(writes(read), [], "{read}");
    }
}
