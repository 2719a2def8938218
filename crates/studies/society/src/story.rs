//! An agent's whole story: its personality, and for each day its actions, the actions of others
//! towards it, and its holdings at the end.

use serde::Deserialize;
use serde_json::json;

use super::facts::{Fact, Rejecter};
use super::rules::product;
use super::world::{Agent, Stock, World, name_of};
use retold::id::CallPath;
use retold::run::{OutputError, Report, RunRecord};
use retold_study::story::{Chapter, StoryStatement, is_numbered, no_part, tell, text};

/// The story of an agent: `agent/12`, or its chosen name. `None` if this is not the name of an
/// agent.
pub(super) fn story(
    world: &World,
    part: &str,
    record: &mut RunRecord<'_>,
) -> Result<Option<Report>, OutputError> {
    let Some((id, agent)) = find(world, part) else {
        if !is_numbered(part, "agent/") {
            return Ok(None);
        }
        let agents = world.agents.keys().map(|id| format!("agent/{id}"));
        return Err(no_part(record, part.replace('/', " "), agents));
    };
    let mut chapters = Vec::new();
    let mut then = World::default();
    for (number, (fact, place)) in record.facts.iter().zip(&record.places).enumerate() {
        let fact =
            Fact::deserialize(fact).map_err(|e| OutputError::Fact { number, source: e.into() })?;
        then.apply(&fact);
        if let Some(chapter) = chapter(&then, id, fact) {
            chapters.push((place.seq, chapter));
        }
    }
    let own = id.to_string();
    let about = |call: &CallPath| call.as_str().rsplit('/').next() == Some(&own);
    let told = tell(record, chapters, &about)?;
    let holdings = world.books.agent(id);
    let json = json!({
        "agent_id": id,
        "name": agent.name,
        "personality": agent.personality.name(),
        "model": agent.model,
        "dormant": agent.dormant,
        "days_dormant": agent.days_dormant,
        "times_dormant": agent.times_dormant,
        "holdings": holdings,
        "did": agent.did,
        "story": told,
    });
    let name = agent.name.as_ref().map_or_else(String::new, |name| format!("  {name}"));
    let mut said = format!("agent {id}{name}  {}\n", agent.personality.name());
    let now = if agent.dormant { "dormant" } else { "active" };
    let Agent { days_dormant, times_dormant, .. } = agent;
    said.push_str(&format!(
        "  {now}; days dormant: {days_dormant}; fell dormant: {times_dormant}; has {}\n",
        amounts(&holdings)
    ));
    said.push_str(&text(&told));
    Ok(Some(Report { json, text: said, ..Report::default() }))
}

fn find<'a>(world: &'a World, part: &str) -> Option<(u32, &'a Agent)> {
    let number = part.strip_prefix("agent/").and_then(|number| number.parse().ok());
    let named = |(id, agent): (&u32, &Agent)| (agent.name.as_deref() == Some(part)).then_some(*id);
    let id: u32 = number.or_else(|| world.agents.iter().find_map(named))?;
    world.agents.get(&id).map(|agent| (id, agent))
}

