//! Vectors of the reasons for contributions, and players grouped by them.

use std::collections::BTreeMap;

use crate::content::Content;
use crate::experiments::public_goods::ask::Stage;
use crate::experiments::public_goods::experiment::PublicGoods;
use crate::experiments::public_goods::facts::{Fact, Turn};
use crate::experiments::public_goods::groups::mean;
use crate::id::CallPath;
use crate::run::{DecisionRef, Question, Reuse, Run, Stop};
use crate::stats::{Point, best_clustering, point};

/// The seed of K-means. Fixed: groups are a property of the vectors, not of the run's seed.
const SEED: u64 = 42;

/// What a player thought before contributing.
pub(in super::super) struct Reasons {
    pub(super) turn: Turn,
    pub(super) text: String,
    /// The decision that it belongs to.
    pub(super) because: Option<DecisionRef>,
}

impl PublicGoods {
    /// Makes a vector of every reasoning; a player is where the mean of their vectors lies.
    pub(in super::super) async fn group_by_reasoning(
        &self,
        run: &mut Run<Self>,
        reasons: Vec<Reasons>,
    ) -> Result<(), Stop> {
        let (mut questions, mut turns) = (Vec::new(), Vec::new());
        for Reasons { turn, text, because } in
            reasons.iter().filter(|reasons| !reasons.text.is_empty())
        {
            let Some(request) = self.config.embedding(text) else {
                return Ok(());
            };
            let call = CallPath::new(Stage::Embedding.call(*turn))?;
            let question = Question::new(call, request?, self.parsers.vector.clone());
            questions.push(question.because(because).reuse(Reuse::Shared));
            turns.push(*turn);
        }
        let answers = run.ask_all(questions).await?;
        let mut points: BTreeMap<(u32, u32), Vec<Point>> = BTreeMap::new();
        let mut causes: Vec<DecisionRef> = Vec::new();
        for (turn, answer) in turns.into_iter().zip(answers) {
            // A reasoning without a vector takes nothing from the game that was played.
            let Ok(answer) = answer else { continue };
            if let Content::Vector(vector) = answer.content {
                points.entry((turn.game, turn.agent)).or_default().push(point(&vector));
                let content = Content::Vector(vector);
                let (dimensions, vector) = (content.bytes().len() / 4, content.hash());
                let fact = Fact::ReasoningEmbedded { turn, dimensions, vector };
                run.record(fact, std::slice::from_ref(&answer.decision))?;
                causes.push(answer.decision);
            }
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
