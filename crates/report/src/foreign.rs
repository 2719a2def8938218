//! The plots of a run whose experiment is not at hand: one that was recorded from another program,
//! or imported. What can be plotted is what any run has: calls, tokens, latency and methods.

use std::collections::BTreeMap;

use retold_study::charts::{Chart, ChartAxis, ChartData};

use retold::percentile::nearest_rank;
use retold::totals::Counts;

use crate::summary::{RunSummary, methods};

/// The percentiles that are plotted.
const PERCENTILES: [u32; 10] = [1, 5, 10, 25, 50, 75, 90, 95, 99, 100];

/// Calls, tokens, latency and methods by kind of call; by model as well, where several models
/// answered.
pub fn charts(summary: &RunSummary) -> Vec<Chart> {
    let (kinds, models) = (&summary.figures.kinds, summary.models());
    let mut charts = vec![outcomes(kinds)];
    charts.extend(usage(kinds, "", "kind of call"));
    charts.extend(decisions(kinds, "", "kind of call"));
    if models.len() > 1 {
        let answers = models.iter().map(|(model, of)| (model.clone(), of.calls.answered as f64));
        charts.push(Chart {
            name: "calls_by_model".to_owned(),
            title: "Answers by model".to_owned(),
            data: ChartData::Bars { axis: "answers".to_owned(), bars: answers.collect() },
        });
        charts.extend(usage(&models, "_by_model", "model"));
        charts.extend(decisions(&models, "_by_model", "model"));
    }
    charts
}

/// How calls ended.
fn outcomes(kinds: &BTreeMap<String, Counts>) -> Chart {
    let bar = |(kind, of): (&String, &Counts)| {
        let ends = [of.calls.answered, of.calls.failed, of.calls.open];
        (kind.clone(), ends.map(|calls| calls as f64).to_vec())
    };
    Chart {
        name: "calls".to_owned(),
        title: "Calls by kind of call".to_owned(),
        data: ChartData::Stacked {
            axis: "calls".to_owned(),
            parts: ["answered", "failed", "without an answer"].map(str::to_owned).into(),
            bars: kinds.iter().map(bar).collect(),
        },
    }
}

/// Tokens and latency, as far as they were recorded.
fn usage(numbers: &BTreeMap<String, Counts>, by: &str, what: &str) -> Vec<Chart> {
    let mut charts = Vec::new();
    if numbers.values().any(|of| of.tokens.counted > 0) {
        // A group without counted tokens has no bar, rather than one of 0.
        let counted = numbers.iter().filter(|(_, of)| of.tokens.counted > 0);
        let bar = |(name, of): (&String, &Counts)| {
            let tokens = [of.tokens.prompt, of.tokens.completion];
            (name.clone(), tokens.map(|known| known.unwrap_or(0) as f64).to_vec())
        };
        charts.push(Chart {
            name: format!("tokens{by}"),
            title: format!("Tokens by {what}"),
            data: ChartData::Stacked {
                axis: "tokens".to_owned(),
                parts: ["in", "out"].map(str::to_owned).into(),
                bars: counted.map(bar).collect(),
            },
        });
    }
    let line = |(name, of): (&String, &Counts)| {
        let at =
            |percent: u32| Some((f64::from(percent), nearest_rank(&of.latencies, percent)? as f64));
        let points: Vec<(f64, f64)> = PERCENTILES.into_iter().filter_map(at).collect();
        (!points.is_empty()).then(|| (name.clone(), points))
    };
    let series: Vec<(String, Vec<(f64, f64)>)> = numbers.iter().filter_map(line).collect();
    if !series.is_empty() {
        charts.push(Chart {
            name: format!("latency{by}"),
            title: format!("Latency by {what}: the time that a share of the answers took at most"),
            data: ChartData::Lines {
                x: "percentile of the answers".to_owned(),
                y: ChartAxis::number("milliseconds"),
                series,
            },
        });
    }
    charts
}

/// How many decisions each method made.
fn decisions(numbers: &BTreeMap<String, Counts>, by: &str, what: &str) -> Option<Chart> {
    let bars = numbers.iter().flat_map(|(name, of)| {
        methods(&of.parsers).into_iter().map(move |((method, is_last_resort), decisions)| {
            let last = if is_last_resort { " (last resort)" } else { "" };
            (format!("{name}: {method}{last}"), decisions as f64)
        })
    });
    let bars: Vec<(String, f64)> = bars.collect();
    (!bars.is_empty()).then(|| Chart {
        name: format!("methods{by}"),
        title: format!("Decisions by {what} and method"),
        data: ChartData::Bars { axis: "decisions".to_owned(), bars },
    })
}
