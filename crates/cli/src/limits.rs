//! The limits of a run, as flags.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::CliError;
use retold::model::{Limits, PriceFile, Prices, WrongPrice};
use retold::run::Budget;
use retold_study::config::{ConfigError, load, read_text};

/// The prices built into this release.
const KNOWN: &str = include_str!("../../../config/prices.yaml");

/// What stops a run early, or makes a finished run a failure. Each flag overrides the config.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// How many calls may be in flight at once.
    #[arg(long, value_name = "N")]
    concurrency: Option<usize>,
    /// Stop (the run can be resumed) after this many consecutive connection failures over all calls
    /// [default: 20].
    #[arg(long, value_name = "N")]
    max_connection_failures: Option<u32>,
    /// Exit with 4 if more than this share of a finished run's calls have failed, or of its parts, such as participants: 0
    /// for any, 1 for never [default: 0.1, and never for a simulated model].
    #[arg(long, value_name = "SHARE")]
    max_failed: Option<f64>,
    #[command(flatten)]
    pub(crate) budget: BudgetArgs,
}

/// What a run may use.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct BudgetArgs {
    /// Stop (the run can be resumed) once the run has used this many tokens, including earlier
    /// executions. Calls that are in flight at that point are still recorded.
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Stop (the run can be resumed) once the run has cost this many US dollars, counted as for
    /// --max-tokens.
    #[arg(long, value_name = "DOLLARS")]
    max_cost: Option<f64>,
    /// The prices for --max-cost: a file like config/prices.yaml, used instead of the built-in
    /// prices.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
}

impl LimitArgs {
    /// What is left for each of several runs: what they may use together is the limit of the command.
    pub(crate) fn of_each(&self) -> Self {
        let budget = BudgetArgs { max_tokens: None, max_cost: None, ..self.budget.clone() };
        LimitArgs { budget, ..self.clone() }
    }

    /// The limits of the config with the flags applied.
    pub(crate) fn apply(&self, limits: &mut Limits) {
        let &LimitArgs { concurrency, max_connection_failures, max_failed, ref budget } = self;
        limits.concurrency = concurrency.unwrap_or(limits.concurrency);
        limits.max_connection_failures =
            max_connection_failures.unwrap_or(limits.max_connection_failures);
        limits.max_failed = max_failed.or(limits.max_failed);
        budget.apply(limits);
    }
}

impl BudgetArgs {
    fn apply(&self, limits: &mut Limits) {
        limits.max_tokens = self.max_tokens.or(limits.max_tokens);
        limits.max_cost = self.max_cost.or(limits.max_cost);
    }

    /// The prices of tokens.
    pub(crate) fn prices(&self) -> Result<Prices, CliError> {
        prices(self.prices.as_deref())
    }

    /// What several runs may use together, if it is limited.
    pub(crate) fn shared_budget(&self) -> Result<Option<Arc<Budget>>, CliError> {
        match (self.max_tokens, self.max_cost) {
            (None, None) => Ok(None),
            _ => Ok(Some(Arc::new(self.budget()?))),
        }
    }

    /// The budget of a run that has no other limits.
    pub(crate) fn budget(&self) -> Result<Budget, CliError> {
        let mut limits = Limits::default();
        self.apply(&mut limits);
        limits.check().map_err(|wrong| CliError::usage(wrong.to_string()))?;
        Ok(Budget::new(&limits, self.prices()?))
    }
}

/// The prices of tokens: from a file, or built in.
pub(crate) fn prices(file: Option<&Path>) -> Result<Prices, CliError> {
    let known = Path::new("config/prices.yaml");
    let prices: PriceFile = match file {
        Some(path) => load(path, &read_text(path)?)?,
        None => {
            let text = KNOWN.lines().filter(|line| !line.starts_with('#')).collect::<String>();
            serde_json::from_str(&text)
                .map_err(|error| CliError::usage(format!("{}: {error}", known.display())))?
        }
    };
    let prices = Prices::from(prices);
    let Some(WrongPrice { key, message }) = prices.wrong() else { return Ok(prices) };
    let path = file.unwrap_or(known).display().to_string();
    Err(ConfigError::Value { path, key, message }.into())
}

#[cfg(test)]
mod tests {
    use retold::model::{Bill, Order};

    use super::*;

    /// Prices of the providers' own pages, on the day that the file names.
    #[test]
    fn the_prices_that_come_along_are_those_of_the_providers() {
        let prices = BudgetArgs::default().prices().unwrap();
        assert_eq!(prices.taken(), Some("2026-11-30"));
        assert!(prices.names() > 1500, "{}", prices.names());
        let cost = |host: &str, model: &str, bill: Bill| {
            let host = Some(host.to_owned()).filter(|host| !host.is_empty());
            let order = Order { model: Some(model.to_owned()), host, ..Order::default() };
            prices.cost(&order, &bill)
        };
        let tokens = |prompt, completion| Bill { prompt, completion, ..Bill::default() };
        // 12 × $3 + 17,102 × $3.75 + 150 × $15 per million.
        let written = Bill { written: 17_102, ..tokens(17_114, 150) };
        assert_eq!(cost("api.anthropic.com", "claude-sonnet-4-5", written), Some(0.066_418_5));
        // $3 and $15; above 200,000 tokens $6 and $22.50.
        let sonnet = |prompt| cost("", "claude-sonnet-4-5-20250929", tokens(prompt, 1000));
        assert_eq!([sonnet(200_000), sonnet(200_001)], [Some(0.615), Some(1.222_506)]);
        // $2.50 and $10; in a batch half of it, with priority $4.25 and $17.
        let of_tier = |tier: &str| {
            let service = Some(tier.to_owned());
            cost("api.openai.com", "gpt-4o", Bill { service, ..tokens(1_000_000, 100_000) })
        };
        let tiers = ["default", "batch", "priority"].map(of_tier);
        assert_eq!(tiers, [Some(3.5), Some(1.75), Some(5.95)]);
        // One model at three hosts.
        let llama = |host, model| cost(host, model, tokens(1_000_000, 0));
        assert_eq!(llama("api.groq.com", "llama-3.3-70b-versatile"), Some(0.59));
        assert_eq!(llama("api.cerebras.ai", "llama-3.3-70b"), Some(0.85));
        assert_eq!(llama("api.openai.com", "llama-3.3-70b-versatile"), None);
        assert_eq!(llama("ollama", "deepseek-r1:8b"), None, "on one's own machine");
    }
}
