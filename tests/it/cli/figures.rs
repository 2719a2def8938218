//! Headline figures and plots against the files that a run writes for other programs.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reports::{attributes, page, tables};
use crate::support::cli::Place;
use crate::support::csv::{Row, rows_of};

const ROOT: &str = env!("RETOLD_ROOT");

/// A run with its output files, its headline figures, and the plots of its page.
struct Shown {
    place: Place,
    figures: Vec<Value>,
    plots: BTreeMap<String, Vec<Row>>,
}

impl Shown {
    fn new(args: &str) -> Self {
        let place = Place::new();
        place.ok(&format!("run {args} -q --no-outputs"));
        place.ok("export latest files --as outputs");
        let page = page(&place, "latest");
        let figures = place.json("diff latest latest").0["figures"].as_array().unwrap().clone();
        let figures: Vec<Value> = figures.iter().map(|figure| figure["one"].clone()).collect();
        assert!(!figures.is_empty(), "{args}");
        // What is on the page is what `diff` says.
        let values = attributes(&page, "data-value");
        let said = figures.iter().map(|figure| match &figure["value"] {
            Value::Null => String::new(),
            value => value.as_f64().unwrap().to_string(),
        });
        assert_eq!(values, said.collect::<Vec<String>>());
        let plots = tables(&page)
            .into_iter()
            .map(|(name, text)| (name.trim_end_matches("_1.csv").to_owned(), rows_of(&text)));
        let plots = plots.collect();
        Shown { place, figures, plots }
    }

    fn rows(&self, table: &str) -> Vec<Row> {
        rows_of(&self.place.read(&format!("files/{table}.csv")))
    }

    fn summary(&self) -> Value {
        serde_json::from_str(&self.place.read("files/summary.json")).unwrap()
    }

    /// A figure has the value that was computed from the files; removes it.
    fn equals(&mut self, name: &str, value: Option<f64>) {
        let at = self.figures.iter().position(|figure| figure["name"] == name);
        let figure = self.figures.remove(at.unwrap_or_else(|| panic!("{name}")));
        assert_alike(figure["value"].as_f64(), value, name);
    }

    /// A value of a plot, by the names in its rows.
    fn plotted(&self, plot: &str, names: &[(&str, &str)], value: &str) -> Option<f64> {
        let rows = self.plots.get(plot).unwrap_or_else(|| panic!("no plot {plot}"));
        let is_it = |row: &&Row| names.iter().all(|(column, name)| row[*column] == *name);
        rows.iter().find(is_it)?[value].parse().ok()
    }
}

fn assert_alike(one: Option<f64>, other: Option<f64>, what: &str) {
    let alike = match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < 1e-9,
        (None, None) => true,
        _ => false,
    };
    assert!(alike, "{what}: {one:?} and {other:?}");
}

fn number(row: &Row, column: &str) -> f64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {}", row[column]))
}

fn sum(rows: &[Row], column: &str) -> f64 {
    rows.iter().map(|row| number(row, column)).sum()
}

fn share(part: usize, all: usize) -> Option<f64> {
    (all > 0).then(|| part as f64 / all as f64)
}

#[test]
fn a_game_s_figures_are_those_of_its_tables() {
    let config = "small.yaml --set puzzles.rows=0..6 --set samples=5";
    let mut shown = Shown::new(config);
    let puzzles = shown.rows("puzzles");
    let solved = sum(&puzzles, "solved") / sum(&puzzles, "answers");
    shown.equals("solve rate", Some(solved));
    assert!(shown.figures.is_empty(), "{:?}", shown.figures);
    for puzzle in &puzzles {
        let solved = number(puzzle, "solved") / number(puzzle, "answers");
        let name = &[("name", puzzle["puzzle"].as_str())];
        let plotted = shown.plotted("solve_rate_by_puzzle", name, "value");
        assert_alike(plotted, Some(solved), &puzzle["puzzle"]);
    }
    let answers = shown.rows("answers");
    for (plot, column) in [("answers_by_method", "method"), ("answers_by_verdict", "verdict")] {
        for row in &shown.plots[plot] {
            let count = answers.iter().filter(|answer| answer[column] == row["name"]).count();
            assert_alike(row["answers"].parse().ok(), Some(count as f64), &row["name"]);
        }
        assert_alike(Some(sum(&shown.plots[plot], "answers")), Some(answers.len() as f64), plot);
    }
}

