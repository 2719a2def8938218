//! A public goods game that is killed (SIGKILL) continues as if nothing had happened.

use retold::model::simulated::{Misbehaviour, SimulatedModel};
use retold_public_goods::SimulatedPlayers;

use super::runs::{games, trouble};
use crate::support::child;
use crate::support::kills::{Killed, begin};

/// Long enough for several kills.
const LONG: [&str; 2] = ["games=4", "game_length=4"];

fn killed() -> Killed {
    Killed {
        experiment: games("public_goods_small.yaml", &LONG),
        model: |misbehaviour| SimulatedModel::new(7, misbehaviour, Box::new(SimulatedPlayers)),
        trouble: Misbehaviour { rate_limited: 0.05, failure: 0.02, ..trouble() },
        child: "public_goods::crash::child",
        targets: &[10, 80, 130, 190],
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
fn a_killed_public_goods_game_continues() {
    killed().continues();
}
