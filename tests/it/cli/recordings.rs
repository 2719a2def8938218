//! Recordings: whole, cut off, changed, foreign, and replayed without a log.

use std::path::Path;

use retold::id::RunId;

use crate::format::is_regenerated;
use crate::support::cli::{Place, assert_said};
use crate::support::forge::{forged, recording, settings};

/// A recording that this program made of another run, and a folder with a log to import it into.
fn place() -> (Place, String) {
    let place = Place::with_run();
    place.ok("export latest whole.jsonl");
    let text = place.read("whole.jsonl");
    (place, text)
}

#[test]
fn errors_are_named_and_nothing_is_stored() {
    let (place, whole) = place();
    let lines: Vec<&str> = whole.lines().collect();
    let without = |n: usize| {
        let kept = lines.iter().enumerate().filter(|(i, _)| *i != n).map(|(_, l)| *l);
        kept.collect::<Vec<_>>().join("\n")
    };
    place.write("cut_line.jsonl", &whole[..whole.len() - 50]);
    place.write("cut_tail.jsonl", lines[..lines.len() - 3].join("\n"));
    place.write("header_only.jsonl", lines[0]);
    place.write("no_event.jsonl", without(6));
    place.write("other_answer.jsonl", whole.replacen("<answer>", "<Answer>", 1));
    place.write("other_value.jsonl", whole.replacen("answer_line\"", "answer_lin\"", 1));
    place.write("newer.jsonl", whole.replacen("\"format\":1", "\"format\":7", 1));
    place.write("foreign.jsonl", "{\"recording\":\"vcr\",\"format\":1,\"run\":\"x\"}\n");
    let commands = [
        "import cut_line.jsonl --log new.db",
        "import cut_tail.jsonl --log new.db",
        "import header_only.jsonl --log new.db",
        "import no_event.jsonl --log new.db",
        "import other_answer.jsonl --log new.db",
        "import other_value.jsonl --log new.db",
        "import newer.jsonl --log new.db",
        "import foreign.jsonl --log new.db",
        "replay cut_tail.jsonl",
        "verify other_value.jsonl",
        "replay small.yaml",
    ];
    let hash = regex_free_hashes(&place.session(&commands));
    assert_said!("recordings_wrong", hash);
    assert!(!place.path("new.db").exists(), "nothing is stored");
}

/// Removes 64-digit hashes, which differ with the times of the run.
fn regex_free_hashes(text: &str) -> String {
    let is_hash = |word: &str| word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
    let line = |line: &str| {
        let words = line.split(' ').map(|w| if is_hash(w) { "[hash]" } else { w });
        words.collect::<Vec<_>>().join(" ")
    };
    text.lines().map(|l| format!("{}\n", line(l))).collect()
}

#[test]
fn twice_is_once() {
    let (place, _) = place();
    assert_said!(
        "recordings_twice",
        place.session(&[
            "import whole.jsonl --log new.db",
            "import whole.jsonl --log new.db",
            "import whole.jsonl --log new.db --json",
        ])
    );
    assert_eq!(place.ok("export latest --log new.db"), place.read("whole.jsonl"));
}

#[test]
fn what_was_recorded_later_is_added() {
    let (place, _) = place();
    let whole = place.read("whole.jsonl");
    // A recording of the same run that was made before its end.
    let kept: Vec<&str> = whole.lines().take(12).collect();
    let mut header: serde_json::Value = serde_json::from_str(kept[0]).unwrap();
    let events: Vec<serde_json::Value> =
        kept[1..].iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = events.iter().rfind(|line| line["seq"].is_u64()).unwrap();
    header["events"] = last["seq"].clone();
    header["head"] = last["hash"].clone();
    place.write("begun.jsonl", format!("{header}\n{}\n", kept[1..].join("\n")));
    place.ok("import begun.jsonl --log new.db");
    place.ok("import whole.jsonl --log new.db");
    assert_eq!(place.ok("export latest --log new.db"), whole);
    place.ok("replay latest --log new.db");
}

#[test]
fn every_packing_replays_in_another_folder() {
    let (place, _) = place();
    let (ours, _) = place.json("replay latest");
    let elsewhere = Place::new();
    for name in ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"] {
        place.ok(&format!("export latest {name}"));
        std::fs::copy(place.path(name), elsewhere.path(name)).unwrap();
        let (theirs, code) = elsewhere.json(&format!("replay {name}"));
        assert_eq!((code, &theirs["identical"]), (0, &true.into()), "{theirs}");
        assert_eq!(theirs["outcome_digest"], ours["outcome_digest"]);
        assert_eq!(elsewhere.json(&format!("check {name} --parser game24@2")).1, 0);
        assert_eq!(elsewhere.json(&format!("verify {name}")).1, 0);
    }
    assert!(!elsewhere.path("retold.db").exists());
}

