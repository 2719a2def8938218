//! The plots of a report.

use super::world::World;
use retold_study::charts::{Chart, ChartAxis, ChartData};

/// Resources and inequality by day, and who wrote to whom.
pub(crate) fn charts(world: &World) -> Vec<Chart> {
    let line = |name: &str, of: &dyn Fn(&super::world::DayFigures) -> f64| {
        let points = world.days.iter().map(|day| (f64::from(day.day), of(day))).collect();
        (name.to_owned(), points)
    };
    let by_day = |name: &str, title: &str, y: &str, series| Chart {
        name: name.to_owned(),
        title: title.to_owned(),
        data: ChartData::Lines { x: "day".to_owned(), y: ChartAxis::number(y), series },
    };
    let resources = vec![
        line("food", &|day| day.held.food.number()),
        line("energy", &|day| day.held.energy.number()),
        line("materials", &|day| day.held.materials.number()),
    ];
    let gini = vec![
        line("all resources", &|day| day.gini_all),
        line("food", &|day| day.gini_food),
        line("energy", &|day| day.gini_energy),
        line("materials", &|day| day.gini_materials),
    ];
    let mut charts = vec![
        by_day("resources_by_day", "What all agents have, by day", "units", resources),
        by_day("gini_by_day", "Inequality by day", "Gini coefficient", gini),
    ];
    let names: Vec<u32> = world.agents.keys().copied().collect();
    let place = |agent: u32| names.iter().position(|name| *name == agent);
    let cells: Vec<(usize, usize, f64)> = world
        .contacts
        .iter()
        .filter_map(|((from, to), contacts)| {
            let messages = f64::from(contacts.messages);
            (messages > 0.0).then_some((place(*from)?, place(*to)?, messages))
        })
        .collect();
    if !cells.is_empty() {
        let names: Vec<String> = names.iter().map(|agent| format!("agent {agent}")).collect();
        let (from, to) = ("sender".to_owned(), "recipient".to_owned());
        charts.push(Chart {
            name: "message_graph".to_owned(),
            title: "Who writes to whom".to_owned(),
            data: ChartData::Graph {
                from: from.clone(),
                to: to.clone(),
                names: names.clone(),
                links: cells.clone(),
            },
        });
        charts.push(Chart {
            name: "messages".to_owned(),
            title: "Messages between agents".to_owned(),
            data: ChartData::Matrix { from, to, names, cells },
        });
    }
    charts
}
