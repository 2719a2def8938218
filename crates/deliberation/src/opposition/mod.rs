//! Which view a participant is confronted with.
//!
//! A method is one file and one line of [`METHODS`].

mod cluster_embedding;
mod embedding;
mod highest_voted;
mod llm_judge;
mod predefined;

use std::collections::BTreeMap;

use retold_stats::Point;

pub use highest_voted::highest_voted;
pub use llm_judge::sample;

/// The method that needs a mapping in the config.
pub const PREDEFINED: &str = "predefined";

/// All methods.
pub static METHODS: &[&dyn Method] = &[
    &embedding::Embedding,
    &llm_judge::LlmJudge,
    &predefined::Predefined,
    &highest_voted::HighestVoted,
    &cluster_embedding::ClusterEmbedding,
];

/// The method of a name.
pub fn method(name: &str) -> Option<&'static dyn Method> {
    METHODS.iter().copied().find(|method| method.name() == name)
}

/// A way to find the opposing view. Pure: who has to be asked is asked by the experiment.
pub trait Method: Send + Sync {
    /// As the config spells it.
    fn name(&self) -> &'static str;

    /// The opposing view; `None` if this method finds none, which leaves it to [`highest_voted`].
    /// Never the participant's own choice.
    fn choose(&self, who: &Position, scene: &Scene) -> Option<Choice>;

    /// Whose vectors it compares with the participant's: what its choice rests on, for audits.
    fn compares(&self) -> Compares {
        Compares::Nothing
    }
}

/// Whose vectors a method compares with the participant's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compares {
    /// None.
    Nothing,
    /// Those of the other participants.
    Participants,
    /// Those of the groups.
    Groups,
}

/// What a method found.
#[derive(Debug, Clone, PartialEq)]
pub enum Choice {
    /// The option.
    Option(String),
    /// The model is to judge, given a [`sample`] of these positions of others.
    Ask(Vec<Position>),
}

/// Where a participant stands.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Position {
    /// `p_0001`.
    pub participant_id: String,
    /// The vote.
    pub choice: String,
    /// Why, in short.
    pub summary: Option<String>,
    /// The vector of the summary.
    pub embedding: Option<Point>,
}

/// A group of like reasons for an option.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Group {
    /// The option.
    pub option: String,
    /// The vector of the group's description.
    pub embedding: Point,
    /// How many are in it.
    pub members: usize,
}

/// All that a method may look at.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scene {
    /// The options, in the config's order.
    pub options: Vec<String>,
    /// Everyone who has voted and not failed, in the order of their ids.
    pub positions: Vec<Position>,
    /// The groups of all options.
    pub groups: Vec<Group>,
    /// Which option opposes which, if the config says so.
    pub mapping: BTreeMap<String, String>,
}

impl Scene {
    /// The others who chose something else.
    fn opponents<'a>(&'a self, who: &'a Position) -> impl Iterator<Item = &'a Position> {
        let other = move |p: &&Position| p.participant_id != who.participant_id;
        self.positions.iter().filter(other).filter(move |p| p.choice != who.choice)
    }
}

/// Of things with a distance, the first that is farthest.
fn farthest<T>(things: impl Iterator<Item = (T, f64)>) -> Option<T> {
    let mut best: Option<(T, f64)> = None;
    for (thing, distance) in things {
        if best.as_ref().is_none_or(|(_, most)| distance > *most) {
            best = Some((thing, distance));
        }
    }
    best.map(|(thing, _)| thing)
}
