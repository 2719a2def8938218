//! The choice of the view that a participant is confronted with.
//!
//! Each method is one file and one line of [`METHODS`].

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

/// The measure of the methods that compare vectors.
pub(crate) const COSINE: &str = "cosine distance";

/// All methods.
pub static METHODS: &[&dyn Method] = &[
    &embedding::Embedding,
    &llm_judge::LlmJudge,
    &predefined::PredefinedOpposition,
    &highest_voted::HighestVoted,
    &cluster_embedding::ClusterEmbedding,
];

/// The method with a name.
pub fn method(name: &str) -> Option<&'static dyn Method> {
    METHODS.iter().copied().find(|method| method.name() == name)
}

/// A way to find the opposing view. Pure: any questions are asked by the experiment.
pub trait Method: Send + Sync {
    /// The spelling in the config.
    fn name(&self) -> &'static str;

    /// The opposing view, or `None` if this method finds none; then [`highest_voted`] decides.
    /// Never the participant's own choice.
    fn choose(&self, who: &Position, scene: &Scene) -> Option<OpposingView>;

    /// The possibilities among which it takes the one with the greatest value, in the order in which it
    /// looks at them: for audits.
    fn candidates(&self, who: &Position, scene: &Scene) -> Vec<ConsideredView> {
        let _ = (who, scene);
        Vec::new()
    }

    /// The name of the measured values of the possibilities, if it measures any.
    fn measure(&self) -> Option<&'static str> {
        None
    }

    /// Whose vectors it compares with the participant's: what its choice is based on, for audits.
    fn compares(&self) -> Compares {
        Compares::Nothing
    }
}

/// A possible opposing view.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsideredView {
    /// The option.
    pub option: String,
    /// The participant whose summary stands for it, where single summaries are compared.
    pub participant: Option<String>,
    /// The measured value: the greatest is chosen, and of equal ones the first.
    pub value: f64,
}

/// Whose vectors a method compares with the participant's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compares {
    /// Nobody's.
    Nothing,
    /// Those of other participants.
    Participants,
    /// Those of groups.
    Groups,
}

/// A method's result.
#[derive(Debug, Clone, PartialEq)]
pub enum OpposingView {
    /// The option.
    Option(String),
    /// The model must judge, based on a [`sample`] of these positions of others.
    Ask(Vec<Position>),
}

/// A participant's position.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Position {
    /// `p_0001`.
    pub participant_id: String,
    /// The vote.
    pub choice: String,
    /// The reasons, in short.
    pub summary: Option<String>,
    /// The vector of the summary.
    pub embedding: Option<Point>,
}

/// A group of similar reasons for an option.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReasonGroup {
    /// The option.
    pub option: String,
    /// The vector of the group's description.
    pub embedding: Point,
    /// The number of members.
    pub members: usize,
}

/// Everything that a method may use.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scene {
    /// The options, in the config's order.
    pub options: Vec<String>,
    /// All participants who have voted and not failed, in the order of their ids.
    pub positions: Vec<Position>,
    /// The groups of all options.
    pub groups: Vec<ReasonGroup>,
    /// Which option opposes which, if the config defines it.
    pub mapping: BTreeMap<String, String>,
}

impl Scene {
    /// The others, who chose a different option.
    fn opponents<'a>(&'a self, who: &'a Position) -> impl Iterator<Item = &'a Position> {
        let other = move |p: &&Position| p.participant_id != who.participant_id;
        self.positions.iter().filter(other).filter(move |p| p.choice != who.choice)
    }
}

/// The option of the possibility with the greatest value; in a tie, the first.
fn greatest(considered: Vec<ConsideredView>) -> Option<String> {
    let mut best: Option<ConsideredView> = None;
    for view in considered {
        if best.as_ref().is_none_or(|most| view.value > most.value) {
            best = Some(view);
        }
    }
    best.map(|view| view.option)
}