#[test]
fn a_public_goods_game_s_figures_are_those_of_its_tables() {
    let config = format!("{ROOT}/config/public_goods_small.yaml --set games=3");
    let mut shown = Shown::new(&config);
    let log = shown.rows("game_log");
    let recorded: Value = serde_json::from_str(&shown.place.read("files/config.json")).unwrap();
    let endowment = recorded["config"]["endowment"].as_f64().unwrap();
    let of = |rows: Vec<&Row>| {
        let coins: f64 = rows.iter().map(|row| number(row, "contribution")).sum();
        (!rows.is_empty()).then(|| coins / rows.len() as f64)
    };
    for round in 1..=3 {
        let rows = log.iter().filter(|row| row["round"] == round.to_string()).collect();
        let contributed = of(rows).map(|coins| coins / endowment);
        shown.equals(&format!("contributed in round {round}"), contributed);
        let (series, round) = (("series", "all games"), round.to_string());
        let at = [series, ("round", round.as_str())];
        let plotted = shown.plotted("contributions_by_round", &at, "share of the endowment");
        assert_alike(plotted, contributed, &round);
    }
    let by_model = shown.rows("reasoning_by_model");
    let by_model = by_model.iter().filter(|row| row["prompt_type"] == "contribution");
    let (mut actions, mut models) = (0.0, 0);
    for row in by_model {
        let mean = number(row, "mean_action");
        shown.equals(&format!("mean contribution of {}", row["llm_model"]), Some(mean));
        actions += mean * number(row, "actions");
        models += 1;
    }
    let mean = of(log.iter().collect());
    assert_alike(mean, Some(actions / log.len() as f64), "all contributions");
    assert_eq!(models, 2);
    assert!(shown.figures.is_empty(), "{:?}", shown.figures);
    let units = &shown.plots["punishment_and_reward"];
    let details = shown.rows("redistribution_details");
    let actual = sum(&details, "units_actual");
    assert!(actual > 0.0);
    assert_alike(Some(sum(units, "value")), Some(actual), "units of punishment and reward");
}

#[test]
fn a_deliberation_s_figures_are_those_of_its_summary() {
    let mut shown = Shown::new(&format!("{ROOT}/config/deliberation_small.yaml"));
    let summary = shown.summary();
    for (condition, of) in summary["by_condition"].as_object().unwrap() {
        if of["position_changed"].is_null() {
            assert!(!shown.plots.contains_key(&format!("votes_{condition}")), "{condition}");
            continue;
        }
        let rate = of["position_changed_rate"].as_f64();
        shown.equals(&format!("changed their vote, {condition}"), rate);
        let name = &[("name", condition.as_str())];
        assert_alike(shown.plotted("change_rate_by_condition", name, "value"), rate, condition);
        let flow = &shown.plots[&format!("votes_{condition}")];
        for (side, key) in
            [("first vote", "initial_vote_distribution"), ("final vote", "final_vote_distribution")]
        {
            for (option, count) in of[key].as_object().unwrap() {
                let rows: Vec<Row> =
                    flow.iter().filter(|row| row[side] == *option).cloned().collect();
                assert_alike(Some(sum(&rows, "count")), count.as_f64(), option);
            }
        }
    }
    assert!(shown.figures.is_empty(), "{:?}", shown.figures);
}

