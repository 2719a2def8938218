//! The examples of the guide to figures, against the program and against what the originals of studies have.

use retold_figures::FigureDefinition;
use serde_json::{Value, json};

use super::run_figures::votes_of;
use crate::support::cli::Place;
use crate::support::csv::rows_of;
use crate::support::data::subfolders;

const ROOT: &str = env!("RETOLD_ROOT");

fn guide() -> String {
    std::fs::read_to_string(format!("{ROOT}/docs/guide/figures.md")).unwrap()
}

/// The arguments of a line as a shell reads them.
fn arguments(line: &str) -> Vec<String> {
    let mut args = Vec::new();
    for (at, part) in line.split('"').enumerate() {
        match at % 2 {
            0 => args.extend(part.split_whitespace().map(str::to_owned)),
            _ => args.push(part.to_owned()),
        }
    }
    args
}

#[test]
fn what_the_guide_shows_is_what_the_program_prints() {
    let guide = guide();
    let shown: Vec<&str> = guide.split("```text\n$ retold ").skip(1).collect();
    assert_eq!(shown.len(), 3);
    for block in shown {
        let place = Place::new();
        votes_of(&place, 0xa1, [8, 3], &[]);
        let (command, printed) = block.split("\n```").next().unwrap().split_once('\n').unwrap();
        let args: Vec<String> = arguments(command)
            .into_iter()
            .map(|arg| if arg.starts_with("recordings/") { format!("{ROOT}/{arg}") } else { arg })
            .collect();
        let said = place.args(&args.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(said.out.contains(printed), "{command}\n{}\n{}", said.out, said.err);
    }
}

#[test]
fn each_figure_of_the_guide_can_be_read() {
    let guide = guide();
    let is_figure = |text: &&str| {
        ["share of ", "mean of ", "changed("].iter().any(|begin| text.starts_with(begin))
    };
    let inline = guide.split('`').skip(1).step_by(2).filter(is_figure);
    let listed = guide.lines().filter_map(|line| line.strip_prefix("  - ")).filter(is_figure);
    let quoted = guide.split('"').skip(1).step_by(2).filter(is_figure);
    let figures: Vec<&str> = inline.chain(listed).chain(quoted).collect();
    assert!(figures.len() > 15, "{figures:?}");
    for figure in figures {
        assert!(figure.parse::<FigureDefinition>().is_ok(), "{figure}");
    }
}

#[test]
fn the_guide_has_the_headlines_of_the_studies() {
    let guide = guide();
    for study in retold_studies::studies() {
        for figure in study.headline() {
            let read: FigureDefinition = figure.parse().unwrap();
            assert_eq!(read.to_string(), *figure, "as it is printed");
            let is_named =
                read.measure.names().iter().all(|name| guide.contains(&format!("`{name}`")));
            assert!(
                is_named && (study.headline().len() > 2 || guide.contains(&format!("`{figure}`"))),
                "{figure}"
            );
        }
    }
}

fn figure(place: &Place, figure: &str) -> Value {
    let said = place.args(&["stats", "latest", "--figure", figure, "--json"]);
    let found: Value = serde_json::from_str(&said.out).unwrap_or_else(|_| panic!("{said:?}"));
    found["figures"][0].clone()
}

/// A contribution is what is in the public fund, in games in which players state what they withdraw, too.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn contributions_are_those_of_the_original_games() {
    let (mut compared, mut withdrawn) = (0, 0);
    for experiments in ["public_goods/experiments", "public_goods/experiments2"] {
        for folder in subfolders(experiments, "game_log.csv") {
            let rows = rows_of(&std::fs::read_to_string(folder.join("game_log.csv")).unwrap());
            let coins = rows.iter().map(|row| row["contribution"].parse::<f64>().unwrap());
            let Some(mean) = (!rows.is_empty()).then(|| coins.sum::<f64>() / rows.len() as f64)
            else {
                continue;
            };
            let config = std::fs::read_to_string(folder.join("config.json")).unwrap();
            let place = Place::new();
            place.run(&format!("import public-goods {}", folder.display()));
            // Without its answers, an original run cannot be run again.
            if rows_of(&std::fs::read_to_string(folder.join("raw_responses.csv")).unwrap())
                .is_empty()
            {
                continue;
            }
            let found = figure(&place, "mean of contribution");
            let all = &found["groups"][0];
            assert_eq!(all["draws"], rows.len(), "{}", folder.display());
            let value = all["value"].as_f64().unwrap();
            assert!((value - mean).abs() < 1e-9, "{}: {value} {mean}", folder.display());
            let stated = figure(&place, "mean of contributed.stated");
            let stated = stated["groups"][0]["value"].as_f64().unwrap();
            let is_withdrawn = config.contains("opt_out");
            assert!(is_withdrawn || (stated - mean).abs() < 1e-9, "{}", folder.display());
            withdrawn += u32::from(is_withdrawn && (stated - mean).abs() > 1e-9);
            compared += 1;
        }
    }
    assert!(
        compared > 40 && withdrawn > 10,
        "{compared}, of which {withdrawn} differ from what was stated"
    );
}

/// The votes of an original pilot, by condition.
#[test]
fn changed_votes_are_those_of_the_original_pilot() {
    let place = Place::new();
    let original = format!("{ROOT}/fixtures/originals/pilot_small");
    place.run(&format!("import deliberation {original}"));
    let summary = std::fs::read_to_string(format!("{original}/summary.json")).unwrap();
    let summary: Value = serde_json::from_str(&summary).unwrap();
    let found = place.json("stats latest").0["figures"][0].clone();
    let groups = found["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 3, "{found}");
    for group in groups {
        let condition = &summary["by_condition"][group["group"][0].as_str().unwrap()];
        assert_eq!(group["value"], condition["position_changed_rate"], "{group}");
        assert_eq!(group["missing"], condition["failed"], "{group}");
    }
    let differences = found["differences"].as_array().unwrap();
    let baseline = json!(["simple_passive"]);
    assert!(differences.len() == 2 && differences.iter().all(|it| it["one"] == baseline));
}
