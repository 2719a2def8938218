//! The figures that the report leads with.

use super::world::World;
use retold_study::figures::{Draws, Figure, FigureKind};

/// Inequality and activity on the last day. One society is one draw, so there are no intervals.
pub(crate) fn figures(world: &World) -> Vec<Figure> {
    let Some((at, day)) = world.days.iter().enumerate().next_back() else { return Vec::new() };
    let figure = |name: &str, key: &str, value: f64| Figure {
        name: format!("{name} on day {}", day.day),
        pointer: format!("/days/{at}/{key}"),
        kind: FigureKind::Mean,
        draws: vec![Draws {
            lane: "society".to_owned(),
            cluster: "society".to_owned(),
            sum: value,
            count: 1,
        }],
    };
    vec![
        figure("Gini of all resources", "gini_all", day.gini_all),
        figure("active agents", "active", f64::from(day.active)),
        figure("dormant agents", "dormant", f64::from(day.dormant)),
    ]
}
