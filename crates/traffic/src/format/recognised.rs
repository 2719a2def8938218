//! How the format of a file is recognised, and why it is not one.

use super::Format;
use super::otlp::TELEMETRY;
use super::vcr::{OF_LANGCHAIN, OF_VCR, OF_VCRPY};

/// The beginning of a file.
struct Beginning<'a> {
    bytes: &'a [u8],
    /// Empty if it is not text.
    text: &'a str,
    /// The names of the fields at the top, as far as the text shows them.
    names: Vec<String>,
}

impl Format {
    /// The format of a file that begins with these bytes; `None` if it is none of these.
    pub fn recognise(begin: &[u8]) -> Option<Format> {
        let begin = Beginning::new(begin);
        Format::ALL.into_iter().find(|format| begin.misfit(*format).is_none())
    }

    /// Why a file that begins with these bytes is in none of the formats, by format.
    pub fn misfits(begin: &[u8]) -> Vec<(Format, &'static str)> {
        let begin = Beginning::new(begin);
        let misfit = |format| Some((format, begin.misfit(format)?));
        Format::ALL.into_iter().filter_map(misfit).collect()
    }

    /// The names of the fields at the top of a file that begins with these bytes, as far as they show.
    pub fn fields(begin: &[u8]) -> Vec<String> {
        Beginning::new(begin).names
    }
}

impl<'a> Beginning<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let text = text(bytes).unwrap_or("");
        Beginning { bytes, text, names: fields(text) }
    }

    fn has(&self, name: &str) -> bool {
        self.names.iter().any(|found| found == name)
    }

    /// Whether there is a field of this name anywhere, in JSON or at the beginning of a line of YAML.
    fn mentions(&self, name: &str) -> bool {
        let of_yaml = |line: &str| {
            let line = line.trim_start_matches([' ', '-']);
            line.strip_prefix(name).is_some_and(|rest| rest.starts_with(':'))
        };
        self.text.contains(&format!("\"{name}\"")) || self.text.lines().any(of_yaml)
    }

    /// Why a file is not in a format; `None` if it is.
    fn misfit(&self, format: Format) -> Option<&'static str> {
        let (fits, why) = match format {
            Format::Inspect => (
                self.bytes.starts_with(b"PK\x03\x04") || (self.has("eval") && self.has("version")),
                "it is not a zip archive, and has no \"eval\" and \"version\"",
            ),
            Format::Llm => (is_sqlite(self.bytes), "it is not an SQLite file"),
            Format::Cassette => (
                // Its exchanges may be further away than the beginning.
                self.has("retold") && (self.has("exchanges") || self.has("repeated")),
                "it has no \"retold\" and \"exchanges\"",
            ),
            Format::Vcrpy => {
                let [requests, responses] = OF_LANGCHAIN;
                // Its responses may be further away than the beginning.
                let is_list = || self.text.contains("requests:\n- ");
                let is_apart = self.has(requests) && (self.has(responses) || is_list());
                (
                    self.has(OF_VCRPY) || is_apart,
                    "it has no \"interactions\", nor \"requests\" and \"responses\"",
                )
            }
            Format::Vcr => (self.has(OF_VCR), "it has no \"http_interactions\""),
            Format::Batch => (
                self.has("custom_id") || (self.has("requests") && self.mentions("custom_id")),
                "its lines have no \"custom_id\"",
            ),
            Format::Har => (
                self.has("log") && (self.mentions("entries") || self.mentions("creator")),
                "it has no \"log\" with \"entries\"",
            ),
            Format::Otlp => (
                TELEMETRY.iter().any(|name| self.has(name)),
                "it has no \"resourceSpans\" or \"resourceLogs\"",
            ),
            Format::Nock => (
                self.text.trim_start().starts_with('[')
                    && ["scope", "method", "path"].iter().all(|name| self.has(name)),
                "it is not a list of objects with \"scope\", \"method\" and \"path\"",
            ),
        };
        (!fits).then_some(why)
    }
}

/// Whether a file begins as SQLite files do.
pub(super) fn is_sqlite(begin: &[u8]) -> bool {
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

/// The names of the fields at the top, as far as the text shows them: of the first JSON object, which
/// may be the first of a list, or of a YAML mapping in block style.
fn fields(text: &str) -> Vec<String> {
    match text.trim_start().as_bytes().first() {
        Some(b'{') => of_json(text, 1),
        Some(b'[') => of_json(text, 2),
        _ => {
            let lines = text.lines().filter(|line| !line.starts_with([' ', '#', '-']));
            let names = lines.filter_map(|line| line.split_once(':').map(|(name, _)| name));
            names.map(|name| name.trim_matches(['"', '\'']).to_owned()).collect()
        }
    }
}

/// The names of the fields of the first object at this depth.
fn of_json(text: &str, top: usize) -> Vec<String> {
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
            '}' | ']' if depth <= top => break,
            '}' | ']' => depth -= 1,
            ':' if depth == top => names.push(std::mem::take(&mut last)),
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
            ("requests:\n- body: !!binary |\n    eyJ", Some(Format::Vcrpy)),
            (r#"{"requests": [], "responses": []}"#, Some(Format::Vcrpy)),
            ("requests: 3 of them", None),
            ("---\nhttp_interactions:\n- request:\n    method: post\n", Some(Format::Vcr)),
            (r#"{"recorded_with": "betamax/0.8.1", "http_interactions": []}"#, Some(Format::Vcr)),
            (r#"{"request": {"interactions": 1}, "response""#, None),
            (r#"{"log": {"version": "1.2", "creator": {}, "pages": ["#, Some(Format::Har)),
            (
                "log:\n  _recordingName: x\n  creator:\n    comment: persister:fs\n",
                Some(Format::Har),
            ),
            ("log:\n  level: debug\n", None),
            (r#"{"custom_id": "a", "method": "POST"}"#, Some(Format::Batch)),
            (r#"{"requests": [{"custom_id": "a", "params": {"#, Some(Format::Batch)),
            (r#"{"version": 2, "status": "success", "eval": {"#, Some(Format::Inspect)),
            ("PK\x03\x04", Some(Format::Inspect)),
            (
                r#"[{"scope": "https://h:443", "method": "POST", "path": "/", "body": "#,
                Some(Format::Nock),
            ),
            (r#"[{"scope": {"method": 1, "path": 2}}]"#, None),
            ("# Recorded\nretold: cassette 2\nexchanges:\n- call: a", Some(Format::Cassette)),
            ("retold: cassette 2\nrepeated:\n  user-1: a", Some(Format::Cassette)),
            (r#"{"resourceSpans":[{"resource":{"attributes":["#, Some(Format::Otlp)),
            (r#"[{"resourceLogs": [], "#, Some(Format::Otlp)),
            ("hello", None),
            ("", None),
        ] {
            assert_eq!(Format::recognise(text.as_bytes()), format, "{text}");
            let misfits = Format::misfits(text.as_bytes()).len();
            assert_eq!(misfits, Format::ALL.len() - usize::from(format.is_some()), "{text}");
        }
        assert_eq!(Format::recognise(b"SQLite format 3\0"), Some(Format::Llm));
        assert_eq!(Format::recognise(b"interactions: \xC3"), Some(Format::Vcrpy));
    }
}