/// The chapter of a fact about the agent, given the world after it; `None` if it is about others.
fn chapter(world: &World, id: u32, fact: Fact) -> Option<Chapter> {
    let day = world.day;
    let is = |agent: u32| agent == id;
    let call = || format!("day/{day}/agent/{id}");
    let name = |agent: u32| world.name(agent);
    let on = |what: &str, lines: Vec<StoryStatement>| {
        Some(Chapter { what: format!("day {day}: {what}"), lines })
    };
    let did = |what: &str, label: &str, said: String| {
        on(what, vec![StoryStatement::new(label, said, call())])
    };
    let told =
        |what: &str, label: &str, said: String| on(what, vec![StoryStatement::plain(label, said)]);
    match fact {
        Fact::AgentJoined { agent_id, personality, model } if is(agent_id) => {
            let lines = vec![
                StoryStatement::plain("personality", personality.name()),
                StoryStatement::plain("model", model),
                StoryStatement::plain("has", amounts(&world.books.agent(id))),
            ];
            Some(Chapter { what: "joined".to_owned(), lines })
        }
        Fact::ForumPosted { agent_id, content, message_id, .. } if is(agent_id) => {
            did(&format!("posted message {message_id}"), "said", content)
        }
        Fact::ForumReplied { agent_id, message_id, parent_message_id, content, .. }
            if is(agent_id) =>
        {
            let what = format!("answered message {parent_message_id} with {message_id}");
            did(&what, "said", content)
        }
        Fact::ForumReplied { agent_id, parent_message_id, content, .. }
            if world.post(parent_message_id).is_some_and(|post| is(post.agent_id)) =>
        {
            told(&format!("{} answered", name(agent_id)), "read", content)
        }
        Fact::ForumPosted { agent_id, content, mentions, .. }
        | Fact::ForumReplied { agent_id, content, mentions, .. }
            if mentions.contains(&id) =>
        {
            told(&format!("{} named it", name(agent_id)), "read", content)
        }
        Fact::MessageSent { agent_id, recipient_agent_id, content } if is(agent_id) => {
            did(&format!("wrote to {}", name(recipient_agent_id)), "said", content)
        }
        Fact::MessageSent { agent_id, recipient_agent_id, content } if is(recipient_agent_id) => {
            told(&format!("{} wrote", name(agent_id)), "read", content)
        }
        Fact::ProposalCreated { agent_id, proposal_id, title, description, .. } if is(agent_id) => {
            let lines = vec![
                StoryStatement::plain("title", title),
                StoryStatement::new("description", description, call()),
            ];
            on(&format!("made proposal {proposal_id}"), lines)
        }
        Fact::VoteCast { agent_id, proposal_id, vote } if is(agent_id) => {
            let vote = json!(vote).as_str().unwrap_or("").to_owned();
            did(&format!("voted on proposal {proposal_id}"), "vote", vote)
        }
        Fact::Worked { agent_id, work_type, hours, kept, pooled } if is(agent_id) => {
            let resource = name_of(product(work_type));
            let said = format!("{kept} {resource} kept, {pooled} for the pool");
            did(&format!("worked {hours} hours"), "brought", said)
        }
        Fact::Traded { agent_id, recipient_agent_id, resource_type, amount } => {
            let said = format!("{amount} {}", name_of(resource_type));
            if is(agent_id) {
                did(&format!("gave to {}", name(recipient_agent_id)), "gave", said)
            } else if is(recipient_agent_id) {
                told(&format!("{} gave", name(agent_id)), "got", said)
            } else {
                None
            }
        }
        Fact::NameTaken { agent_id, display_name } if is(agent_id) => {
            did("took a name", "name", display_name)
        }
        Fact::Idled { agent_id } if is(agent_id) => did("did nothing", "action", "idle".to_owned()),
        Fact::InvalidAction { agent_id, rejected_by, reason, action } if is(agent_id) => {
            let by = match rejected_by {
                Rejecter::Parser => "the parser",
                Rejecter::World => "the world",
            };
            let mut lines = vec![StoryStatement::unused("reason", reason, call())];
            let action = action.as_ref().map(|action| action.to_string());
            lines.extend(action.map(|action| StoryStatement::unused("action", action, call())));
            on(&format!("an action that {by} rejected"), lines)
        }
        Fact::NotAnswered { agent_id, reason } if is(agent_id) => {
            on("no answer", vec![StoryStatement::unused("reason", reason, call())])
        }
        Fact::PoolShared { proposal_id, agent_id, food, energy } if is(agent_id) => {
            let said = format!("{food} food, {energy} energy");
            told(&format!("given from the pool by proposal {proposal_id}"), "got", said)
        }
        Fact::Woke { agent_id } if is(agent_id) => on("woke", Vec::new()),
        Fact::WentDormant { agent_id } if is(agent_id) => on("went dormant", Vec::new()),
        Fact::DayEnded { .. } => {
            let dormant = world.agents.get(&id).is_some_and(|agent| agent.dormant);
            let state = if dormant { "dormant" } else { "active" };
            told(&format!("ended, {state}"), "has", amounts(&world.books.agent(id)))
        }
        _ => None,
    }
}

fn amounts(stock: &Stock) -> String {
    let Stock { food, energy, materials } = stock;
    format!("{food} food, {energy} energy, {materials} materials")
}
