//! The reasoning: by itself, its measures, by model, and models side by side.

use std::collections::BTreeMap;

use super::answers::CountedAnswer;
use super::row::{RowHead, float, table_of_players};
use crate::actions::{Mean, action, means};
use crate::measures::{Measures, measure, stated_contribution};
use crate::report::mean;
use crate::rules::GameRules;
use crate::stage::Stage;
use crate::state::PlayedGames;
use retold_study::table::Table;

/// The answers that have a reasoning.
pub(super) fn reasoned_answers(
    answers: &[CountedAnswer],
) -> impl Iterator<Item = (&CountedAnswer, &str)> {
    answers.iter().filter_map(|told| Some((told, told.reasoning.as_deref()?)))
}

/// The model that played.
fn model<'a>(state: &'a PlayedGames, told: &CountedAnswer) -> &'a str {
    let seat = state.game(told.turn.game).and_then(|game| game.seat(told.turn.agent));
    seat.map_or("", |seat| &seat.llm_model)
}

/// A reasoning with its measures.
pub(super) struct MeasuredReasoning {
    pub(super) measures: Measures,
    /// The contribution announced in it, for contributions.
    pub(super) stated: Option<i64>,
    /// The action: coins contributed, or units given in total; `None` for messages.
    pub(super) action: Option<i64>,
}

/// Counts in the reasoning of an answer.
pub(super) fn measure_answer(
    rules: &GameRules,
    state: &PlayedGames,
    told: &CountedAnswer,
    reasoning: &str,
) -> MeasuredReasoning {
    let game = state.game(told.turn.game);
    let seats = game.into_iter().flat_map(|game| &game.players);
    let others: Vec<&str> =
        seats.filter(|s| s.agent != told.turn.agent).map(|s| s.avatar.as_str()).collect();
    let contributes = matches!(told.stage, Stage::Contribution | Stage::Decision);
    let round = game.and_then(|game| game.round(told.turn.round));
    MeasuredReasoning {
        measures: measure(reasoning, &others),
        stated: contributes.then(|| stated_contribution(reasoning, rules.endowment)).flatten(),
        action: round.and_then(|round| action(round, told.stage, told.turn.agent)),
    }
}

/// `reasoning.csv`: the reasoning, separate from the action.
pub(super) fn reasoning(head: &RowHead, state: &PlayedGames, answers: &[CountedAnswer]) -> Table {
    let mut table = table_of_players("reasoning", &["llm_model", "prompt_type", "reasoning"]);
    for (told, reasoning) in reasoned_answers(answers) {
        let mut row = told.begin(head, state);
        row.extend([model(state, told), told.prompt_type(), reasoning].map(str::to_owned));
        table.row(row);
    }
    table
}

/// `reasoning_measures.csv`: one row per reasoning.
pub(super) fn measures(
    head: &RowHead,
    rules: &GameRules,
    state: &PlayedGames,
    answers: &[CountedAnswer],
) -> Table {
    let mut table = table_of_players(
        "reasoning_measures",
        &[
            "llm_model", "prompt_type", "method", "sample", "words", "sentences", "hedges",
            "mentions", "others_named", "stated", "action", "stated_is_action",
        ],
    );
    let maybe = |n: Option<i64>| n.map_or_else(String::new, |n| n.to_string());
    for (told, reasoning) in reasoned_answers(answers) {
        let MeasuredReasoning { measures, stated, action } =
            measure_answer(rules, state, told, reasoning);
        let Measures { words, sentences, hedges, mentions, others_named } = measures;
        let agrees = stated.map(|stated| Some(stated) == action);
        let mut row = told.begin(head, state);
        row.extend([
            model(state, told).to_owned(),
            told.prompt_type().to_owned(),
            told.by.method.clone(),
            told.by.sample.to_string(),
        ]);
        row.extend([words, sentences, hedges, mentions, others_named].map(|n| n.to_string()));
        row.extend([maybe(stated), maybe(action)]);
        row.push(agrees.map_or_else(String::new, |agrees| agrees.to_string()));
        table.row(row);
    }
    table
}

/// Some reasonings, counted together.
#[derive(Default)]
struct ReasoningSum {
    words: Vec<f64>,
    hedging: Vec<f64>,
    mentions: Vec<f64>,
    stated: u32,
    agree: u32,
}

