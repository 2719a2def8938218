//! The import of an original run that was stopped midway: a message says how to continue it, and it
//! continues.

use crate::support::cases::fixtures;
use crate::support::cli::{Place, assert_said};
use crate::support::stops::stopped_import;

/// A place with the original run, and an import that was stopped after some answers.
fn stopped_after(answers: usize) -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("pilot")).unwrap();
    for file in std::fs::read_dir(fixtures("originals/pilot_small")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), place.path("pilot").join(file.file_name())).unwrap();
    }
    stopped_import(&place, "deliberation", "pilot", answers);
    place
}

#[test]
fn a_stopped_import_continues_to_the_same_end() {
    let whole = Place::new();
    let pilot = fixtures("originals/pilot_small");
    let (whole, code) = whole.json(&format!("import deliberation {}", pilot.display()));
    assert_eq!((code, whole["differences"].as_array().unwrap().len()), (0, 0), "{whole}");
    for answers in [1, 9, 25] {
        let place = stopped_after(answers);
        let (replayed, code) = place.json("replay latest");
        assert_eq!((code, &replayed["complete"]), (0, &false.into()));
        let (continued, code) = place.json("import deliberation pilot --resume latest");
        assert_eq!(code, 0, "{continued}");
        assert_eq!(continued["run"], "0707070707070707");
        for key in ["outcome_digest", "report", "compared", "differences", "exchanges"] {
            assert_eq!(continued[key], whole[key], "{key} after {answers}");
        }
        let (replayed, code) = place.json("replay latest");
        assert_eq!(
            (code, &replayed["complete"], &replayed["identical"]),
            (0, &true.into(), &true.into())
        );
        let (runs, _) = place.json("log");
        assert_eq!(runs["runs"].as_array().unwrap().len(), 1, "no second run: {runs}");
    }
}

#[test]
fn errors_say_what_to_do() {
    let place = stopped_after(9);
    let mut said = place.session(&["show latest", "run --resume latest"]);
    let config = place.read("pilot/config.yaml");
    place.write(
        "pilot/config.yaml",
        config.replace("max_socratic_exchanges: 2", "max_socratic_exchanges: 4"),
    );
    assert_ne!(config, place.read("pilot/config.yaml"));
    said.push_str(&place.session(&[
        "import deliberation pilot --resume latest",
        "import deliberation nowhere --resume latest",
        "import deliberation pilot --resume 99",
        "import pilot --resume latest",
    ]));
    assert_said!("import_stopped", said);
}

/// Several originals in one command are a run each, with one summary; none is imported if one of them cannot be read.
#[test]
fn several_originals_are_a_run_each() {
    let place = Place::new();
    let original = fixtures("originals/pilot_small");
    for copy in ["first", "second"] {
        std::fs::create_dir(place.path(copy)).unwrap();
        for file in std::fs::read_dir(&original).unwrap() {
            let file = file.unwrap();
            std::fs::copy(file.path(), place.path(copy).join(file.file_name())).unwrap();
        }
    }
    let refused = place.run("import deliberation first none second --quiet");
    assert_ne!(refused.code, 0, "{}", refused.out);
    assert!(!place.path("retold.db").exists(), "nothing was imported: {}", refused.err);
    let refused = place.run("import deliberation first second --resume latest");
    assert_eq!(refused.code, 2, "{}", refused.err);
    let (one, _) = Place::new().json(&format!("import deliberation {} -q", original.display()));
    let (both, code) = place.json("import deliberation first second --quiet");
    assert_eq!(code, 0, "{both}");
    let runs = both["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2);
    for run in runs {
        for same in ["outcome_digest", "exchanges", "compared", "differences"] {
            assert_eq!(run[same], one[same], "{same}");
        }
    }
    let text = place.ok("import deliberation first second --quiet");
    assert!(text.starts_with("2 of 2 original runs imported\n"), "{text}");
    for (line, copy) in text.lines().skip(3).zip(["first", "second"]) {
        assert!(line.ends_with(&format!("  0  {copy}")), "{text}");
    }
}
