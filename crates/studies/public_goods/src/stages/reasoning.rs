//! Vectors of the reasons for contributions, and players grouped by them.

use std::collections::BTreeMap;

use crate::experiment::PublicGoods;
use crate::facts::Fact;
use crate::groups::mean;
use crate::origins::PlayerOrigins;
use crate::stage::Stage;
use retold::content::Content;
use retold::run::{DecisionRef, Reuse, Run, Stop};
use retold_stats::{Point, best_clustering, point};
use retold_study::floats::Floats;

/// The seed of K-means. Constant, because groups are a property of the vectors and not of the run's
/// seed.
const SEED: u64 = 42;

impl PublicGoods {
    /// Makes a vector of every reasoning; a player's position is the mean of their vectors.
    pub(in super::super) async fn group_by_reasoning(
        &self,
        run: &mut Run<Self>,
        origins: &PlayerOrigins,
    ) -> Result<(), Stop> {
        let (mut questions, mut turns) = (Vec::new(), Vec::new());
        for (turn, text) in &run.state().reasons {
            let Some(request) = self.config.embedding(text) else {
                return Ok(());
            };
            let vector = self.parsers.vector.clone();
            let question = Stage::Embedding.question(*turn, request?, vector)?;
            let because = origins.of_reasons(*turn);
            questions.push(question.because(because).reuse(Reuse::Shared));
            turns.push(*turn);
        }
        let answers = run.ask_all(questions).await?;
        let mut causes: Vec<DecisionRef> = Vec::new();
        for (turn, answer) in turns.into_iter().zip(answers) {
            // A missing vector does not affect the game that was played.
            let Ok(answer) = answer else { continue };
            if let Content::Vector(floats) = answer.content {
                let vector = Content::Vector(floats.clone()).hash();
                let dimensions = floats.len();
                let floats = Floats(floats);
                let fact = Fact::ReasoningEmbedded { turn, dimensions, vector, floats };
                run.record(fact, std::slice::from_ref(&answer.decision))?;
                causes.push(answer.decision);
            }
        }
        let mut points: BTreeMap<(u32, u32), Vec<Point>> = BTreeMap::new();
        for (turn, vector) in &run.state().vectors {
            points.entry((turn.game, turn.agent)).or_default().push(point(vector.floats()));
        }
        if points.is_empty() {
            return Ok(());
        }
        let (players, means): (Vec<(u32, u32)>, Vec<Point>) = points
            .into_iter()
            .filter_map(|(player, points)| Some((player, mean(&points)?)))
            .unzip();
        let config = &self.config.reasoning;
        let most = config.max_clusters as usize;
        let found = best_clustering(&means, config.algorithm, most, SEED);
        let players = players.into_iter().zip(found.labels);
        let groups = players.map(|((game, agent), label)| (game, agent, label)).collect();
        run.record(Fact::PlayersGrouped { groups, silhouette: found.score }, &causes)
    }
}