/// What is said next is about the file: its run is not in the log.
#[test]
fn commands_on_a_recording_name_its_file() {
    let (place, elsewhere) = (Place::new(), Place::new());
    place.run("run small.yaml --quiet --max-tokens 300");
    place.ok("export latest begun.jsonl");
    elsewhere.write("begun.jsonl", place.read("begun.jsonl"));
    let shown = elsewhere.ok("show begun.jsonl");
    assert!(shown.ends_with("; `retold verify begun.jsonl` checks all\n"), "{shown}");
    let next = "`retold import begun.jsonl` brings it into a log, where it can be continued";
    assert!(shown.contains(&format!("\nunfinished: {next}\n")), "{shown}");
    let replayed = elsewhere.ok("replay begun.jsonl --quiet");
    assert!(replayed.contains(&format!("has no end: {next}\n")), "{replayed}");
    elsewhere.ok("import begun.jsonl");
    assert!(elsewhere.ok("show latest").contains("run --resume"));
}

/// A parser that this program does not have: which one it has, and which program has the other.
#[test]
fn a_run_whose_parser_is_gone_names_the_program_that_has_it() {
    let place = Place::new();
    let base = recording(Path::new(concat!(env!("RETOLD_ROOT"), "/recordings/game24_small.jsonl")));
    let mut settings = settings(&base);
    settings["experiment"]["parser"] = "game24@9".into();
    let events = usize::try_from(base.head.seq.0).unwrap();
    place.write("gone.jsonl", forged(&base, RunId([0xab; 8]), &settings, events, false));
    let said = place.run("replay gone.jsonl");
    assert_eq!(said.code, 2, "{}", said.out);
    let named = ["parser \"game24\" has no version 9", "it was recorded by retold "];
    assert!(named.iter().all(|text| said.err.contains(text)), "{}", said.err);
    // What was recorded is there all the same.
    place.ok("show gone.jsonl");
    place.ok("check gone.jsonl --parser game24@1 --most 1");
}

#[test]
fn a_recording_needs_no_dot_in_its_name() {
    let (place, _) = place();
    place.ok("export latest recorded");
    place.ok("replay recorded");
    // A name that could be a run is taken as a run; to name such a file, prefix it with its folder.
    place.ok("export latest cafe");
    let said = place.run("replay cafe");
    assert_eq!(said.code, 2, "{}", said.out);
    place.ok("replay ./cafe");
}

/// The recordings in this repository, and the command that made each.
const COMMITTED: [(&str, &str); 5] = [
    // With the document's parser.
    (
        "game24_small.jsonl",
        "config/game24.yaml --set template=cot --set puzzles.rows=0..2 --set samples=3 --set parser=game24@1",
    ),
    (
        "adventure_small.jsonl",
        "config/adventure.yaml --set games=2 --set turns=5 --set player=model --set \
         model.rates.malformed=0.3",
    ),
    // With vectors, repeated questions, 429s, and two of twelve participants who failed.
    (
        "deliberation_small.jsonl.zst",
        "config/deliberation_small.yaml --set participants_per_condition=3 --set \
         provider.rates.malformed=0.15 --set provider.rates.rate_limited=0.05 --set \
         provider.rates.failure=0.02 --set provider.latency_ms=1",
    ),
    ("public_goods_small.jsonl", "config/public_goods_small.yaml"),
    ("society_small.jsonl", "config/society_small.yaml --set agents=8 --set days=5"),
];

/// See `scripts/fixtures`.
#[test]
fn regenerate() {
    if !is_regenerated() {
        return;
    }
    for (name, made_by) in COMMITTED {
        let (place, root) = (Place::new(), env!("RETOLD_ROOT"));
        place.ok(&format!("run {root}/{made_by} --quiet"));
        place.ok(&format!("export latest {name}"));
        std::fs::copy(place.path(name), format!("{root}/recordings/{name}")).unwrap();
    }
}

#[test]
fn the_committed_recordings_replay() {
    for (name, made_by) in COMMITTED {
        replays(name, made_by);
    }
}

fn replays(name: &str, made_by: &str) {
    let path = format!("{}/recordings/{name}", env!("RETOLD_ROOT"));
    let said = Place::new().args(&["replay", &path]);
    assert_eq!(
        said.code, 0,
        "recordings/{name} no longer replays:\n{}{}\nIf a prompt or a parser has changed, give the change a new \
         version (parser@N+1, another template name) and keep the old one. Only a change that cannot be kept \
         apart may replace the file, which `retold run {made_by}` made: scripts/fixtures, and a line in the \
         changelog.",
        said.out, said.err
    );
}
