//! The plots of a run whose experiment is not at hand: one that was recorded from another program,
//! or imported. What can be plotted is what any run has: calls, tokens, latency and methods.

use std::collections::BTreeMap;

use retold_study::charts::{Chart, ChartData};

use crate::summary::{CallNumbers, Methods, Summary};

/// The percentiles that are plotted.
const PERCENTILES: [u32; 10] = [1, 5, 10, 25, 50, 75, 90, 95, 99, 100];

/// Calls, tokens, latency and methods by kind of call; by model as well, where several models
/// answered.
pub fn charts(summary: &Summary) -> Vec<Chart> {
    let Summary { calls, models, methods, methods_by_model, .. } = summary;
    let mut charts = vec![outcomes(calls)];
    charts.extend(usage(calls, "", "kind of call"));
    charts.extend(decisions(methods, "", "kind of call"));
    if models.len() > 1 {
        let answers = models.iter().map(|(model, of)| (model.clone(), of.answered as f64));
        charts.push(Chart {
            name: "calls_by_model".to_owned(),
            title: "Answers by model".to_owned(),
            data: ChartData::Bars { axis: "answers".to_owned(), bars: answers.collect() },
        });
        charts.extend(usage(models, "_by_model", "model"));
        charts.extend(decisions(methods_by_model, "_by_model", "model"));
    }
    charts
}

/// How calls ended.
fn outcomes(calls: &BTreeMap<String, CallNumbers>) -> Chart {
    let bar = |(kind, of): (&String, &CallNumbers)| {
        let open = of.asked.saturating_sub(of.answered + of.failed);
        (kind.clone(), vec![of.answered as f64, of.failed as f64, open as f64])
    };
    Chart {
        name: "calls".to_owned(),
        title: "Calls by kind of call".to_owned(),
        data: ChartData::Stacked {
            axis: "calls".to_owned(),
            parts: ["answered", "failed", "without an answer"].map(str::to_owned).into(),
            bars: calls.iter().map(bar).collect(),
        },
    }
}

/// Tokens and latency, as far as they were recorded.
fn usage(numbers: &BTreeMap<String, CallNumbers>, by: &str, what: &str) -> Vec<Chart> {
    let mut charts = Vec::new();
    if numbers.values().any(|of| of.prompt_tokens + of.completion_tokens > 0) {
        let bar = |(name, of): (&String, &CallNumbers)| {
            (name.clone(), vec![of.prompt_tokens as f64, of.completion_tokens as f64])
        };
        charts.push(Chart {
            name: format!("tokens{by}"),
            title: format!("Tokens by {what}"),
            data: ChartData::Stacked {
                axis: "tokens".to_owned(),
                parts: ["in", "out"].map(str::to_owned).into(),
                bars: numbers.iter().map(bar).collect(),
            },
        });
    }
    let line = |(name, of): (&String, &CallNumbers)| {
        let at = |percent: u32| Some((f64::from(percent), of.latency(percent)? as f64));
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
                y: "milliseconds".to_owned(),
                series,
            },
        });
    }
    charts
}

/// How many decisions each method made.
fn decisions(methods: &BTreeMap<String, Methods>, by: &str, what: &str) -> Option<Chart> {
    let bars = methods.iter().flat_map(|(name, methods)| {
        methods.iter().map(move |(method, count)| {
            let last = if count.is_last_resort { " (last resort)" } else { "" };
            (format!("{name}: {method}{last}"), count.decisions as f64)
        })
    });
    let bars: Vec<(String, f64)> = bars.collect();
    (!bars.is_empty()).then(|| Chart {
        name: format!("methods{by}"),
        title: format!("Decisions by {what} and method"),
        data: ChartData::Bars { axis: "decisions".to_owned(), bars },
    })
}
