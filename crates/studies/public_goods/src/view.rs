//! A player's view: values for the templates, without anything that the settings hide.
//!
//! - Every player sees the messages of a round, the total of its contributions, the public fund and
//!   the share, their own outcome, and their own actions towards others.
//! - `peer_outcome_visibility`: each other player's contribution and earnings, and their actions
//!   towards each other. Contributions are always revealed to those who may punish or reward them.
//! - `actor_anonymity`: nobody sees who punished or rewarded, only the total.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::config::{Config, Horizon};
use super::rules::{GameRules, Incentive, IncentiveKind, Units};
use super::state::{Game, GameMessage, Round, RoundResult};
use super::words::{coins, number, units};

/// The game as one player sees it.
pub(super) struct PlayerView<'a> {
    pub(super) config: &'a Config,
    pub(super) rules: &'a GameRules,
    pub(super) game: &'a Game,
    pub(super) agent: u32,
}

impl PlayerView<'_> {
    /// The values of the rules' template.
    pub(super) fn rules(&self) -> Value {
        let PlayerView { config, rules, game, agent } = self;
        let incentives: Vec<Value> = rules.incentives.iter().map(incentive).collect();
        let known = config.horizon_knowledge == Horizon::Known;
        json!({
            "avatar": game.avatar(*agent),
            "group_size": config.group_size,
            "persona": config.own(*agent).and_then(|own| own.persona.as_ref()),
            "endowment": config.endowment,
            "framing": config.contribution_framing,
            "contribution_type": config.contribution_type,
            "multiplier": number(rules.multiplier, 4),
            "communication": config.communication_enabled,
            "incentives": incentives,
            "anonymous": config.actor_anonymity,
            "visible": config.peer_outcome_visibility,
            "rounds": known.then_some(config.game_length),
        })
    }

    /// The values of the history's template: every settled round.
    pub(super) fn history(&self) -> Value {
        let settled = self.game.rounds.iter().filter_map(|r| Some((r, r.settled.as_ref()?)));
        let rounds: Vec<Value> =
            settled.map(|(round, settled)| self.round(round, settled)).collect();
        json!({"history": rounds, "multiplier": number(self.rules.multiplier, 4)})
    }

    /// The values of the history's template for one settled round.
    pub(super) fn outcome(&self, round: u32) -> Option<Value> {
        let round = self.game.round(round)?;
        let round = self.round(round, round.settled.as_ref()?);
        Some(json!({"history": [round], "multiplier": number(self.rules.multiplier, 4)}))
    }

    /// `## Round 2 of 10:`, or without the number of rounds.
    pub(super) fn heading(&self, round: u32) -> String {
        match self.config.horizon_knowledge {
            Horizon::Known => format!("## Round {round} of {}:", self.config.game_length),
            Horizon::Unknown => format!("## Round {round}:"),
        }
    }

    /// The messages of a round, without silence.
    pub(super) fn messages(&self, round: u32) -> Vec<Value> {
        let round = self.game.round(round);
        let said = round.iter().flat_map(|r| &r.messages).filter(|m| !m.text.is_empty());
        said.map(
            |GameMessage { agent, text, .. }| json!({"avatar": self.game.avatar(*agent), "text": text}),
        )
        .collect()
    }

    /// The outcome that is revealed before a redistribution: the values of its template.
    pub(super) fn revealed_outcome(&self, round: &Round) -> Value {
        let rules = self.rules;
        let contributions: Vec<i64> = round.contributions.iter().map(|c| c.coins).collect();
        let own = round.contribution(self.agent).map_or(0, |c| c.coins);
        let others: Vec<_> = round.contributions.iter().filter(|c| c.agent != self.agent).collect();
        let order: Vec<&str> = others.iter().map(|c| self.game.avatar(c.agent)).collect();
        // The document's example, [0, 2, 1, 0], with the length of the requested array.
        let example: Vec<i64> = [0, 2, 1, 0].into_iter().cycle().take(others.len()).collect();
        let verbs: Vec<&str> = rules.incentives.iter().map(|i| verbs(i.kind).0).collect();
        json!({
            "verbs": verbs.join(" and "),
            "contributed": coins(own as f64),
            "others": others.iter().map(|c| json!({
                "avatar": self.game.avatar(c.agent),
                "contributed": coins(c.coins as f64),
            })).collect::<Vec<_>>(),
            "share": coins(rules.share(&contributions)),
            "budget": coins(rules.before_redistribution(own, &contributions)),
            "incentives": rules.incentives.iter().map(incentive).collect::<Vec<_>>(),
            "order": order.join(", "),
            "targets": others.len(),
            "example": json!(example).to_string().replace(',', ", "),
        })
    }

    fn round(&self, round: &Round, settled: &RoundResult) -> Value {
        let contributions: Vec<i64> = round.contributions.iter().map(|c| c.coins).collect();
        let payoff = |agent: u32| settled.payoffs.iter().find(|p| p.agent == agent);
        let own = payoff(self.agent);
        let others = round
            .contributions
            .iter()
            .filter(|c| self.config.peer_outcome_visibility && c.agent != self.agent);
        json!({
            "heading": self.heading(round.number),
            "messages": self.messages(round.number),
            "contributed": coins(round.contribution(self.agent).map_or(0.0, |c| c.coins as f64)),
            "total": coins(contributions.iter().sum::<i64>() as f64),
            "fund": coins(settled.public_fund),
            "share": coins(self.rules.share(&contributions)),
            "others": others.map(|c| json!({
                "avatar": self.game.avatar(c.agent),
                "contributed": coins(c.coins as f64),
                "earned": coins(payoff(c.agent).map_or(0.0, |p| p.coins)),
            })).collect::<Vec<_>>(),
            "acts": self.acts(round),
            "earned": coins(own.map_or(0.0, |p| p.coins)),
            "wallet": coins(own.map_or(0.0, |p| p.wallet)),
        })
    }

    /// Who punished or rewarded whom, as far as the player may know.
    fn acts(&self, round: &Round) -> Vec<Value> {
        let all: Vec<Units> = round.units().into_iter().filter(|u| u.actual > 0).collect();
        let mut acts = Vec::new();
        for incentive in &self.rules.incentives {
            let own = all.iter().filter(|u| u.actor == self.agent);
            acts.extend(own.map(|u| self.act(Some(u.actor), u.target, u.actual, incentive)));
            let others = all.iter().filter(|u| u.actor != self.agent);
            let seen =
                others.filter(|u| u.target == self.agent || self.config.peer_outcome_visibility);
            if !self.config.actor_anonymity {
                acts.extend(seen.map(|u| self.act(Some(u.actor), u.target, u.actual, incentive)));
                continue;
            }
            // The player's own actions are known to the player, and not part of the sum.
            let mut sums: BTreeMap<u32, i64> = BTreeMap::new();
            seen.for_each(|u| *sums.entry(u.target).or_default() += u.actual);
            acts.extend(sums.into_iter().map(|(to, units)| self.act(None, to, units, incentive)));
        }
        acts
    }

    fn act(&self, actor: Option<u32>, target: u32, count: i64, incentive: &Incentive) -> Value {
        let name = |agent: u32, own: &str| {
            let name = if agent == self.agent { own } else { self.game.avatar(agent) };
            name.to_owned()
        };
        let effect = incentive.effect(count);
        let cost = count as f64 * incentive.cost;
        let (_, past, changed) = verbs(incentive.kind);
        let target_name = name(target, "you");
        let mut text = format!("{target_name} {changed} {}", coins(effect.abs()));
        if actor == Some(self.agent) {
            text.push_str(&format!(", which cost you {}", coins(cost)));
        }
        json!({
            "actor": actor.map_or_else(|| "Others".to_owned(), |actor| name(actor, "You")),
            "verb": past,
            "target": target_name,
            "units": units(count),
            "effect": text,
        })
    }
}

/// The verbs for the action, in present and past, and for its effect.
fn verbs(kind: IncentiveKind) -> (&'static str, &'static str, &'static str) {
    match kind {
        IncentiveKind::Punishment => ("punish others", "punished", "lost"),
        IncentiveKind::Reward => ("reward others", "rewarded", "gained"),
    }
}

fn incentive(incentive: &Incentive) -> Value {
    json!({
        "kind": incentive.kind,
        "cost": coins(incentive.cost),
        "impact": coins(incentive.impact),
    })
}
