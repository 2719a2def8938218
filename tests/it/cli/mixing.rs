//! What must not get into a log: simulated answers mixed with real ones, the same answer twice,
//! recordings that are inconsistent, runs that could never be executed.

use retold::event::{Event, NewEvent, ResponseDetails, ResponseReceived};
use retold::exchange::export_recording;
use retold::id::{RunId, Seq, Time};
use retold::log::{Append, Backend, Head, LogError, MemoryBackend};
use serde_json::Value;

use crate::support::cli::{Place, assert_said};

/// A folder with a finished run on scripted answers, with or without their calls.
fn scripted(calls: bool) -> Place {
    let place = Place::with_run();
    place.ok("export latest whole.jsonl --as exchanges");
    let text = place.read("whole.jsonl");
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).unwrap();
        let named = |key: &str| key == "call" || key == "sample";
        // Without their mark they look like real ones.
        let stays = |key: &str| key != "simulated" && (calls || !named(key));
        line.as_object_mut().unwrap().retain(|key, _| stays(key));
        format!("{line}\n")
    });
    place.write("answers.jsonl", lines.collect::<String>());
    place.ok("run small.yaml --quiet --log other.db --answers answers.jsonl");
    place
}

#[test]
fn made_up_answers_are_not_mixed_with_real_ones() {
    let place = scripted(true);
    let shown = place.session(&[
        "run --resume latest --log other.db --model simulated",
        "run --resume latest --answers answers.jsonl",
    ]);
    assert_said!("mixing_answers", shown);
}

