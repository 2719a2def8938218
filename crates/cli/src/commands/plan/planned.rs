//! The requests and the cost of a run like a recorded or simulated one, and the widths of its intervals.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Args;
use crate::error::CliError;
use crate::global::Global;
use crate::model::kinds;
use crate::output::count_of;
use crate::select::RunSelection;
use crate::views::expected::intervals_text;
use crate::views::forecast::forecast_text;
use retold::escaping::printable;
use retold::model::{Price, Prices, ServiceTier};
use retold::run::{Forecast, ModelForecast};
use retold::totals::{Figures, PartFigures, Totals, dollars};
use retold_figures::{ExpectedInterval, FigureFinding, FigureTable};
use retold_study::config::{ApiKind, ModelKind};

/// The requests, the cost and the intervals of a run like another one.
pub(super) struct PlannedRun {
    calls: u64,
    /// The model whose price counts for all answers in text.
    priced_as: Option<String>,
    /// The model that is named, if no price of it is known.
    without_price: Option<String>,
    forecast: Forecast,
    /// The cost in each cheaper tier; `None` if a model is not sold in it.
    tiers: Vec<(ServiceTier, Option<f64>)>,
    intervals: Vec<ExpectedInterval>,
    /// What looks wrong with figures, each with its figure.
    findings: Vec<(String, FigureFinding)>,
    /// What has to be said of figures that count made-up verdicts.
    banner: Option<&'static str>,
}

/// The tiers that cost less than the usual one.
const TIERS: [ServiceTier; 2] = [ServiceTier::Flex, ServiceTier::Batch];

/// The price of the model that is named, which counts for all answers in text.
enum NamedPrice {
    /// A kind of model is named: each model that requests name has its own.
    Own,
    /// `None` if it is not known.
    OfModel(Option<Price>),
}

impl NamedPrice {
    /// # Errors
    /// A name that is neither a kind of model, nor a model of a known provider, nor one with a price.
    fn new(model: &str, prices: &Prices) -> Result<Self, CliError> {
        if ModelKind::from_name(model).is_some() {
            return Ok(NamedPrice::Own);
        }
        let (api, name) =
            ApiKind::in_name(model).map_or((None, model), |(api, name)| (Some(api), name));
        let price =
            prices.price(name, api.and_then(|api| api.access().provider.hosts().next())).cloned();
        if price.is_some() || name != model || ApiKind::of_model(name).is_some() {
            return Ok(NamedPrice::OfModel(price));
        }
        Err(CliError::usage(format!(
            "--model {model:?} is neither a kind of model nor a model with a price"
        ))
        .hint(format!("the kinds are {}", kinds()))
        .hint("give the prices of other models with --prices FILE"))
    }
}

impl PlannedRun {
    /// How many calls there are.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// Reads the run that the plan is made from; `tables` are its figures.
    pub(super) fn read(
        selected: &RunSelection,
        args: &Args,
        tables: &[FigureTable],
        prices: &Prices,
        global: &Global,
    ) -> Result<Self, CliError> {
        let mut reader = selected.checked_reader()?;
        let parsers = global.studies.parsers();
        let named = args.model.as_deref().map(|model| NamedPrice::new(model, prices));
        let (prices, is_known, is_unknown) = match named.transpose()? {
            Some(NamedPrice::OfModel(price)) => {
                let (is_known, is_unknown) = (price.is_some(), price.is_none());
                (prices.with_one_for_all(price), is_known, is_unknown)
            }
            Some(NamedPrice::Own) | None => (prices.clone(), false, false),
        };
        let totals = Totals::read(&mut reader, selected.run, &prices)?;
        let cost_in = |tier| -> Result<(ServiceTier, Option<f64>), CliError> {
            let mut reader = selected.checked_reader()?;
            let totals = Totals::read(&mut reader, selected.run, &prices.in_tier(tier))?;
            Ok((tier, complete(&totals.figures(parsers).all)))
        };
        let tiers = TIERS.map(cost_in).into_iter().collect::<Result<Vec<_>, CliError>>()?;
        let priced_as = args.model.clone().filter(|_| is_known);
        let without_price = args.model.clone().filter(|_| is_unknown);
        let figures = totals.figures(parsers);
        let intervals = tables.iter().flat_map(FigureTable::expected_intervals).collect();
        let finding = |table: &FigureTable| Some((table.title(), table.finding.clone()?));
        let findings = tables.iter().filter_map(finding).collect();
        let banner = tables.iter().find_map(FigureTable::banner);
        let calls = figures.all.counts.calls.asked;
        let forecast = forecast(&figures);
        Ok(PlannedRun {
            calls,
            priced_as,
            without_price,
            forecast,
            tiers,
            intervals,
            findings,
            banner,
        })
    }

