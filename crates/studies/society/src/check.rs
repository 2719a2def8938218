//! Finds invalid values in settings.

use super::ModelShare;
use super::settings::Settings;
use super::world::Amount;
use retold_study::config::{ConfigProblem, figure, within};

/// The first invalid value.
pub(super) fn check(settings: &Settings) -> Result<(), ConfigProblem> {
    let Settings { agents, personalities, models, rules, context, .. } = settings;
    let wrong = |key: &str, message: String| Err(ConfigProblem::new(key, message));
    if !(2..=10_000).contains(agents) {
        return wrong("agents", format!("a society has 2 to 10000 agents, not {agents}"));
    }
    within(&[("days", Some(settings.days.into()), 1.0, 1e4)])?;
    let shares =
        personalities.iter().map(|(p, share)| (format!("personalities.{}", p.name()), *share));
    add_up("personalities", &shares.collect::<Vec<_>>())?;
    // Checked before the models, which are the request's if the config names no others.
    settings.request.check()?;
    let share = |(at, m): (usize, &ModelShare)| (format!("models[{at}].share"), m.share);
    add_up("models", &models.iter().enumerate().map(share).collect::<Vec<_>>())?;
    if let Some(at) = models.iter().position(|m| m.model.trim().is_empty()) {
        return wrong(&format!("models[{at}].model"), "the name of the model is empty".to_owned());
    }
    let shares = [
        ("rules.pool_share", rules.pool_share),
        ("rules.proposals.quorum", rules.proposals.quorum),
    ];
    for (key, share) in shares {
        if share > Amount::ONE {
            return wrong(key, format!("must be from 0 to 1, not {share}"));
        }
    }
    within(&[
        ("rules.proposals.days", Some(rules.proposals.days.into()), 1.0, 1e4),
        ("rules.proposals.open_per_agent", Some(rules.proposals.open_per_agent.into()), 1.0, 1e4),
        ("rules.allocation_days", Some(rules.allocation_days.into()), 0.0, 1e4),
    ])?;
    let amounts = [
        ("rules.yields.farm", rules.yields.farm),
        ("rules.yields.generate", rules.yields.generate),
        ("rules.yields.gather", rules.yields.gather),
        ("rules.infrastructure.bonus", rules.infrastructure.bonus),
    ];
    for (key, amount) in amounts {
        if amount > Amount::whole(1000) {
            return wrong(key, format!("must be at most 1000, not {amount}"));
        }
    }
    for (key, count) in [("context.posts", context.posts), ("context.events", context.events)] {
        if count > 1000 {
            return wrong(key, format!("must be at most 1000, not {count}"));
        }
    }
    Ok(())
}

/// Shares must be from 0 to 1 and add up to 1.
fn add_up(key: &str, shares: &[(String, f64)]) -> Result<(), ConfigProblem> {
    if let Some((key, share)) = shares.iter().find(|(_, share)| !(0.0..=1.0).contains(share)) {
        return Err(ConfigProblem::new(
            key,
            format!("must be from 0 to 1, not {}", figure(*share)),
        ));
    }
    if shares.is_empty() {
        let message = "there are no shares in it: name some that add up to 1, or leave the key out";
        return Err(ConfigProblem::new(key, message));
    }
    let sum: f64 = shares.iter().map(|(_, share)| share).sum();
    if (sum - 1.0).abs() > 1e-6 {
        return Err(ConfigProblem::new(
            key,
            format!("the shares add up to {}, not 1", figure(sum)),
        ));
    }
    Ok(())
}
