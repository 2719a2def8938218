//! The limits of a run, as flags.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::CliError;
use retold::model::{Limits, Prices};
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
    let prices: Prices = match file {
        Some(path) => load(path, &read_text(path)?)?,
        None => load(known, KNOWN)?,
    };
    let Some((model, price)) = prices.wrong() else { return Ok(prices) };
    let path = file.unwrap_or(known).display().to_string();
    let message = format!("a price is from 0 to 1000000 dollars, not {price}");
    Err(ConfigError::Value { path, key: format!("models.{model}"), message }.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prices_that_come_along_can_be_read() {
        let prices = BudgetArgs::default().prices().unwrap();
        assert!(prices.models.len() > 5, "{prices:?}");
    }
}
