//! The same files, checked by a program that shares nothing with this one: `scripts/verify.py`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::Value;

use super::{CHANGES, below, proved, root, runs};
use crate::support::cli::Place;

/// What the script says about each of these files; a root may follow a name.
fn verified(place: &Place, files: &[String]) -> Vec<String> {
    let top = Path::new(env!("RETOLD_ROOT"));
    let mut child = Command::new(top.join("target/clients/python/bin/python"))
        .arg(top.join("tests/it/proofs/verify_many.py"))
        .current_dir(top)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let named = files.iter().map(|file| format!("{}\n", place.path(file).display()));
    let input: String = named.collect();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let said = child.wait_with_output().unwrap();
    assert!(said.status.success());
    let said = String::from_utf8(said.stdout).unwrap();
    said.lines().map(str::to_owned).collect()
}

/// A recording without a field of its first line.
fn without(recording: &str, field: &str) -> String {
    let (first, rest) = recording.split_once('\n').unwrap();
    let mut first: Value = serde_json::from_str(first).unwrap();
    first.as_object_mut().unwrap().remove(field).unwrap();
    format!("{first}\n{rest}")
}

/// A proof with other parts than it should have, each of which is in the run or without a meaning.
fn altered(proof: &Value) -> Vec<Value> {
    let change = |change: &dyn Fn(&mut Value)| {
        let mut changed = proof.clone();
        change(&mut changed);
        changed
    };
    let mut altered = vec![
        change(&|proof| proof["start"]["x"] = 1.into()),
        change(&|proof| proof["question"]["x"] = 1.into()),
        change(&|proof| proof["end"]["path"] = Value::Array(Vec::new())),
        change(&|proof| {
            proof["contents"].as_object_mut().unwrap().values_mut().next().unwrap()["x"] = 1.into();
        }),
        change(&|proof| proof["start"] = proof["question"].clone()),
        change(&|proof| proof["answer"] = proof["start"].clone()),
    ];
    if proof["decision"].is_object() {
        altered.push(change(&|proof| proof["answer"] = proof["decision"].clone()));
    }
    altered
}

#[test]
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
fn recordings_hold_and_changed_ones_do_not() {
    let place = runs();
    let (log, _) = place.json("log");
    let mut files = Vec::new();
    for run in log["runs"].as_array().unwrap() {
        let run = run["run"].as_str().unwrap();
        place.ok(&format!("export {run} {run}.jsonl"));
        files.push((format!("{run}.jsonl"), format!("ok: run {run}: ok")));
        let text = place.read(&format!("{run}.jsonl"));
        // An answer, a link of the chain, the first line, another field, and the end.
        let changed = [
            ("events", text.replacen("\"events\":", "\"events\":1", 1)),
            ("head", without(&text, "head")),
            ("field", text.replacen(",\"text\":", ",\"x\":1,\"text\":", 1)),
            ("text", text.replacen("\"text\":\"", "\"text\":\"x", 1)),
            ("seq", text.replacen("\"seq\":3,", "\"seq\":4,", 1)),
            (
                "cut",
                text.lines()
                    .rev()
                    .skip(1)
                    .collect::<Vec<_>>()
                    .into_iter()
                    .rev()
                    .fold(String::new(), |all, line| all + line + "\n"),
            ),
        ];
        for (name, text) in changed {
            place.write(&format!("{run}-{name}.jsonl"), text);
            let ours = place.run(&format!("verify {run}-{name}.jsonl"));
            assert_eq!(ours.code, 1, "{name}: {}{}", ours.out, ours.err);
            files.push((format!("{run}-{name}.jsonl"), "no: ".to_owned()));
        }
    }
    let said = verified(&place, &files.iter().map(|(file, _)| file.clone()).collect::<Vec<_>>());
    assert_eq!(said.len(), files.len());
    for ((file, due), said) in files.iter().zip(said) {
        assert!(said.starts_with(due), "{file}: {said}");
    }
}

#[test]
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
fn proofs_hold_and_changed_ones_do_not() {
    let (place, mut reordered) = (runs(), 0);
    for (seed, (text, name)) in (21..).zip(proved(&place)) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let root = root(&text);
        let mut files =
            vec![name.to_owned(), format!("{name} {root}"), format!("{name} {}", "0".repeat(64))];
        for n in 0..CHANGES / 2 {
            let mut bytes = text.clone().into_bytes();
            let (at, bit) = (below(&mut rng, bytes.len()), below(&mut rng, 8));
            bytes[at] ^= 1 << bit;
            files.push(format!("changed-{n}.json"));
            place.write(&format!("changed-{n}.json"), bytes);
        }
        let mut reversed: Value = serde_json::from_str(text.trim_end()).unwrap();
        let others = reversed["others"].as_array_mut().unwrap();
        others.reverse();
        if others.len() > 1 {
            place.write("reversed.json", retold::prompt::canonical(&reversed).unwrap() + "\n");
            files.push("reversed.json".to_owned());
            reordered += 1;
        }
        let proof: Value = serde_json::from_str(text.trim_end()).unwrap();
        for (n, altered) in altered(&proof).iter().enumerate() {
            let name = format!("altered-{n}.json");
            place.write(&name, retold::prompt::canonical(altered).unwrap() + "\n");
            assert_eq!(place.run(&format!("verify proof {name}")).code, 1, "{name}");
            files.push(name);
        }
        let said = verified(&place, &files);
        assert_eq!(said.len(), files.len());
        assert!(
            said[0].starts_with("ok: run ") && said[0].ends_with(&root.to_string()),
            "{}",
            said[0]
        );
        assert_eq!(said[0], said[1]);
        let wrong: Vec<_> = said[2..].iter().filter(|said| !said.starts_with("no: ")).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    assert!(reordered > 0, "no proof has other events");
}

/// A call can be named anything but a control character; nothing of it reaches a terminal as it is.
#[test]
#[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
fn what_a_file_says_is_shown_inert() {
    let place = Place::new();
    place.write(
        "\u{202e}.jsonl",
        "{\"events\":1,\"format\":1,\"head\":\"\u{1b}[2J\",\"recording\":\"retold\",\"run\":\"\u{202e}\"}\n",
    );
    let said = verified(&place, &["\u{202e}.jsonl".to_owned()]);
    assert!(said[0].starts_with("no: ") && said[0].contains("\\u202e"), "{said:?}");
    assert!(said[0].is_ascii(), "{said:?}");
}
