//! What several tests of the society need.

use std::path::Path;
use std::sync::Arc;

use crate::support::program::{build, study};
use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold::run::AnyExperiment;
use retold_society::SimulatedSociety;
use retold_study::study::Study;

/// The experiment of one of our configs, with some settings changed.
pub(crate) fn society(config: &str, overrides: &[&str]) -> Box<dyn AnyExperiment> {
    let path = Path::new(env!("RETOLD_ROOT")).join("config").join(config);
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    let Study { settings, .. } = study(&path, None, &overrides).unwrap();
    build("society", &settings.experiment).unwrap()
}

/// Simulated agents.
pub(crate) fn model(misbehaviour: Misbehaviour) -> Arc<SimulatedModel> {
    Arc::new(SimulatedModel::new(7, misbehaviour, Box::new(SimulatedSociety)))
}

/// A fifth of the answers malformed, one call in twenty failing, one attempt in twenty
/// rate-limited.
pub(crate) fn trouble() -> Misbehaviour {
    Misbehaviour { malformed: 0.2, rate_limited: 0.05, failure: 0.05, ..Misbehaviour::default() }
}
