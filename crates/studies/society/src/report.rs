//! Reports the state, for people and programs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::agreement::{Agreement, agreement};
use super::context::kind_name;
use super::outputs::balance;
use super::personality::Personality;
use super::world::{TurnCounts, World};
use retold::escaping::printable;
use retold::run::Report;

/// How many laws are listed for people; all of them are in the JSON.
const LISTED: usize = 10;

/// The report.
pub(super) fn report(world: &World) -> Report {
    let agreements = agreement(world);
    Report { json: json(world, &agreements), text: text(world, &agreements), ..Report::default() }
}

/// What all agents did, over all days.
fn all(world: &World) -> TurnCounts {
    let mut sum = TurnCounts::default();
    for mut did in world.agents.values().map(|agent| agent.did) {
        for ((_, all), (_, own)) in sum.each().into_iter().zip(did.each()) {
            *all += *own;
        }
    }
    sum
}

fn json(world: &World, agreements: &[Agreement]) -> Value {
    let balance: serde_json::Map<String, Value> = balance(world)
        .into_iter()
        .map(|(name, [start, produced, used, held, pool])| {
            let row = json!({
                "start": start, "produced": produced, "used": used, "held": held, "pool": pool,
            });
            (name.to_owned(), row)
        })
        .collect();
    let laws: Vec<Value> = world
        .laws()
        .map(|(id, p)| {
            let kind = kind_name(p.kind);
            json!({"proposal_id": id, "type": kind, "title": p.title, "since_day": p.closed_on})
        })
        .collect();
    let agreement: Vec<Value> = agreements
        .iter()
        .map(|a| {
            json!({
                "personality": a.one, "other": a.other, "pairs": a.pairs, "share": a.share(),
            })
        })
        .collect();
    let passed = world.proposals.iter().filter(|p| p.passed == Some(true)).count();
    json!({
        "agents": world.agents.len(),
        "days": world.days,
        "did": all(world),
        "resources": balance,
        "proposals": world.proposals.len(),
        "proposals_passed": passed,
        "laws": laws,
        "buildings": world.buildings(),
        "agreement": agreement,
        "conserved": world.breaches.is_empty(),
        "breaches": world.breaches.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

fn text(world: &World, agreements: &[Agreement]) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let (agents, active) = (world.agents.len(), world.active().count());
    let _ = writeln!(
        text,
        "{agents} agents after day {}: {active} active, {} dormant",
        world.day,
        agents - active
    );
    let _ = writeln!(
        text,
        "\n{:<10}{:>12}{:>12}{:>12}{:>12}{:>12}",
        "", "start", "produced", "used", "held", "pool"
    );
    for (name, row) in balance(world) {
        let _ = write!(text, "{name:<10}");
        for number in row {
            let _ = write!(text, "{number:>12.1}");
        }
        text.push('\n');
    }
    days(world, &mut text);
    let did = all(world);
    let _ = writeln!(
        text,
        "\nturns: {} work, {} posts, {} replies, {} messages, {} votes, {} proposals, {} trades, \
         {} names, {} idle",
        did.work,
        did.posts,
        did.replies,
        did.messages,
        did.votes,
        did.proposals,
        did.trades,
        did.names,
        did.idle
    );
    let by = |who: &str| world.invalid.iter().filter(|i| i.rejected_by == who).count();
    let _ = writeln!(
        text,
        "invalid actions: {} ({} by the parser, {} by the world); calls that failed: {}",
        did.invalid,
        by("parser"),
        by("world"),
        did.unanswered
    );
    laws(world, &mut text);
    matrix(agreements, &mut text);
    match world.breaches.first() {
        None => text.push_str("\nresources are conserved: start + produced = used + held + pool\n"),
        Some(first) => {
            let count = world.breaches.len();
            let _ = writeln!(text, "\n{count} facts cannot have happened, the first: {first}");
        }
    }
    text
}

/// Resources, dormancy and inequality on the first and last day and on a few days in between.
fn days(world: &World, text: &mut String) {
    let step = world.days.len().div_ceil(8).max(1);
    let last = world.days.len().saturating_sub(1);
    let _ = writeln!(
        text,
        "\n{:>4}{:>9}{:>9}{:>10}{:>10}{:>10}{:>8}",
        "day", "active", "dormant", "food", "energy", "materials", "Gini"
    );
    for (at, day) in world.days.iter().enumerate() {
        if at % step != 0 && at != last {
            continue;
        }
        let _ = writeln!(
            text,
            "{:>4}{:>9}{:>9}{:>10.1}{:>10.1}{:>10.1}{:>8.3}",
            day.day,
            day.active,
            day.dormant,
            day.held.food.number(),
            day.held.energy.number(),
            day.held.materials.number(),
            day.gini_all
        );
    }
}

fn laws(world: &World, text: &mut String) {
    let passed = world.proposals.iter().filter(|p| p.passed == Some(true)).count();
    let laws: Vec<_> = world.laws().collect();
    let _ = writeln!(
        text,
        "proposals: {}, {passed} passed; {} laws in force, {} buildings",
        world.proposals.len(),
        laws.len(),
        world.buildings()
    );
    for (id, law) in laws.iter().take(LISTED) {
        let since = law.closed_on.unwrap_or(0);
        let _ = writeln!(text, "  [{id}] {} (since day {since})", printable(&law.title, 60));
    }
    if laws.len() > LISTED {
        let _ = writeln!(text, "  and {} more", laws.len() - LISTED);
    }
}

fn matrix(agreements: &[Agreement], text: &mut String) {
    let _ = write!(text, "\nsame votes, % {:<3}", "");
    for personality in Personality::ALL {
        let _ = write!(text, "{:>12}", personality.name());
    }
    text.push('\n');
    for one in Personality::ALL {
        let _ = write!(text, "{:<16}", one.name());
        for other in Personality::ALL {
            let row = agreements
                .iter()
                .find(|a| (a.one, a.other) == (one, other) || (a.one, a.other) == (other, one));
            let cell = match row.and_then(Agreement::share) {
                Some(share) => format!("{:.0}", share * 100.0),
                None => "-".to_owned(),
            };
            let _ = write!(text, "{cell:>12}");
        }
        text.push('\n');
    }
}
