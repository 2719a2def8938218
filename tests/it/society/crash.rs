//! A society that is killed (SIGKILL) continues as if nothing had happened.

use retold::model::simulated::SimulatedModel;
use retold_society::SimulatedSociety;

use super::support::{society, trouble};
use crate::support::child;
use crate::support::kills::{Killed, begin};

fn killed() -> Killed {
    Killed {
        // Long enough for several kills.
        experiment: society("society.yaml", &["days=8"]),
        model: |misbehaviour| SimulatedModel::new(7, misbehaviour, Box::new(SimulatedSociety)),
        trouble: trouble(),
        child: "society::crash::child",
        targets: &[90, 250, 420],
    }
}

/// What the process to be killed does.
#[test]
fn child() {
    if let Some(task) = child::task() {
        begin(&killed(), &task);
    }
}

#[test]
fn a_killed_society_continues() {
    killed().continues();
}