#[test]
fn a_society_s_figures_are_those_of_its_summary_and_tables() {
    let mut shown = Shown::new(&format!("{ROOT}/config/society_small.yaml"));
    let (summary, days) = (shown.summary(), shown.rows("days"));
    let recorded = summary["days"].as_array().unwrap();
    let last = recorded.last().unwrap();
    assert_eq!((recorded.len(), days.len()), (6, 6));
    shown.equals("Gini of all resources on day 6", last["gini_all"].as_f64());
    shown.equals("active agents on day 6", last["active"].as_f64());
    shown.equals("dormant agents on day 6", last["dormant"].as_f64());
    let rejected = shown.rows("invalid_actions");
    let rejected = rejected.iter().filter(|row| row["rejected_by"] == "parser").count();
    let turns = ["posts", "replies", "messages", "proposals", "votes", "work", "trades", "names"];
    let agents = shown.rows("agents");
    let answers = turns.iter().chain(&["idle", "invalid"]).map(|turn| sum(&agents, turn));
    let illegible = rejected as f64 / answers.sum::<f64>();
    assert!(illegible > 0.0);
    // What came of the society is one draw; what an answer is like is not.
    let has_interval = |figure: &&Value| !figure["interval"].is_null();
    let with: Vec<&Value> = shown.figures.iter().filter(has_interval).collect();
    assert_eq!(with.len(), 1, "{with:?}");
    assert!(shown.figures.iter().all(|figure| figure["interval"].is_object()), "those left");
    shown.equals("answers without a legible action", Some(illegible));
    assert!(shown.figures.is_empty(), "{:?}", shown.figures);
    for (at, day) in recorded.iter().enumerate() {
        let number = day["day"].to_string();
        for (plot, column, pairs) in [
            (
                "gini_by_day",
                "Gini coefficient",
                [
                    ("all resources", "gini_all"),
                    ("food", "gini_food"),
                    ("energy", "gini_energy"),
                    ("materials", "gini_materials"),
                ]
                .as_slice(),
            ),
            (
                "resources_by_day",
                "units",
                &[("food", "food"), ("energy", "energy"), ("materials", "materials")],
            ),
        ] {
            for (series, key) in pairs {
                let names = [("series", *series), ("day", number.as_str())];
                let plotted = shown.plotted(plot, &names, column).unwrap();
                let table: f64 = days[at][*key].parse().unwrap();
                assert!((plotted - table).abs() < 1e-6, "{series} on day {number}");
                if plot == "gini_by_day" {
                    assert_alike(Some(plotted), day[*key].as_f64(), key);
                }
            }
        }
    }
    let contacts = shown.rows("contacts");
    let messages = contacts.iter().filter(|row| row["messages"] != "0");
    let expected: Vec<[String; 3]> = messages
        .map(|row| {
            [
                format!("agent {}", row["from"]),
                format!("agent {}", row["to"]),
                row["messages"].clone(),
            ]
        })
        .collect();
    assert!(!expected.is_empty());
    for plot in ["messages", "message_graph"] {
        let rows = shown.plots[plot].iter();
        let rows: Vec<[String; 3]> =
            rows.map(|row| ["sender", "recipient", "value"].map(|c| row[c].clone())).collect();
        assert_eq!(rows, expected, "{plot}");
    }
}

#[test]
fn an_adventure_s_figures_are_those_of_its_tables() {
    let mut shown = Shown::new(&format!("{ROOT}/config/adventure.yaml"));
    let turns = shown.rows("turns");
    let with = |is_so: &dyn Fn(&Row) -> bool| {
        share(turns.iter().filter(|row| is_so(row)).count(), turns.len())
    };
    shown.equals("turns with a decision point", with(&|row| row["decision"] == "true"));
    shown.equals("turns with a fight", with(&|row| !row["opponent"].is_empty()));
    let nothing = with(&|row| row["default_options"] == "true");
    shown.equals("turns in which nothing was offered", nothing);
    let unusable = sum(&turns, "unusable_answers") / turns.len() as f64;
    shown.equals("unusable answers per turn", Some(unusable));
    let journal: Value = serde_json::from_str(&shown.place.read("files/journal.json")).unwrap();
    let games = journal.as_object().unwrap();
    let told = games.values().filter(|game| game["ending"] == "told").count();
    shown.equals("games told to the end", share(told, games.len()));
    assert!(shown.figures.is_empty(), "{:?}", shown.figures);
    let decisions = shown.rows("decisions");
    for row in &shown.plots["decisions_by_importance"] {
        let first = decisions.iter().filter(|d| d["option"] == "1");
        let count = first.filter(|d| d["importance"] == row["name"]).count();
        assert_alike(row["decision points"].parse().ok(), Some(count as f64), &row["name"]);
    }
    let choices = turns.iter().filter(|turn| turn["by"] == "random").count();
    let plotted = shown.plotted("choices", &[("name", "random")], "choices");
    assert_alike(plotted, Some(choices as f64), "choices");
    // After its last turn, a player carries what is in the inventory.
    for (number, game) in games {
        let last = game["journal"].as_array().unwrap().len().to_string();
        let series = format!("game {number}");
        let names = [("series", series.as_str()), ("turn", last.as_str())];
        let carried = shown.plotted("inventory_by_turn", &names, "things");
        let inventory = game["inventory"].as_array().unwrap().len();
        assert_alike(carried, Some(inventory as f64), &series);
    }
}