impl ReasoningSum {
    fn add(&mut self, counted: &MeasuredReasoning) {
        let MeasuredReasoning { measures, stated, action } = counted;
        self.words.push(measures.words.into());
        self.hedging.push(measures.hedging());
        self.mentions.push(measures.mentions.into());
        self.stated += u32::from(stated.is_some());
        self.agree += u32::from(stated.is_some() && stated == action);
    }

    /// The cells for [`ReasoningSum::COLUMNS`], given the actions of the same models and stages.
    fn cells(&self, actions: Mean) -> Vec<String> {
        let mean = |values: &[f64]| mean(values).map_or_else(String::new, float);
        let action = (actions.count > 0).then(|| float(actions.amount));
        vec![
            actions.count.to_string(),
            action.unwrap_or_default(),
            self.words.len().to_string(),
            mean(&self.words),
            mean(&self.hedging),
            mean(&self.mentions),
            self.stated.to_string(),
            self.agree.to_string(),
        ]
    }

    /// `actions` and `mean_action` cover all answers; the others only those with a reasoning.
    const COLUMNS: [&str; 8] = [
        "actions",
        "mean_action",
        "reasonings",
        "mean_words",
        "mean_hedges_per_100_words",
        "mean_mentions",
        "stated",
        "stated_is_action",
    ];
}

/// The stage to whose action an answer belongs.
fn acts(stage: Stage) -> Stage {
    if stage == Stage::Decision { Stage::Contribution } else { stage }
}

/// `reasoning_by_model.csv`: the mean measures of each model and stage.
pub(super) fn by_model(rules: &GameRules, state: &PlayedGames, answers: &[CountedAnswer]) -> Table {
    let mut sums: BTreeMap<(&str, &str), (Stage, ReasoningSum)> = BTreeMap::new();
    for told in answers {
        let key = (model(state, told), told.prompt_type());
        let (_, sum) = sums.entry(key).or_insert_with(|| (told.stage, ReasoningSum::default()));
        if let Some(reasoning) = &told.reasoning {
            sum.add(&measure_answer(rules, state, told, reasoning));
        }
    }
    let actions = means(state, |action| (action.llm_model, action.stage));
    let columns: Vec<&str> =
        ["llm_model", "prompt_type"].into_iter().chain(ReasoningSum::COLUMNS).collect();
    let mut table = Table::new("reasoning_by_model", &columns);
    for ((model, name), (stage, sum)) in sums {
        let actions = actions.get(&(model, acts(stage))).copied().unwrap_or_default();
        table.row([model.to_owned(), name.to_owned()].into_iter().chain(sum.cells(actions)));
    }
    table
}

/// `situations.csv`: the models side by side. All players of a game are in the same situation at a
/// stage of a round: they have seen the same rounds and know the same about each other.
pub(super) fn situations(
    head: &RowHead,
    rules: &GameRules,
    state: &PlayedGames,
    answers: &[CountedAnswer],
) -> Table {
    let mut sums: BTreeMap<(u32, u32, Stage, &str), ReasoningSum> = BTreeMap::new();
    let mut names: BTreeMap<Stage, &str> = BTreeMap::new();
    for told in answers {
        names.insert(told.stage, told.prompt_type());
        let key = (told.turn.game, told.turn.round, told.stage, model(state, told));
        let sum = sums.entry(key).or_default();
        if let Some(reasoning) = &told.reasoning {
            sum.add(&measure_answer(rules, state, told, reasoning));
        }
    }
    let actions = means(state, |action| {
        (action.turn.game, action.turn.round, action.stage, action.llm_model)
    });
    let first = ["game_id", "round", "prompt_type", "llm_model"];
    let columns: Vec<&str> = first.into_iter().chain(ReasoningSum::COLUMNS).collect();
    let mut table = Table::new("situations", &columns);
    for ((game, round, stage, model), sum) in sums {
        let game_id = state.game(game).map_or_else(String::new, |game| head.game_id(game));
        let name = names.get(&stage).copied().unwrap_or("").to_owned();
        let cells = [game_id, round.to_string(), name, model.to_owned()];
        let actions = actions.get(&(game, round, acts(stage), model)).copied().unwrap_or_default();
        table.row(cells.into_iter().chain(sum.cells(actions)));
    }
    table
}
