//! Files that an attacker could have made to use up memory, time, or a command's patience.
//! Their random parts are drawn from a seed: sizes and places differ between seeds, and the same
//! seed gives the same bytes.

use std::io::Write;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use retold::content::Content;
use retold::event::MerkleTree;
use retold::event::chain::{GENESIS, hash_after};
use retold::id::EventHash;
use retold::prompt::canonical;
use serde_json::{Value, json};

/// A number from `least` to `most`, drawn from a seed.
pub(crate) fn drawn(seed: u64, least: u64, most: u64) -> u64 {
    least + ChaCha12Rng::seed_from_u64(seed).next_u64() % (most - least + 1)
}

/// How a file is packed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Packed {
    Plain,
    Gzip,
    Zstd,
}

/// A file of `before`, some bytes repeated, and `after`.
pub(crate) fn repeated(
    packed: Packed,
    before: &str,
    (text, times): (&str, usize),
    after: &str,
) -> Vec<u8> {
    let block = text.repeat((1 << 16) / text.len());
    let blocks = times * text.len() / block.len();
    let write = |to: &mut dyn Write| {
        to.write_all(before.as_bytes()).unwrap();
        (0..blocks).for_each(|_| to.write_all(block.as_bytes()).unwrap());
        to.write_all(after.as_bytes()).unwrap();
    };
    match packed {
        Packed::Plain => {
            let mut bytes = Vec::new();
            write(&mut bytes);
            bytes
        }
        Packed::Gzip => {
            let fast = flate2::Compression::fast();
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), fast);
            write(&mut encoder);
            encoder.finish().unwrap()
        }
        Packed::Zstd => {
            let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
            write(&mut encoder);
            encoder.finish().unwrap()
        }
    }
}

/// A recording with other settings and a valid chain: an attacker can compute hashes, too.
pub(crate) fn with_settings(recording: &str, change: impl Fn(&mut Value)) -> String {
    let mut lines: Vec<Value> =
        recording.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let settings =
        lines.iter().find(|line| line["kind"] == "RunStarted").unwrap()["content"].clone();
    for line in lines.iter_mut().filter(|line| line["content"] == settings) {
        let mut forged: Value = match line["text"].as_str() {
            Some(text) => serde_json::from_str(text).unwrap(),
            None => continue,
        };
        change(&mut forged);
        let text = canonical(&forged).unwrap();
        *line = json!({"content": Content::from(text.as_str()).hash(), "text": text});
    }
    let forged = lines.iter().find(|line| line["text"].is_string()).unwrap()["content"].clone();
    for line in lines.iter_mut().filter(|line| line["kind"] == "RunStarted") {
        line["content"] = forged.clone();
    }
    chained(lines)
}

/// A recording's lines with correct hashes. The root of the events is made to match if it matched
/// before.
pub(crate) fn chained(mut lines: Vec<Value>) -> String {
    let mut head: EventHash = GENESIS;
    let mut events = 0;
    let (mut tree, mut recorded) = (MerkleTree::default(), MerkleTree::default());
    for line in lines.iter_mut().filter(|line| line["kind"].is_string()) {
        let before = line.as_object_mut().unwrap().remove("hash");
        if line["body"]["events_root"] == json!(recorded.root()) {
            line["body"]["events_root"] = json!(tree.root());
        }
        recorded.push(serde_json::from_value(before.unwrap_or_default()).unwrap_or(GENESIS));
        head = hash_after(head, &canonical(line).unwrap());
        line["hash"] = json!(head);
        tree.push(head);
        events += 1;
    }
    lines[0]["head"] = json!(head);
    lines[0]["events"] = json!(events);
    lines.iter().map(|line| format!("{}\n", canonical(line).unwrap())).collect()
}
