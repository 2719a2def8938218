//! Small files that stand for large ones: compressed, repeated by aliases or rules, or compiled into large programs.

use std::io::Write;

use data_encoding::BASE64;
use retold::event::chain::hash_after;
use retold::prompt::canonical;
use serde_json::{Value, json};

use super::cli::Place;

/// A megabyte.
pub(crate) const MB: usize = 1 << 20;

pub(crate) fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// A cassette of retold with these rules, as YAML, and so many exchanges.
pub(crate) fn cassette(rules: &str, exchanges: usize) -> String {
    let mut text = format!("retold: \"cassette 2\"\n{rules}exchanges:\n");
    for n in 0..exchanges {
        text.push_str(&format!(
            "- call: vote/{n}
  request:
    upstream: openai
    method: POST
    path: /chat/completions
    json: {{model: m, messages: [{{role: user, content: \"You are {n}.\"}}]}}
  answers: []
  varying: {{hash: f1bd1b5b699b536c}}
"
        ));
    }
    text
}

/// Rules of a cassette.
pub(crate) fn replace(rules: impl Iterator<Item = (String, String)>) -> String {
    let rule = |(pattern, by): (String, String)| json!([pattern, by]);
    format!("replace: {}\n", Value::Array(rules.map(rule).collect()))
}

/// A cassette of vcrpy whose answers all are this body, once written and then referred to.
pub(crate) fn vcr(encoding: &str, body: &[u8], times: usize) -> String {
    let mut text = "version: 1\ninteractions:\n".to_owned();
    for n in 0..times {
        let body = match n {
            0 => format!("&body !!binary {}", BASE64.encode(body)),
            _ => "*body".to_owned(),
        };
        text.push_str(&format!(
            "- request: {{method: POST, uri: 'https://api.openai.com/v1/x/{n}', body: '{{}}', headers: {{}}}}
  response: {{status: {{code: 200, message: OK}}, headers: {{content-encoding: [{encoding}]}}, body: {{string: {body}}}}}
"
        ));
    }
    text
}

/// A HAR whose answers all are this body, gzipped.
pub(crate) fn har(body: &[u8], times: usize) -> String {
    let text = BASE64.encode(body);
    let entry = |n: usize| {
        json!({"startedDateTime": "2026-01-01T00:00:00Z", "time": 1,
            "request": {"method": "POST", "url": format!("https://api.openai.com/v1/x/{n}"), "headers": []},
            "response": {"status": 200, "headers": [{"name": "content-encoding", "value": "gzip"}],
                "content": {"mimeType": "text/plain", "text": text, "encoding": "base64"}}})
    };
    json!({"log": {"version": "1.2", "entries": (0..times).map(entry).collect::<Vec<_>>()}})
        .to_string()
}

/// A zip archive of these entries, deflated, whose headers claim this length, or the real one.
pub(crate) fn zip(entries: &[(&str, Vec<u8>)], claimed: Option<u32>) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in entries {
        let mut packed =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(bytes).unwrap();
        let packed = packed.finish().unwrap();
        let mut sum = flate2::Crc::new();
        sum.update(bytes);
        let mut about = Vec::new();
        for number in [20u16, 0, 8, 0, 0] {
            about.extend_from_slice(&number.to_le_bytes());
        }
        let length = claimed.unwrap_or(u32::try_from(bytes.len()).unwrap());
        for number in [sum.sum(), u32::try_from(packed.len()).unwrap(), length] {
            about.extend_from_slice(&number.to_le_bytes());
        }
        about.extend_from_slice(&u16::try_from(name.len()).unwrap().to_le_bytes());
        about.extend_from_slice(&0u16.to_le_bytes());
        let header = u32::try_from(out.len()).unwrap();
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&about);
        directory.extend_from_slice(&[0; 10]);
        directory.extend_from_slice(&header.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"PK\x03\x04");
        out.extend_from_slice(&about);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&packed);
    }
    let (count, begin) = (entries.len() as u16, u32::try_from(out.len()).unwrap());
    out.extend_from_slice(&directory);
    out.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&count.to_le_bytes());
    out.extend_from_slice(&u32::try_from(directory.len()).unwrap().to_le_bytes());
    out.extend_from_slice(&begin.to_le_bytes());
    out.extend_from_slice(&[0; 2]);
    out
}

/// Adds segments to the one run of a folder log, each with one fact of so many bytes.
pub(crate) fn add_segments(place: &Place, log: &str, facts: impl Iterator<Item = usize>) {
    let runs = place.path(log).join("runs");
    let run = std::fs::read_dir(runs).unwrap().next().unwrap().unwrap().path();
    let mut names: Vec<_> =
        std::fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    let last = std::fs::read(names.last().unwrap()).unwrap();
    let length = u32::from_le_bytes(last[last.len() - 12..last.len() - 8].try_into().unwrap());
    let end = last.len() - 44;
    let mut footer: Value = serde_json::from_slice(&last[end - length as usize..end]).unwrap();
    for bytes in facts {
        let after = footer["reaches"].clone();
        let seq = after["seq"].as_u64().unwrap() + 1;
        let event = json!({"body": {"causes": [], "fact": "FACT"}, "kind": "Occurred",
            "run": footer["run"], "seq": seq, "time": 1_795_000_000_000_u64, "version": 1});
        let before = serde_json::from_value(after["hash"].clone()).unwrap();
        // Letters alone are canonical as they are.
        let text = canonical(&event).unwrap().replace("FACT", &"a".repeat(bytes));
        let hash = json!(hash_after(before, &text));
        // The hash is the last field of the line.
        let text = format!("{},\"hash\":{hash}}}\n", text.strip_suffix('}').unwrap());
        footer["follows"] = after;
        footer["reaches"] = json!({"seq": seq, "hash": hash});
        footer["bytes"] = text.len().into();
        footer["more"] = false.into();
        footer["entries"] = json!([]);
        let mut object = zstd::bulk::compress(text.as_bytes(), 3).unwrap();
        let said = footer.to_string();
        let length = u32::try_from(said.len()).unwrap();
        object.extend_from_slice(&[0x5E, 0x2A, 0x4D, 0x18]);
        object.extend_from_slice(&(length + 44).to_le_bytes());
        object.extend_from_slice(said.as_bytes());
        let hash = *blake3::hash(&object).as_bytes();
        object.extend_from_slice(&hash);
        object.extend_from_slice(&length.to_le_bytes());
        object.extend_from_slice(b"retold-1");
        std::fs::write(run.join(format!("{seq:010}.jsonl.zst")), object).unwrap();
    }
}
