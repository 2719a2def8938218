//! The society as tables for other programs. Days, agents, messages and proposals count from 1.

use std::collections::BTreeMap;

use super::agreement::{agreement, votes};
use super::context::kind_name;
use super::rejections::{REJECTION_COLUMNS, rejections};
use super::world::{RESOURCES, TurnCounts, World, name_of};
use retold::run::{OutputError, OutputFile, Report};
use retold_study::table::Table;

/// All files of a run: `summary.json`, and a table for each likely question.
pub(super) fn files(world: &World, report: &Report) -> Result<Vec<OutputFile>, OutputError> {
    let tables = [
        days(world),
        agents(world),
        proposals(world),
        posts(world),
        contacts(world),
        agreements(world),
        votes_by_personality(world),
        invalid(world),
    ];
    let mut files = vec![OutputFile::json("summary.json", &report.json)?];
    files.extend(tables.into_iter().map(OutputFile::from));
    Ok(files)
}

/// The columns of [`turns`].
fn turn_names() -> [&'static str; 11] {
    TurnCounts::default().each().map(|(name, _)| name)
}

/// The number of turns of each kind.
fn turns(mut counts: TurnCounts) -> [String; 11] {
    counts.each().map(|(_, n)| n.to_string())
}

/// `days.csv`: resources, inequality, dormancy and activities at the end of each day, and the rejected actions.
fn days(world: &World) -> Table {
    let own = [
        "day", "active", "dormant", "food", "energy", "materials", "pool_food", "pool_energy",
        "pool_materials", "gini_food", "gini_energy", "gini_materials", "gini_all", "laws",
        "buildings",
    ];
    let mut table = Table::new("days", &[&own[..], &turn_names(), &REJECTION_COLUMNS].concat());
    for day in &world.days {
        let mut row = vec![day.day.to_string(), day.active.to_string(), day.dormant.to_string()];
        for stock in [&day.held, &day.pool] {
            row.extend(RESOURCES.map(|r| stock.amount(r).to_string()));
        }
        let gini = [day.gini_food, day.gini_energy, day.gini_materials, day.gini_all];
        row.extend(gini.map(|g| format!("{g:.6}")));
        row.extend([day.laws, day.buildings].map(|n| n.to_string()));
        row.extend(turns(day.did));
        row.extend(rejections(world, day.did.idle, |row| row.day == day.day));
        table.row(row);
    }
    table
}

/// `agents.csv`: each agent at the end, its total activities, and its rejected actions.
fn agents(world: &World) -> Table {
    let own = [
        "agent_id", "display_name", "personality", "model", "dormant", "times_dormant",
        "days_dormant", "food", "energy", "materials",
    ];
    let mut table = Table::new("agents", &[&own[..], &turn_names(), &REJECTION_COLUMNS].concat());
    for (id, agent) in &world.agents {
        let stock = world.books.agent(*id);
        let mut row = vec![
            id.to_string(),
            world.name(*id),
            agent.personality.name().to_owned(),
            agent.model.clone(),
            agent.dormant.to_string(),
            agent.times_dormant.to_string(),
            agent.days_dormant.to_string(),
        ];
        row.extend(RESOURCES.map(|r| stock.amount(r).to_string()));
        row.extend(turns(agent.did));
        row.extend(rejections(world, agent.did.idle, |row| row.agent_id == *id));
        table.row(row);
    }
    table
}

/// `proposals.csv`: all proposals and their outcomes; those with `law` true are laws.
fn proposals(world: &World) -> Table {
    let mut table = Table::new(
        "proposals",
        &[
            "proposal_id", "agent_id", "day", "last_day", "type", "title", "description", "yes",
            "no", "abstain", "passed", "law", "carried_out",
        ],
    );
    for (id, proposal) in world.numbered_proposals() {
        let (yes, no, abstain) = proposal.tally();
        table.row([
            id.to_string(),
            proposal.agent_id.to_string(),
            proposal.day.to_string(),
            proposal.last_day.to_string(),
            kind_name(proposal.kind).to_owned(),
            proposal.title.clone(),
            proposal.description.clone(),
            yes.to_string(),
            no.to_string(),
            abstain.to_string(),
            proposal.passed.map_or_else(String::new, |passed| passed.to_string()),
            proposal.is_law().to_string(),
            proposal.done.to_string(),
        ]);
    }
    table
}

/// `posts.csv`: the forum.
fn posts(world: &World) -> Table {
    let columns = ["message_id", "agent_id", "day", "parent_message_id", "content"];
    let mut table = Table::new("posts", &columns);
    for (id, post) in (1_u32..).zip(&world.posts) {
        let parent = post.parent.map_or_else(String::new, |p| p.to_string());
        let (agent, day) = (post.agent_id.to_string(), post.day.to_string());
        table.row([id.to_string(), agent, day, parent, post.content.clone()]);
    }
    table
}

/// `contacts.csv`: which agents turned to which others, and how often.
fn contacts(world: &World) -> Table {
    let columns = ["from", "to", "messages", "replies", "mentions", "trades"];
    let mut table = Table::new("contacts", &columns);
    for ((from, to), c) in &world.contacts {
        table.row([*from, *to, c.messages, c.replies, c.mentions, c.trades].map(|n| n.to_string()));
    }
    table
}

/// `agreement.csv`: how similarly personalities vote.
fn agreements(world: &World) -> Table {
    let columns = ["personality", "other_personality", "pairs_of_votes", "same", "share"];
    let mut table = Table::new("agreement", &columns);
    for row in agreement(world) {
        let share = row.share().map_or_else(String::new, |share| format!("{share:.6}"));
        let (one, other) = (row.one.name().to_owned(), row.other.name().to_owned());
        table.row([one, other, row.pairs.to_string(), row.same.to_string(), share]);
    }
    table
}

/// `votes.csv`: yes and no votes of each personality on each proposal.
fn votes_by_personality(world: &World) -> Table {
    let mut table = Table::new("votes", &["proposal_id", "personality", "yes", "no"]);
    for (id, personality, yes, no) in votes(world).into_iter().filter(|(.., y, n)| y + n > 0) {
        table.row([id.to_string(), personality.name().to_owned(), yes.to_string(), no.to_string()]);
    }
    table
}

/// `invalid_actions.csv`: invalid actions, what rejected them, and why.
fn invalid(world: &World) -> Table {
    // Not recorded by `action@1`, the document's program.
    let has_actions = world.invalid.iter().any(|row| row.action.is_some());
    let columns: &[&str] = if has_actions {
        &["day", "agent_id", "rejected_by", "reason", "action"]
    } else {
        &["day", "agent_id", "rejected_by", "reason"]
    };
    let mut table = Table::new("invalid_actions", columns);
    for row in &world.invalid {
        let cells = [
            row.day.to_string(),
            row.agent_id.to_string(),
            row.rejected_by.to_owned(),
            row.reason.clone(),
        ];
        let action = row.action.as_ref().map_or_else(String::new, serde_json::Value::to_string);
        table.row(cells.into_iter().chain(has_actions.then_some(action)));
    }
    table
}

/// The amounts given at the start, produced, used, held by agents and in the pool, by resource.
pub(super) fn balance(world: &World) -> BTreeMap<&'static str, [f64; 5]> {
    let (books, held) = (&world.books, world.books.holdings());
    let stocks = [books.start(), books.production(), books.consumption(), held, books.pool()];
    let row = |r| stocks.map(|stock| stock.amount(r).number());
    RESOURCES.map(|r| (name_of(r), row(r))).into()
}