/// A run on the exchanges of a simulated run, or an import of them, is marked like that run.
#[test]
fn made_up_answers_stay_marked_when_they_travel() {
    let place = Place::with_run();
    place.ok("export latest made_up.jsonl --as exchanges");
    let lines = place.read("made_up.jsonl");
    assert!(lines.lines().all(|line| line.ends_with(r#","simulated":true}"#)), "{lines}");
    let (run, code) = place.json("run small.yaml --log run.db --answers made_up.jsonl");
    assert_eq!((code, &run["simulated"]), (0, &true.into()), "{run}");
    place.ok("export latest --log run.db out --as outputs");
    assert!(place.read("out/SIMULATED.txt").starts_with("SIMULATED: "));
    let said = place.ok("import made_up.jsonl --log import.db");
    assert!(said.contains("SIMULATED: "), "{said}");
    assert_eq!(place.json("show latest --log import.db").0["simulated"], true);
    // The mark is kept from file to file; one simulated answer among others is enough.
    let again = place.ok("export latest --log import.db --as exchanges");
    assert_eq!(again.matches(r#""simulated":true"#).count(), lines.lines().count(), "{again}");
    let mark = r#","simulated":true"#;
    place.write("one.jsonl", lines.replace(mark, "").replacen("}\n", &format!("{mark}}}\n"), 1));
    assert_eq!(place.json("import one.jsonl --log one.db").0["simulated"], true);
    // Answers that were not simulated have no mark.
    place.write("real.jsonl", lines.replace(mark, ""));
    let (run, code) = place.json("run small.yaml --log real.db --answers real.jsonl");
    assert_eq!((code, &run["simulated"]), (0, &false.into()), "{run}");
    assert!(!place.ok("export latest --log real.db --as exchanges").contains("simulated"));
}

#[test]
fn answers_in_file_order_are_not_taken_again() {
    let place = scripted(false);
    assert_said!(
        "mixing_file_order",
        place.session(&["run --resume latest --log other.db --answers answers.jsonl"])
    );
}

#[test]
fn a_recording_that_makes_no_sense_is_not_imported() {
    let place = Place::new();
    let run = RunId([9; 8]);
    let headless = NewEvent {
        body: r#"{"causes":[],"fact":1}"#.into(),
        ..NewEvent::new("Occurred", Time(1_700_000_000_000))
    };
    let undecided = NewEvent { cause: Some(Seq(1)), body: "{}".into(), ..headless.clone() };
    let undecided =
        NewEvent { kind: "DecisionMade".into(), content: Some("{}".into()), ..undecided };
    for (name, events) in
        [("headless", vec![headless.clone()]), ("undecided", vec![headless, undecided])]
    {
        let backend = MemoryBackend::new();
        let append = Append::new(run, Head::START, events);
        backend.committer().unwrap().commit(&[append]).unwrap();
        let mut text = String::new();
        let mut reader = backend.reader().unwrap();
        let mut line = |line: &str| -> Result<(), LogError> {
            text.push_str(&format!("{line}\n"));
            Ok(())
        };
        export_recording(reader.as_mut(), run, &mut line).unwrap();
        place.write(&format!("{name}.jsonl"), &text);
    }
    assert_said!(
        "mixing_senseless",
        place.session(&["import headless.jsonl", "import undecided.jsonl"])
    );
    assert!(!place.path("retold.db").exists());
}

#[test]
fn what_can_never_be_asked_is_refused_before_it_is_recorded() {
    let place = Place::new();
    let shown = place.session(&[
        "run small.yaml --set request.extra.n=2",
        "run small.yaml --set request.extra.big=9007199254740993",
    ]);
    assert_said!("mixing_unaskable", shown);
    assert!(!place.path("retold.db").exists());
}

#[test]
fn only_plain_files_are_replaced() {
    let place = Place::with_run();
    std::fs::create_dir(place.path("folder")).unwrap();
    std::os::unix::fs::symlink("elsewhere", place.path("link")).unwrap();
    let shown = place.session(&["export latest folder --force", "export latest link --force"]);
    assert_said!("mixing_no_files", shown);
    assert!(place.path("link").symlink_metadata().unwrap().is_symlink());
}

/// Canonical JSON holds doubles: a count that a double cannot hold could not be read back.
#[test]
fn absurd_counts_of_a_server_are_not_kept() {
    let details = ResponseDetails {
        prompt_tokens: Some(u64::MAX),
        completion_tokens: Some(7),
        latency_ms: u64::MAX,
        ..ResponseDetails::default()
    };
    let content = "text".into();
    let received = ResponseReceived { request: Seq(1), content, details };
    let event = Event::ResponseReceived(received);
    let row = NewEvent::from_event(&event, Time(0), None).unwrap();
    assert_eq!(row.body, r#"{"completion_tokens":7,"latency_ms":9007199254740992}"#);
}

/// A run on an empty file would be left unfinished after its first question.
#[test]
fn a_file_without_answers_is_refused() {
    let place = Place::new();
    place.write("blank.jsonl", "\n\n");
    let shown = place.session(&[
        "run small.yaml --answers /dev/null",
        "run small.yaml --answers blank.jsonl",
        "run small.yaml --answers -",
    ]);
    assert_said!("mixing_no_answers", shown);
    assert!(!place.path("retold.db").exists(), "nothing was recorded");
}

/// Otherwise the run would stop at its first question, and be left unfinished without an answer.
#[test]
fn a_file_without_an_answer_to_the_first_question_is_refused_before_the_run_begins() {
    let place = Place::new();
    let line =
        r#"{"call":"other/1","request":{"model":"m","messages":[]},"response":{"content":"x"}}"#;
    place.write("others.jsonl", format!("{line}\n"));
    assert_said!(
        "mixing_other_answers",
        place.session(&["run small.yaml --quiet --answers others.jsonl"])
    );
    assert!(!place.path("retold.db").exists(), "nothing was recorded");
    // A file for the beginning of the run is used as far as it goes.
    let whole = Place::with_run();
    whole.ok("export latest answers.jsonl --as exchanges");
    let first = whole.read("answers.jsonl").lines().next().unwrap().to_owned();
    place.write("first.jsonl", format!("{first}\n"));
    assert_eq!(place.run("run small.yaml --quiet --answers first.jsonl").code, 2, "it stopped");
    assert_eq!(place.json("show latest").0["exchanges"], 1);
}
