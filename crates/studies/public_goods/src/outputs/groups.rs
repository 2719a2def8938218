//! Players by their reasoning, for plotting.

use std::collections::BTreeMap;

use super::answers::CountedAnswer;
use super::reasoning::{measure_answer, reasoned_answers};
use super::row::{RowHead, float};
use crate::groups::mean as centre;
use crate::report::mean;
use crate::rules::GameRules;
use crate::stage::Stage;
use crate::state::PlayedGames;
use retold::content::Content;
use retold::id::CallPath;
use retold::run::{OutputError, RunRecord};
use retold_stats::{Point, in_a_plane, point};
use retold_study::table::Table;

/// `reasoning_groups.csv`: one row per grouped player. `x` and `y` are the player's position in the
/// plane in which the players differ most.
pub(super) fn reasoning_groups(
    head: &RowHead,
    rules: &GameRules,
    state: &PlayedGames,
    answers: &[CountedAnswer],
    record: &mut RunRecord<'_>,
) -> Result<Table, OutputError> {
    let mut points: BTreeMap<(u32, u32), Vec<Point>> = BTreeMap::new();
    for turn in &state.embedded {
        let call = Stage::Embedding.call(*turn);
        let missing = || OutputError::NoVector { call: call.clone() };
        let path = CallPath::new(call.clone()).map_err(|_| missing())?;
        match record.answer(&path, 0)? {
            Some(Content::Vector(vector)) => {
                points.entry((turn.game, turn.agent)).or_default().push(point(&vector));
            }
            Some(Content::Text(_)) | None => return Err(missing()),
        }
    }
    let centres: Vec<Point> = state
        .groups
        .iter()
        .map(|(game, agent, _)| points.get(&(*game, *agent)).and_then(|p| centre(p)))
        .map(Option::unwrap_or_default)
        .collect();
    let mut table = Table::new(
        "reasoning_groups",
        &[
            "game_id",
            "agent_id",
            "avatar_name",
            "llm_model",
            "group",
            "x",
            "y",
            "reasonings",
            "mean_contribution",
            "mean_words",
            "mean_hedges_per_100_words",
        ],
    );
    for ((game, agent, group), [x, y]) in state.groups.iter().zip(in_a_plane(&centres)) {
        let Some(played) = state.game(*game) else { continue };
        let own = reasoned_answers(answers).filter(|(told, _)| {
            (told.turn.game, told.turn.agent) == (*game, *agent)
                && told.stage == Stage::Contribution
        });
        let own: Vec<_> =
            own.map(|(told, text)| measure_answer(rules, state, told, text)).collect();
        let rounds = played.rounds.iter().filter_map(|round| round.contribution(*agent));
        let coins: Vec<f64> = rounds.map(|c| c.coins as f64).collect();
        let words: Vec<f64> = own.iter().map(|c| c.measures.words.into()).collect();
        let hedging: Vec<f64> = own.iter().map(|c| c.measures.hedging()).collect();
        let shown = |values: &[f64]| mean(values).map_or_else(String::new, float);
        table.row([
            head.game_id(played),
            format!("agent_{agent}"),
            played.avatar(*agent).to_owned(),
            played.seat(*agent).map_or_else(String::new, |seat| seat.llm_model.clone()),
            group.to_string(),
            float(x),
            float(y),
            own.len().to_string(),
            shown(&coins),
            shown(&words),
            shown(&hedging),
        ]);
    }
    Ok(table)
}
