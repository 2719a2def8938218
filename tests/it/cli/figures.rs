//! Figures of studies and plots against the files that a run writes for other programs.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::reports::{page, tables};
use crate::support::cli::Place;
use crate::support::csv::{Row, rows_of};

const ROOT: &str = env!("RETOLD_ROOT");

/// A run with its output files, its figures, and the plots of its page.
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
        let figures = place.json("stats latest").0["figures"].as_array().unwrap().clone();
        assert!(!figures.is_empty(), "{args}");
        same_on_the_page(&place.ok("stats latest"), &page, &figures);
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

    /// A group of a figure has the value that was computed from the files; removes it.
    fn equals(&mut self, name: &str, group: &str, value: Option<f64>) {
        let at = self.figures.iter().position(|figure| figure["figure"] == name);
        let figure = &mut self.figures[at.unwrap_or_else(|| panic!("{name}"))];
        let groups = figure["groups"].as_array_mut().unwrap();
        let is_it = |of: &Value| of["group"] == json!([group]) || group.is_empty();
        let at = groups.iter().position(is_it).unwrap_or_else(|| panic!("{name}, {group}"));
        let found = groups.remove(at);
        assert_alike(found["value"].as_f64(), value, name);
        self.figures.retain(|figure| figure["groups"] != json!([]));
    }

    /// A value of a plot, by the names in its rows.
    fn plotted(&self, plot: &str, names: &[(&str, &str)], value: &str) -> Option<f64> {
        let rows = self.plots.get(plot).unwrap_or_else(|| panic!("no plot {plot}"));
        let is_it = |row: &&Row| names.iter().all(|(column, name)| row[*column] == *name);
        rows.iter().find(is_it)?[value].parse().ok()
    }
}

/// The page has the rows that `stats` prints, below the same titles.
fn same_on_the_page(text: &str, page: &str, figures: &[Value]) {
    for figure in figures {
        let title = figure["figure"].as_str().unwrap();
        let table = page.split(&format!("<h2>{title}</h2>")).nth(1).unwrap();
        let (_, rows) = table.split("</table>").next().unwrap().split_once("<tbody>").unwrap();
        let rows = rows.split("<tr>").skip(1).map(|row| {
            let cells = row.split("<td").skip(1).map(|cell| cell.split('<').next().unwrap());
            let cells = cells.map(|cell| cell.split_once('>').unwrap().1);
            cells.flat_map(str::split_whitespace).collect::<Vec<&str>>()
        });
        // Below the picture and the headings.
        let printed = text.split(&format!("\n{title}\n")).nth(1).unwrap().lines();
        let printed = printed.skip_while(|line| !line.ends_with("  95 % interval")).skip(1);
        let printed = printed.map(|line| line.split_whitespace().collect::<Vec<&str>>());
        let rows: Vec<Vec<&str>> = rows.collect();
        assert!(!rows.is_empty(), "{title}");
        assert_eq!(printed.take(rows.len()).collect::<Vec<_>>(), rows, "{title}");
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
    shown.equals("share of solved = true", "", Some(solved));
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
        let (series, round) = (("series", "all games"), round.to_string());
        let coins = of(rows);
        shown.equals("mean of contribution by round against 1", &round, coins);
        let contributed = coins.map(|coins| coins / endowment);
        let at = [series, ("round", round.as_str())];
        let plotted = shown.plotted("contributions_by_round", &at, "share of the endowment");
        assert_alike(plotted, contributed, &round);
    }
    let by_model = shown.rows("reasoning_by_model");
    let by_model = by_model.iter().filter(|row| row["prompt_type"] == "contribution");
    let (mut actions, mut models) = (0.0, 0);
    for row in by_model {
        let mean = number(row, "mean_action");
        shown.equals("mean of contribution by model", &row["llm_model"], Some(mean));
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

/// The question of the deliberation.
const CHANGED: &str = "share of changed_vote = true by condition against simple_passive";

#[test]
fn a_deliberation_s_figures_are_those_of_its_summary() {
    let mut shown = Shown::new(&format!("{ROOT}/config/deliberation_small.yaml"));
    let summary = shown.summary();
    // Adversarial cross-pollination is compared with reading alone, whatever comes first by name.
    let rate = |condition: &str| {
        summary["by_condition"][condition]["position_changed_rate"].as_f64().unwrap()
    };
    let acp = &shown.figures[0]["differences"][0];
    assert_eq!((&acp["one"], &acp["other"]), (&json!(["simple_passive"]), &json!(["acp"])));
    let more = acp["difference"].as_f64().unwrap();
    assert_alike(Some(more), Some(rate("acp") - rate("simple_passive")), "acp");
    assert!(acp["interval"]["low"].is_f64() && acp["pairing"] == "unpaired", "{acp}");
    for (condition, of) in summary["by_condition"].as_object().unwrap() {
        if of["position_changed"].is_null() {
            assert!(!shown.plots.contains_key(&format!("votes_{condition}")), "{condition}");
            continue;
        }
        let rate = of["position_changed_rate"].as_f64();
        shown.equals(CHANGED, condition, rate);
        let name = &[("condition", condition.as_str())];
        assert_alike(shown.plotted("figure", name, "value"), rate, condition);
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
    for name in ["gini_all", "active", "dormant"] {
        let figure = format!("mean of {name} by day clustered by run");
        shown.equals(&figure, "6", last[name].as_f64());
    }
    let rejected = shown.rows("invalid_actions");
    let rejected = rejected.iter().filter(|row| row["rejected_by"] == "parser").count();
    let turns = ["posts", "replies", "messages", "proposals", "votes", "work", "trades", "names"];
    let agents = shown.rows("agents");
    let answers = turns.iter().chain(&["idle", "invalid"]).map(|turn| sum(&agents, turn));
    let illegible = rejected as f64 / answers.sum::<f64>();
    assert!(illegible > 0.0);
    // What came of the society is one draw; what an answer is like is not.
    let [legible] = shown.figures.as_slice() else { panic!("{:?}", shown.figures) };
    assert!(legible["groups"][0]["interval"].is_object(), "{legible}");
    shown.equals("share of legible = false clustered by agent", "", Some(illegible));
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
    shown.equals("share of decision_point = true", "", with(&|row| row["decision"] == "true"));
    shown.equals("share of fight = true", "", with(&|row| !row["opponent"].is_empty()));
    let nothing = with(&|row| row["default_options"] == "true");
    shown.equals("share of nothing_offered = true", "", nothing);
    let unusable = sum(&turns, "unusable_answers") / turns.len() as f64;
    shown.equals("mean of unusable_answers", "", Some(unusable));
    let journal: Value = serde_json::from_str(&shown.place.read("files/journal.json")).unwrap();
    let games = journal.as_object().unwrap();
    let told = games.values().filter(|game| game["ending"] == "told").count();
    shown.equals("share of told_to_the_end = true", "", share(told, games.len()));
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
