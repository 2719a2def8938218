//! A run of accepted decisions that is damaged: nobody knows which decisions are in force, and every command says so.

use rusqlite::Connection;
use serde_json::Value;

use super::run_figures::votes;
use crate::support::cli::Place;
use crate::support::tamper::without_triggers;

/// A program's run with a decision that a person accepted since, in a run whose event at `seq` has another hash.
fn place(seq: u32) -> (Place, String) {
    let place = Place::new();
    votes(&place, 0xa1, [8, 3]);
    place.write("ada.csv", "call,value\nvote/acp_1,no\n");
    place.ok("score label latest --by ada --name vote --from ada.csv");
    let accepted = place.json("log").0["runs"][1]["run"].as_str().unwrap().to_owned();
    let db = Connection::open(place.path("retold.db")).unwrap();
    let change = "UPDATE events SET hash = zeroblob(32) WHERE id = (2 << 32) + ?1";
    assert_eq!(without_triggers(&db, |db| db.execute(change, [seq])).unwrap(), 1);
    (place, accepted)
}

const OF: &str = "a1a1a1a1a1a1a1a1";

/// Commands that need to know which decisions are in force, with what follows the run.
const REFUSED: [(&str, &[&str]); 11] = [
    ("stats", &[]),
    ("stats", &["--figure", "share of vote = yes"]),
    ("report", &["-o", "page.html"]),
    ("score agreement", &["vote"]),
    ("audit", &["vote/acp_1"]),
    ("table", &["--table", "decisions"]),
    ("table", &["--to", "tables", "--as", "csv"]),
    ("export", &["trace.jsonl", "--as", "otlp"]),
    ("export", &["dialogues.parquet", "--as", "inspect-scout"]),
    ("score label", &["--by", "bob", "--name", "vote"]),
    ("check", &["--decisions", "scores.jsonl", "--name", "vote@4"]),
];

/// A command about the run.
fn words<'a>(command: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    command.split(' ').chain([OF]).chain(more.iter().copied()).collect()
}

#[test]
fn is_named_by_every_command_that_needs_it() {
    // The first event, which says what the run is, and the decision.
    for seq in [1, 4] {
        let (place, accepted) = place(seq);
        place.write("scores.jsonl", r#"{"call":"vote/acp_2","value":"no"}"#);
        for (command, more) in REFUSED {
            let said = place.args(&words(command, more));
            let named = said.err.contains(&format!("run {accepted} is damaged at seq {seq}"));
            assert_eq!(
                (said.code, named),
                (1, true),
                "{seq}: {command} {more:?}\n{}{}",
                said.out,
                said.err
            );
        }
    }
}

/// What cannot be mended in this log can be done in another one.
#[test]
fn a_copy_without_it_has_figures_again() {
    let (place, accepted) = place(4);
    let hint = format!(
        "`retold copy {} --to FILE` copies what is asked about to another log, without run {} and the decisions accepted in it",
        &OF[..8],
        &accepted[..8]
    );
    for command in ["stats", "report", "score agreement"] {
        let (_, more) = REFUSED.iter().find(|(of, _)| *of == command).unwrap();
        let said = place.args(&words(command, more));
        assert!(said.err.contains(&hint), "{command}: {}", said.err);
    }
    place.ok(&format!("copy {OF} --to other.db"));
    for args in ["stats", "report -o page.html", "table --table decisions"] {
        let (command, more) = args.split_once(' ').unwrap_or((args, ""));
        place.ok(&format!("{command} {OF} {more} --log other.db"));
    }
    assert!(place.ok("verify --log other.db").contains("1 run verified"));
}

#[test]
fn is_said_where_the_answers_are_shown() {
    let (place, accepted) = place(4);
    let said = place.run(&format!("show {OF}"));
    let words = format!(
        "decisions about these answers were accepted, but nobody can tell which are in force: run {accepted} is damaged at seq 4"
    );
    assert_eq!((said.code, said.out.contains(&words)), (0, true), "{}{}", said.out, said.err);
    let (said, _) = place.json(&format!("show {OF}"));
    let damage = said["decisions_in_force"]["accepted"][0]["damage"].as_str();
    assert!(damage.is_some_and(|damage| damage.contains("seq 4")), "{said}");
    // Tables without decisions do not depend on it.
    let table = place.ok(&format!("table {OF} --table exchanges --as jsonl"));
    assert_eq!(table.lines().count(), 24);
}

/// Of a damaged run, what was accepted about answers after the damage does not count, and a run of accepted decisions that is
/// damaged as well is named beside it.
#[test]
fn about_a_damaged_run() {
    let place = Place::new();
    votes(&place, 0xa1, [8, 3]);
    place.write("ada.csv", "call,value\nvote/acp_0,yes\nvote/ctl_9,yes\n");
    place.ok(&format!("score label {OF} --by ada --from ada.csv"));
    let spoil = |run: u64, seq: u64| {
        let db = Connection::open(place.path("retold.db")).unwrap();
        let change =
            format!("UPDATE events SET hash = zeroblob(32) WHERE id = ({run} << 32) + {seq}");
        assert_eq!(without_triggers(&db, |db| db.execute(&change, [])).unwrap(), 1);
    };
    spoil(1, 8);
    let figure = ["stats", OF, "--figure", "share of ada = yes independent", "--json"];
    let said = place.args(&figure);
    let stats: Value = serde_json::from_str(said.out.lines().next().unwrap()).unwrap();
    assert_eq!((said.code, &stats["figures"]), (1, &Value::Null), "nothing is computed: {stats}");
    spoil(2, 4);
    // Of several that are damaged, the first that is met is named.
    let said = place.run(&format!("stats {OF}"));
    assert!(said.code == 1 && said.err.contains(" is damaged at seq "), "{}", said.err);
}

/// Also of a study, whose page has figures of its own.
#[test]
fn no_report_of_a_study_is_written() {
    let place = Place::with_run();
    place.ok("check latest --parser game24@1 --accept");
    let runs = place.json("log").0["runs"].clone();
    let [of, accepted] = [0, 1].map(|n| runs[n]["run"].as_str().unwrap().to_owned());
    let db = Connection::open(place.path("retold.db")).unwrap();
    let change = "UPDATE events SET hash = zeroblob(32) WHERE id = (2 << 32) + 4";
    assert_eq!(without_triggers(&db, |db| db.execute(change, [])).unwrap(), 1);
    let said = place.run(&format!("report {of} -o page.html"));
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.err.contains(&format!("run {accepted} is damaged at seq 4")), "{}", said.err);
    assert!(said.err.contains("no report was written"), "{}", said.err);
    assert!(!place.path("page.html").exists());
}
