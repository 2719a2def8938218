//! JSON Lines files on disk: what is written can be read back, and damage is reported.

use std::fs;
use std::path::Path;

use retold::jsonl::{IfExists, JsonlProblem, JsonlReader, JsonlWriter};

const NAMES: [&str; 3] = ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"];

fn write(path: &Path, lines: &[&str]) {
    let mut writer = JsonlWriter::create(path, IfExists::Refuse).unwrap();
    for line in lines {
        writer.write_line(line).unwrap();
    }
    assert_eq!(writer.finish().unwrap(), lines.len());
}

fn files_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn written_lines_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let path = folder.path().join(name);
        write(&path, &["{\"a\":1}", "\"zwei: ü\""]);
        let lines: Vec<_> = JsonlReader::open(&path).unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(lines, [(1, "{\"a\":1}".to_owned()), (2, "\"zwei: ü\"".to_owned())], "{name}");
    }
    assert_eq!(files_in(folder.path()).len(), 3, "no draft remains");
    let head = |name: &str| fs::read(folder.path().join(name)).unwrap()[..4].to_vec();
    assert_eq!(head("a.jsonl.gz")[..2], [0x1f, 0x8b]);
    assert_eq!(head("a.jsonl.zst"), [0x28, 0xb5, 0x2f, 0xfd]);
}

#[test]
fn the_same_lines_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let bytes = |copy: &str| {
            let path = folder.path().join(copy).with_extension(name);
            write(&path, &["1", "2"]);
            fs::read(path).unwrap()
        };
        assert_eq!(bytes("one"), bytes("two"), "{name}");
    }
}

#[test]
fn an_existing_file_is_replaced_only_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    write(&path, &["old"]);
    let refused = JsonlWriter::create(&path, IfExists::Refuse).err().unwrap();
    assert!(matches!(refused.problem, JsonlProblem::Exists), "{refused}");
    let mut writer = JsonlWriter::create(&path, IfExists::Replace).unwrap();
    writer.write(&"new").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old\n", "untouched until the end");
    writer.finish().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "\"new\"\n");
}

#[test]
fn a_file_that_has_appeared_meanwhile_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.jsonl");
    let mut writer = JsonlWriter::create(&path, IfExists::Refuse).unwrap();
    writer.write_line("mine").unwrap();
    fs::write(&path, "theirs").unwrap();
    let refused = writer.finish().unwrap_err();
    assert!(matches!(refused.problem, JsonlProblem::Exists), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    assert_eq!(files_in(folder.path()), ["a.jsonl"]);
}

#[test]
fn an_unfinished_file_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let mut writer =
        JsonlWriter::create(folder.path().join("a.jsonl.zst"), IfExists::Refuse).unwrap();
    writer.write_line("1").unwrap();
    let broken = writer.write_line("2\n3").unwrap_err();
    assert!(matches!(broken.problem, JsonlProblem::LineBreak), "{broken}");
    drop(writer);
    assert!(files_in(folder.path()).is_empty());
}

/// Cut off at every byte: never read as a whole file, and always reported as cut off.
#[test]
fn a_truncated_file_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    for name in &NAMES[1..] {
        let path = folder.path().join(name);
        write(&path, &["{\"a\":1}", "{\"a\":2}", "{\"a\":3}"]);
        let bytes = fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            let cut = folder.path().join(format!("cut-{name}"));
            fs::write(&cut, &bytes[..length]).unwrap();
            let read =
                JsonlReader::open(&cut).and_then(|lines| lines.collect::<Result<Vec<_>, _>>());
            let error = read.expect_err(&format!("{name} cut to {length} bytes was read"));
            assert!(matches!(error.problem, JsonlProblem::Truncated), "{name} {length}: {error}");
        }
    }
}

#[test]
fn other_damage_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let mut said = vec![];
    for name in &NAMES[1..] {
        let path = folder.path().join(name);
        fs::write(&path, "{\"a\":1}\n{\"not\":\"packed\"}\n").unwrap();
        said.push(JsonlReader::open(&path).unwrap().next().unwrap().unwrap_err().to_string());
        // Too short for the decompressor to notice.
        fs::write(&path, "hello\n").unwrap();
        said.push(JsonlReader::open(&path).unwrap().next().unwrap().unwrap_err().to_string());
    }
    let path = folder.path().join("spoilt.jsonl.zst");
    let mut packed = zstd::encode_all("{\"a\":1}\n".repeat(400).as_bytes(), 3).unwrap();
    let last = packed.len() - 1;
    packed[last - 4] ^= 0xFF;
    fs::write(&path, packed).unwrap();
    let spoilt = JsonlReader::open(&path).unwrap().find_map(Result::err).unwrap();
    assert!(matches!(spoilt.problem, JsonlProblem::Spoilt { .. }), "{spoilt:?}");
    let wide = folder.path().join("wide.jsonl");
    for bytes in [
        b"\xFF\xFE\0\0{\0\0\0".as_slice(),
        b"\0\0\xFE\xFF\0\0\0{",
        b"{\0\0\0}\0\0\0",
        b"\0\0\0{",
        b"\xFF\xFE{\0",
        b"{\0}\0",
        b"\0{\0}",
    ] {
        fs::write(&wide, bytes).unwrap();
        said.push(JsonlReader::open(&wide).unwrap().next().unwrap().unwrap_err().to_string());
    }
    said.push(JsonlReader::open(folder.path().join("none")).err().unwrap().to_string());
    said.push(JsonlReader::open(folder.path()).err().unwrap().to_string());
    let missing = folder.path().join("no/such/folder/a.jsonl");
    said.push(JsonlWriter::create(missing, IfExists::Refuse).err().unwrap().to_string());
    let folder = folder.path().display().to_string();
    let said = said.join("\n").replace(&folder, "[folder]");
    insta::assert_snapshot!(said);
}
