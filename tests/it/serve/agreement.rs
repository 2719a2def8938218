//! The page of agreement: coefficients, and disagreements first.

use retold::model::Response;
use serde_json::{Value, json};

use super::Served;
use crate::support::cli::Place;
use crate::support::program_run::ProgramRun;

/// The run of [`rated`].
const RUN: &str = "0505050505050505";

/// A program's answers in two conditions with its own votes, and two people's labels of them: ada disagrees about the
/// fourth answer, bob about the second and the fourth.
pub(super) fn rated() -> Place {
    let place = Place::new();
    let mut run = ProgramRun::begin();
    let texts = ["Yes.", "\u{1b}[31m<b>No</b>, never.", "Yes!", "=Perhaps", "No."];
    let long = format!("I have thought about it. {}", "It is not easy. ".repeat(60));
    for (n, text) in texts.into_iter().chain([long.as_str()]).enumerate() {
        let condition = if n % 2 == 0 { "acp" } else { "ctl" };
        let labels = [("condition", condition)];
        let asked = run.asks(&format!("vote/p{n}"), 0, &labels, &json!([]));
        let answer = run.answered(asked, Response::text(text));
        let value = if text.starts_with('Y') { "yes" } else { "no" };
        run.decided(answer, "vote", "reported", json!(value));
    }
    run.store(&place, 5);
    let labels = |who: &str, values: [&str; 6]| {
        let rows = values.iter().enumerate();
        let rows: Vec<String> = rows.map(|(n, value)| format!("vote/p{n},{value}\n")).collect();
        place.write("labels.csv", format!("call,value\n{}", rows.concat()));
        place.ok(&format!("score label {RUN} --by {who} --name vote --from labels.csv"));
    };
    labels("ada", ["yes", "no", "yes", "yes", "no", ""]);
    labels("bob", ["yes", "yes", "yes", "yes", "no", ""]);
    place
}

/// The calls that a page lists, each with whether its raters disagree.
fn listed(page: &Value) -> Vec<(&str, bool)> {
    let rated = page["rated"].as_array().unwrap().iter();
    rated.map(|it| (it["call"].as_str().unwrap(), it["differs"] == true)).collect()
}

/// The page has what the command prints, and more answers.
#[test]
fn the_page_of_agreement_has_the_figures_of_the_command_and_disagreements_first() {
    let place = rated();
    let served = Served::log(&place, "retold.db");
    let page = served.json(&format!("/run/{RUN}/agreement"));
    let (said, _) = place.json(&format!("score agreement {RUN}"));
    for key in ["raters", "alpha", "level", "not_numbers", "pairs", "rated"] {
        assert_eq!(page["agreement"][key], said[key], "{key}");
    }
    let due = [
        ("vote/p1", true),
        ("vote/p3", true),
        ("vote/p0", false),
        ("vote/p2", false),
        ("vote/p4", false),
    ];
    assert_eq!(listed(&page), due);
    let disagreements = said["disagreements"].as_array().unwrap();
    for (shown, printed) in page["rated"].as_array().unwrap().iter().zip(disagreements) {
        assert_eq!((&shown["seq"], &shown["call"]), (&printed["seq"], &printed["call"]));
        for pair in shown["values"].as_array().unwrap() {
            assert_eq!(pair[1], printed["values"][pair[0].as_str().unwrap()]);
        }
    }
    let text = place.ok(&format!("score agreement {RUN}"));
    assert!(text.contains(page["agreement"]["alpha_text"].as_str().unwrap()), "{text}");
    let html = served.html(&format!("/run/{RUN}/agreement"));
    assert!(html.contains("data-matrix") && html.contains("class=\"picture narrow\""), "{html}");
    assert!(html.contains("&lt;b&gt;No&lt;/b&gt;") && !html.contains('\u{1b}'), "{html}");
    assert!(served.get(page["rated"][0]["href"].as_str().unwrap()).status == 200);
}

#[test]
fn agreement_is_linked_where_several_decided_and_filtered_by_label() {
    let place = rated();
    let served = Served::log(&place, "retold.db");
    let run = served.json(&format!("/run/{RUN}"));
    assert_eq!(run["rated_by_several"], json!(["vote"]));
    let link = format!("/run/{RUN}/agreement?name=vote");
    assert!(served.html(&format!("/run/{RUN}")).contains(&format!("href=\"{link}\"")));
    let acp = served.json(&format!("{link}&label=condition%3Dacp"));
    assert_eq!(listed(&acp), [("vote/p0", false), ("vote/p2", false), ("vote/p4", false)]);
    let (said, _) = place.json(&format!("score agreement {RUN} vote --label condition=acp"));
    assert_eq!(acp["agreement"]["pairs"], said["pairs"]);
    // The page of accepted decisions is that of the run that they are about.
    let runs = served.json("/")["runs"].as_array().unwrap().clone();
    let accepted =
        runs.iter().find(|run| run["kind"] == "accepted").unwrap()["run"].as_str().unwrap();
    let moved = served.get(&format!("/run/{accepted}/agreement?name=vote"));
    assert!(moved.head.contains(&format!("location: {link}")), "{}", moved.head);
    // Nobody but its parser decided.
    place.ok("run small.yaml --quiet --no-outputs --set samples=3");
    let study = served.json("/run/latest");
    assert_eq!(study["rated_by_several"], json!([]));
    let page = served.json("/run/latest/agreement");
    let why = page["none"].as_str().unwrap();
    assert!(why.starts_with("no two raters of the answers of run"), "{why}");
}

#[test]
fn the_file_of_agreement_has_each_rater_and_label_as_a_column() {
    let place = rated();
    let served = Served::log(&place, "retold.db");
    let page = served.json(&format!("/run/{RUN}/agreement?label=condition%3Dctl"));
    let csv = served.get(page["csv"].as_str().unwrap());
    assert!(csv.status == 200 && csv.head.contains("agreement-05050505.csv"), "{}", csv.head);
    let mut lines = csv.body.lines();
    assert_eq!(
        lines.next(),
        Some(
            "call,sample,choice,answer_seq,condition,reported by the program: vote,\"a person, ada: vote\",\"a person, bob: vote\",differ,answer"
        )
    );
    let first = lines.next().unwrap();
    assert!(first.starts_with("vote/p1,0,0,") && first.contains(",ctl,no,no,yes,true,"), "{first}");
    assert_eq!(csv.body.lines().count(), 3);
}

#[test]
fn what_a_query_of_agreement_asks_wrong_is_refused() {
    let place = rated();
    let served = Served::log(&place, "retold.db");
    for (query, why) in [
        ("name=mood", "is called &quot;mood&quot;: there are vote"),
        ("label=condition", "label=condition: "),
        (
            "label=condition%3Dxyz",
            "a call with the label &quot;condition=xyz&quot;: there is condition",
        ),
        ("level=ratio", "level=ratio is not a level: there is nominal, ordinal, interval"),
        ("most=3", "this page has no key most: there is name, label, level, skip"),
    ] {
        for page in ["agreement", "agreement.csv"] {
            let refused = served.get(&format!("/run/{RUN}/{page}?{query}"));
            assert_eq!(refused.status, 400, "{query}");
            assert!(refused.body.contains(why), "{query}: {}", refused.body);
        }
    }
    let interval = served.json(&format!("/run/{RUN}/agreement?level=interval"));
    assert!(interval["notices"].to_string().contains("16 values are not numbers"), "{interval}");
}
