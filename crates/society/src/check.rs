//! What in a config makes no sense.

use super::config::Config;
use super::experiment::version;
use super::world::Amount;
use retold_study::config::figure;

/// The first thing that makes no sense: the key, and what is wrong.
pub(super) fn check(config: &Config) -> Result<(), (String, String)> {
    let wrong = |key: &str, message: String| Err((key.to_owned(), message));
    if !(2..=10_000).contains(&config.agents) {
        return wrong("agents", format!("a society has 2 to 10000 agents, not {}", config.agents));
    }
    if !(1..=10_000).contains(&config.days) {
        return wrong("days", format!("from 1 to 10000, not {}", config.days));
    }
    let shares: Vec<(String, f64)> = config
        .personalities
        .iter()
        .map(|(p, share)| (format!("personalities.{}", p.name()), *share))
        .collect();
    add_up("personalities", &shares)?;
    if !config.models.is_empty() {
        let share = |(at, m): (usize, &super::ModelShare)| (format!("models[{at}].share"), m.share);
        add_up("models", &config.models.iter().enumerate().map(share).collect::<Vec<_>>())?;
    }
    if let Some(at) = config.models.iter().position(|m| m.model.trim().is_empty()) {
        return wrong(&format!("models[{at}].model"), "the name of the model is empty".to_owned());
    }
    if let Err(e) = version(&config.parser) {
        return wrong("parser", e);
    }
    let rules = &config.rules;
    let shares = [
        ("rules.pool_share", rules.pool_share),
        ("rules.proposals.quorum", rules.proposals.quorum),
    ];
    for (key, share) in shares {
        if share > Amount::ONE {
            return wrong(key, format!("a share is from 0 to 1, not {share}"));
        }
    }
    let counts = [
        ("rules.proposals.days", rules.proposals.days, 1),
        ("rules.proposals.open_per_agent", rules.proposals.open_per_agent, 1),
        ("rules.allocation_days", rules.allocation_days, 0),
    ];
    for (key, count, least) in counts {
        if !(least..=10_000).contains(&count) {
            return wrong(key, format!("from {least} to 10000, not {count}"));
        }
    }
    let amounts = [
        ("rules.yields.farm", rules.yields.farm),
        ("rules.yields.generate", rules.yields.generate),
        ("rules.yields.gather", rules.yields.gather),
        ("rules.infrastructure.bonus", rules.infrastructure.bonus),
    ];
    for (key, amount) in amounts {
        if amount > Amount::whole(1000) {
            return wrong(key, format!("at most 1000, not {amount}"));
        }
    }
    for (key, count) in
        [("context.posts", config.context.posts), ("context.events", config.context.events)]
    {
        if count > 1000 {
            return wrong(key, format!("at most 1000, not {count}"));
        }
    }
    config.request.check()
}

/// Shares are from 0 to 1 and make 1.
fn add_up(key: &str, shares: &[(String, f64)]) -> Result<(), (String, String)> {
    if let Some((key, share)) = shares.iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
        return Err((key.clone(), format!("a share is from 0 to 1, not {}", figure(*share))));
    }
    if shares.is_empty() {
        let message = "there are no shares in it: name some that add up to 1, or leave the key out";
        return Err((key.to_owned(), message.to_owned()));
    }
    let sum: f64 = shares.iter().map(|(_, share)| share).sum();
    if (sum - 1.0).abs() > 1e-6 {
        return Err((key.to_owned(), format!("the shares add up to {}, not 1", figure(sum))));
    }
    Ok(())
}
