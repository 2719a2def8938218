//! What simulated agents do.

use serde_json::{Value, json};

use super::read::{Open, Situation};
use super::words;
use crate::Personality;
use retold::model::simulated::Dice;

/// What an agent that is not in need does, in percent: work, vote, post, reply, message, propose,
/// trade, name; idle for the rest.
fn habits(personality: Personality) -> [usize; 8] {
    match personality {
        Personality::Efficiency => [54, 28, 4, 3, 3, 3, 3, 1],
        Personality::Equality => [36, 30, 7, 4, 6, 3, 12, 1],
        Personality::Freedom => [42, 22, 12, 7, 6, 1, 4, 3],
        Personality::Stability => [42, 32, 4, 10, 6, 2, 2, 1],
        Personality::Neutral => [44, 28, 7, 6, 6, 2, 4, 1],
    }
}

/// The probability of a yes vote, in percent, by the type of the proposal.
fn leaning(personality: Personality, kind: &str) -> usize {
    let [law, allocation, rule, infrastructure, other] = match personality {
        Personality::Efficiency => [60, 30, 40, 90, 35],
        Personality::Equality => [60, 90, 60, 60, 50],
        Personality::Freedom => [15, 45, 10, 60, 40],
        Personality::Stability => [65, 35, 70, 40, 25],
        Personality::Neutral => [55, 55, 50, 60, 50],
    };
    match kind {
        "law" => law,
        "allocation" => allocation,
        "rule" => rule,
        "infrastructure" => infrastructure,
        _ => other,
    }
}

/// An action, as the prompt asks for it.
pub(super) fn decide(s: &Situation, dice: &mut Dice) -> Value {
    if s.food.min(s.energy) < 2.0 {
        return match dice.below(10) {
            0 => json!({"action": "forum_post", "content": words::plea(s)}),
            _ => work(s, dice),
        };
    }
    let mut drawn = dice.below(100);
    let kinds = [work, vote, post, reply, message, propose, trade, name];
    for (share, act) in habits(s.personality).into_iter().zip(kinds) {
        match drawn.checked_sub(share) {
            Some(left) => drawn = left,
            None => return act(s, dice),
        }
    }
    json!({"action": "idle", "reasoning": "Nothing needs me today."})
}

fn work(s: &Situation, dice: &mut Dice) -> Value {
    let plenty = s.food > 6.0 && s.energy > 6.0;
    // An agent with equal amounts of both tosses a coin; otherwise all would farm on the first day.
    let hungry = s.food < s.energy || (s.food <= s.energy && dice.chance(0.5));
    let kind = match (plenty, hungry) {
        (true, _) if dice.chance(0.5) => "gather",
        (_, true) if !s.no_land => "farm",
        _ => "generate",
    };
    let hours = match s.personality {
        Personality::Efficiency => 8,
        _ => 4 + dice.below(5),
    };
    json!({"action": "work", "work_type": kind, "hours": hours})
}

fn vote(s: &Situation, dice: &mut Dice) -> Value {
    // The newest, to avoid voting twice; occasionally any.
    let newest = s.proposals.iter().map(|p| p.days_left).max();
    let fresh: Vec<&Open> =
        s.proposals.iter().filter(|p| Some(p.days_left) == newest || dice.chance(0.1)).collect();
    let Some(open) = fresh.get(dice.below(fresh.len())) else {
        return if dice.chance(0.3) { propose(s, dice) } else { work(s, dice) };
    };
    let vote = match dice.below(100) {
        0..8 => "abstain",
        _ if dice.below(100) < leaning(s.personality, &open.kind) => "yes",
        _ => "no",
    };
    let reasoning = words::reason(s.personality, vote);
    json!({"action": "vote", "proposal_id": open.id, "vote": vote, "reasoning": reasoning})
}

fn post(s: &Situation, dice: &mut Dice) -> Value {
    json!({"action": "forum_post", "content": words::opinion(s, dice)})
}

fn reply(s: &Situation, dice: &mut Dice) -> Value {
    match s.posts.get(dice.below(s.posts.len())) {
        Some(id) => {
            let content = words::answer(s, dice);
            json!({"action": "forum_reply", "parent_message_id": id, "content": content})
        }
        None => post(s, dice),
    }
}

fn message(s: &Situation, dice: &mut Dice) -> Value {
    let to = other(s, &s.writers, dice);
    let content = words::letter(s, dice);
    json!({"action": "direct_message", "recipient_agent_id": to, "content": content})
}

fn propose(s: &Situation, dice: &mut Dice) -> Value {
    let kind = match s.personality {
        Personality::Efficiency => dice.pick(&["infrastructure", "infrastructure", "law", "rule"]),
        Personality::Equality => dice.pick(&["allocation", "allocation", "law", "rule"]),
        Personality::Freedom => dice.pick(&["other", "infrastructure"]),
        Personality::Stability => dice.pick(&["rule", "law", "other"]),
        Personality::Neutral => {
            dice.pick(&["law", "allocation", "rule", "infrastructure", "other"])
        }
    };
    let (title, description) = words::proposal(s, kind, dice);
    json!({
        "action": "create_proposal", "title": title, "description": description,
        "proposal_type": kind,
    })
}

fn trade(s: &Situation, dice: &mut Dice) -> Value {
    let asked: Vec<&(u32, &str)> = s.pleas.iter().filter(|(who, _)| *who != s.id).collect();
    let (to, what) = match asked.get(dice.below(asked.len())) {
        Some((who, what)) => (*who, *what),
        None => (other(s, &s.writers, dice), dice.pick(&["food", "energy", "materials"])),
    };
    let has = match what {
        "food" => s.food,
        "energy" => s.energy,
        _ => s.materials,
    };
    let amount = match dice.below(10) {
        0 => (has + 5.0).floor(),
        _ => (has / 4.0).floor().max(1.0),
    };
    json!({"action": "trade", "recipient_agent_id": to, "resource_type": what, "amount": amount})
}

fn name(s: &Situation, dice: &mut Dice) -> Value {
    if s.named {
        post(s, dice)
    } else {
        json!({"action": "set_name", "display_name": words::name(s, dice)})
    }
}

/// Another agent: one of some, or anyone.
fn other(s: &Situation, some: &[u32], dice: &mut Dice) -> u32 {
    if let Some(id) = some.get(dice.below(some.len())) {
        return *id;
    }
    let others = s.agents.saturating_sub(1).max(1);
    let drawn = u32::try_from(dice.below(others as usize)).unwrap_or(0) + 1;
    if drawn >= s.id { drawn + 1 } else { drawn }
}
