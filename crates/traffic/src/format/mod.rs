//! The formats that are read, our cassettes and those of other tools, one file each, and how they are recognised.

pub(crate) mod batch;
pub(crate) mod cassette;
pub(crate) mod har;
pub(crate) mod inspect;
pub(crate) mod llm;
pub(crate) mod vcrpy;

use std::fmt;

use crate::error::FileProblem;

/// Where something is wrong: the path of a field, and its line if that is known.
pub(crate) type Placed<T> = Result<T, (Option<String>, FileProblem)>;

/// A format of another tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Input, output and error files of OpenAI's Batch API.
    Batch,
    /// Cassettes of retold.
    Cassette,
    /// HTTP Archives.
    Har,
    /// Logs of Inspect AI.
    Inspect,
    /// The log of `llm`, an SQLite file.
    Llm,
    /// Cassettes of vcrpy, in YAML or JSON.
    Vcrpy,
}

impl Format {
    /// Its name, as `--format` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Batch => "batch",
            Format::Cassette => "cassette",
            Format::Har => "har",
            Format::Inspect => "inspect",
            Format::Llm => "llm",
            Format::Vcrpy => "vcrpy",
        }
    }

    /// The format of a file that begins with these bytes; `None` if it is none of these.
    pub fn recognised(begin: &[u8]) -> Option<Format> {
        if begin.starts_with(b"PK\x03\x04") {
            return Some(Format::Inspect);
        }
        if is_sqlite(begin) {
            return Some(Format::Llm);
        }
        let text = text(begin)?;
        let names = fields(text);
        let has = |name: &str| names.iter().any(|found| found == name);
        match () {
            () if has("retold") && has("exchanges") => Some(Format::Cassette),
            () if has("interactions") => Some(Format::Vcrpy),
            () if has("custom_id") => Some(Format::Batch),
            () if has("eval") && has("version") => Some(Format::Inspect),
            () if has("log") && text.contains("\"entries\"") => Some(Format::Har),
            () if has("log") && text.contains("\"creator\"") => Some(Format::Har),
            () => None,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a file begins as SQLite files do.
fn is_sqlite(begin: &[u8]) -> bool {
    begin.starts_with(b"SQLite format 3\0")
}

/// The text at the beginning of a file; the last character may be cut.
fn text(begin: &[u8]) -> Option<&str> {
    let text = match std::str::from_utf8(begin) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&begin[..error.valid_up_to()]).ok()?
        }
        Err(_) => return None,
    };
    Some(text.strip_prefix('\u{FEFF}').unwrap_or(text))
}

/// The names of the fields at the top of a mapping, as far as the text shows them: of the first JSON
/// object, or of a YAML mapping in block style.
fn fields(text: &str) -> Vec<String> {
    match text.trim_start().starts_with('{') {
        true => of_json(text),
        false => {
            let lines = text.lines().filter(|line| !line.starts_with([' ', '#', '-']));
            let names = lines.filter_map(|line| line.split_once(':').map(|(name, _)| name));
            names.map(|name| name.trim_matches(['"', '\'']).to_owned()).collect()
        }
    }
}

fn of_json(text: &str) -> Vec<String> {
    let (mut names, mut depth, mut last) = (Vec::new(), 0_usize, String::new());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                last.clear();
                loop {
                    match rest.next() {
                        Some('\\') => drop(rest.next()),
                        Some('"') | None => break,
                        Some(c) => last.push(c),
                    }
                }
            }
            '{' | '[' => depth += 1,
            '}' | ']' if depth <= 1 => break,
            '}' | ']' => depth -= 1,
            ':' if depth == 1 => names.push(std::mem::take(&mut last)),
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_recognised_by_its_content() {
        for (text, format) in [
            ("interactions:\n- request:\n    body: null\n", Some(Format::Vcrpy)),
            ("version: 1\ninteractions: []", Some(Format::Vcrpy)),
            (r#"{"version": 1, "interactions": [{"req"#, Some(Format::Vcrpy)),
            (r#"{"request": {"interactions": 1}, "response""#, None),
            (r#"{"log": {"version": "1.2", "creator": {}, "pages": ["#, Some(Format::Har)),
            (r#"{"custom_id": "a", "method": "POST"}"#, Some(Format::Batch)),
            (r#"{"version": 2, "status": "success", "eval": {"#, Some(Format::Inspect)),
            ("PK\x03\x04", Some(Format::Inspect)),
            ("# Recorded\nretold: cassette 1\nexchanges:\n- hash: a", Some(Format::Cassette)),
            ("hello", None),
            ("", None),
        ] {
            assert_eq!(Format::recognised(text.as_bytes()), format, "{text}");
        }
        assert_eq!(Format::recognised(b"SQLite format 3\0"), Some(Format::Llm));
        assert_eq!(Format::recognised(b"interactions: \xC3"), Some(Format::Vcrpy));
    }
}