    /// `answers` are those that the plan is made from.
    pub(super) fn text(&self, answers: &str) -> String {
        let calls = count_of(self.calls, "call");
        let priced = match (&self.priced_as, &self.without_price) {
            (Some(model), _) => format!(" (the price is that of {})", printable(model, 60)),
            (None, Some(model)) => format!(" (the price of {} is not known)", printable(model, 60)),
            (None, None) => String::new(),
        };
        let tokens = format!("tokens of the {answers} answers{priced}");
        let tokens = forecast_text(&self.forecast, &tokens) + &self.tiers_text();
        let banner = self.banner.map_or_else(String::new, |banner| format!("{banner}\n"));
        let intervals = intervals_text(&self.intervals, answers);
        let finding =
            |(figure, finding): &(String, FigureFinding)| format!("  {figure}: {finding}\n");
        let findings: String = self.findings.iter().map(finding).collect();
        format!("{calls} to ask\n{tokens}{banner}{intervals}{findings}")
    }

    /// The cost in each tier beside that of the usual one, if anything is sold in one.
    fn tiers_text(&self) -> String {
        let Some(usual) = self.forecast.cost else { return String::new() };
        let sold = self.tiers.iter().filter_map(|(tier, cost)| {
            let how = match tier {
                ServiceTier::Flex => {
                    "in flex, whose answers may take minutes (--set model.tier=flex)"
                }
                ServiceTier::Batch => {
                    "by batch, within a day for all that can be asked at the same time (--batch)"
                }
            };
            Some(format!("; {} {how}", dollars(Some((*cost)?))))
        });
        match sold.collect::<String>() {
            sold if sold.is_empty() => sold,
            sold => format!("  {} at once{sold}\n", dollars(Some(usual))),
        }
    }

    pub(super) fn json(&self) -> Value {
        let PlannedRun { calls, priced_as, forecast, tiers, intervals, findings, banner, .. } =
            self;
        let tiers: BTreeMap<&str, Option<f64>> =
            tiers.iter().map(|(tier, cost)| (tier.as_str(), *cost)).collect();
        let finding = |(figure, finding): &(String, FigureFinding)| json!({"figure": figure, "finding": finding});
        let findings: Vec<Value> = findings.iter().map(finding).collect();
        json!({"calls": calls, "priced_as": priced_as, "forecast": forecast, "tiers": tiers, "intervals": intervals,
            "findings": findings, "simulated_verdicts": banner.is_some()})
    }
}

/// What another run like this one would be asked for, as a forecast: also what this one shares with its parent or with other runs.
fn forecast(figures: &Figures) -> Forecast {
    let (cost, prices_taken) = (complete(&figures.all), figures.all.cost.prices_taken.clone());
    let mut all = Forecast { cost, prices_taken, ..Forecast::default() };
    for (name, of) in &figures.models {
        let model = ModelForecast {
            calls: of.counts.calls.asked,
            prompt_tokens: of.anew.prompt_tokens.unwrap_or(0),
            completion_tokens: of.anew.completion_tokens.unwrap_or(0),
            uncounted: of.anew.uncounted,
            cost: complete(of),
        };
        all.prompt_tokens += model.prompt_tokens;
        all.completion_tokens += model.completion_tokens;
        all.uncounted += model.uncounted;
        all.models.insert(name.clone(), model);
    }
    all
}

/// The cost of all answers; `None` if it is not known of some, or there are none.
fn complete(part: &PartFigures) -> Option<f64> {
    part.anew.dollars.filter(|_| part.anew.answers > 0)
}
