//! What an agent is shown before it acts: the document's context template, in parts.

use serde_json::json;

use super::config::ContextConfig;
use super::prompts::SocietyPrompts;
use super::world::{NewsKind, Proposal, Stock, World, name_of};
use crate::parse::ProposalType;
use retold_study::template::TemplateError;

/// What all agents of a day are shown.
pub(super) struct DayBriefing {
    forum: String,
    world: String,
}

impl DayBriefing {
    /// The shared parts, for the current world.
    pub(super) fn new(
        world: &World,
        prompts: &SocietyPrompts,
        config: &ContextConfig,
    ) -> Result<Self, TemplateError> {
        let forum = json!({
            "posts_most": config.posts,
            "posts": lines(posts(world, config.posts)),
            "proposals_count": world.open().count(),
            "proposals": lines(proposals(world)),
        });
        let active = world.active().count();
        let about = json!({
            "laws_count": world.laws().count(),
            "laws": lines(laws(world)),
            "total": amounts(&world.books.total()),
            "pool": amounts(&world.books.pool()),
            "active": active,
            "agents": world.agents.len(),
            "dormant": world.agents.len() - active,
        });
        Ok(DayBriefing {
            forum: prompts.fill("context_forum", forum)?,
            world: prompts.fill("context_world", about)?,
        })
    }

    /// The context of an agent, in the parts of the template.
    pub(super) fn for_agent(
        &self,
        world: &World,
        agent: u32,
        prompts: &SocietyPrompts,
        config: &ContextConfig,
    ) -> Result<Vec<String>, TemplateError> {
        let has = world.books.agent(agent);
        let dormant = world.agents.get(&agent).is_some_and(|a| a.dormant);
        let status = json!({
            "day_number": world.day,
            "agent_id": agent,
            "display_name": world.name(agent),
            "status": if dormant { "dormant" } else { "active" },
            "food": has.food.to_string(),
            "energy": has.energy.to_string(),
            "materials": has.materials.to_string(),
        });
        let events = json!({"events": lines(events(world, agent, config.events))});
        Ok(vec![
            prompts.fill("context_status", status)?,
            self.forum.clone(),
            prompts.fill("context_events", events)?,
            self.world.clone(),
        ])
    }
}

fn amounts(stock: &Stock) -> serde_json::Value {
    json!({
        "food": stock.food.to_string(),
        "energy": stock.energy.to_string(),
        "materials": stock.materials.to_string(),
    })
}

/// A list in the prompt.
fn lines(lines: Vec<String>) -> String {
    if lines.is_empty() {
        return "- (none)".to_owned();
    }
    lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n")
}

/// The last posts, newest last: number, author, day and text.
fn posts(world: &World, most: usize) -> Vec<String> {
    let from = world.posts.len().saturating_sub(most);
    (1_usize..)
        .zip(&world.posts)
        .skip(from)
        .map(|(id, post)| {
            let who = world.name(post.agent_id);
            let reply = post.parent.map_or_else(String::new, |p| format!(", in reply to [{p}]"));
            format!("[{id}] {who} (Day {}{reply}): {}", post.day, post.content)
        })
        .collect()
}

fn proposals(world: &World) -> Vec<String> {
    let line = |id, p: &Proposal| {
        let (yes, no, abstain) = p.tally();
        let left = p.last_day.saturating_sub(world.day) + 1;
        let days = if left == 1 { "last day".to_owned() } else { format!("{left} days left") };
        let (title, who, kind) = (&p.title, world.name(p.agent_id), kind_name(p.kind));
        format!("[{id}] {title} ({kind}) by {who}: {yes} yes, {no} no, {abstain} abstain; {days}")
    };
    world.open().map(|(id, p)| line(id, p)).collect()
}

fn laws(world: &World) -> Vec<String> {
    let day = |closed: Option<u32>| closed.unwrap_or(0);
    world
        .laws()
        .map(|(id, p)| format!("[{id}] {} (since Day {})", p.title, day(p.closed_on)))
        .collect()
}

/// The type of a proposal in the spelling of actions.
pub(super) fn kind_name(kind: ProposalType) -> &'static str {
    match kind {
        ProposalType::Law => "law",
        ProposalType::Allocation => "allocation",
        ProposalType::Rule => "rule",
        ProposalType::Infrastructure => "infrastructure",
        ProposalType::Other => "other",
    }
}

/// Everything that concerns an agent and has not been shown to it before, newest last.
fn events(world: &World, agent: u32, most: usize) -> Vec<String> {
    let Some(agent) = world.agents.get(&agent) else { return Vec::new() };
    let from = agent.news.len().saturating_sub(most);
    let news = agent.news.iter().skip(from);
    news.map(|news| format!("Day {}: {}", news.day, news_text(world, &news.what))).collect()
}

fn news_text(world: &World, what: &NewsKind) -> String {
    let title = |id: u32| world.proposal(id).map_or("", |p| p.title.as_str());
    match what {
        NewsKind::Received { from, resource, amount } => {
            format!("{} gave you {amount} {}", world.name(*from), name_of(*resource))
        }
        NewsKind::Shared { proposal, food, energy } => {
            format!("allocation [{proposal}] gave you {food} food and {energy} energy")
        }
        NewsKind::Messaged { from, content } => {
            format!("{} (#{from}) wrote to you: {content}", world.name(*from))
        }
        NewsKind::Replied { from, message, parent } => {
            format!("{} replied to your post [{parent}] in [{message}]", world.name(*from))
        }
        NewsKind::Mentioned { from, message } => {
            format!("{} mentioned you in [{message}]", world.name(*from))
        }
        NewsKind::Decided { proposal, passed } => {
            let how = if *passed { "passed" } else { "did not pass" };
            format!("proposal [{proposal}] {} {how}", title(*proposal))
        }
        NewsKind::Built { proposal } => format!("your [{proposal}] {} was built", title(*proposal)),
        NewsKind::Rejected { reason } => format!("your action was rejected: {reason}"),
        NewsKind::Slept => "you went dormant, for want of food or energy".to_owned(),
        NewsKind::Woke => "you are active again".to_owned(),
    }
}
