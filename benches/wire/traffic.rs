//! Requests per second and added latency.

use std::time::Duration;

use crate::client::{Seen, ask, requests};
use crate::proxy::bare_proxy;
use crate::recorded::{bare, recorder, replayer};

const ROUNDS: usize = 5;

/// Connections, how many requests are sent over all of them, and how often each sends one if that
/// is not as often as it can. Latencies at full load are mostly time in queues: one at a rate that
/// leaves the machine room says what a program notices.
const SIZES: [(usize, usize, Option<Duration>); 5] = [
    (1, 3000, None),
    (64, 20_000, None),
    (256, 20_000, None),
    (64, 5000, Some(Duration::from_millis(64))),
    (64, 20_000, Some(Duration::from_millis(16))),
];

/// What one round saw.
struct Round {
    bare: Seen,
    proxy: Seen,
    keeping: Seen,
    record: Seen,
    replay: Seen,
}

/// Measures at all sizes, or at those with the given numbers of connections.
pub(crate) async fn measure(wanted: &[usize]) {
    println!(
        "| connections | | requests/s | of bare axum | p50 µs | p99 µs | added p50 | added p99 |\n|---|---|---|---|---|---|---|---|"
    );
    for (connections, count, every) in SIZES {
        if !wanted.is_empty() && !wanted.contains(&connections) {
            continue;
        }
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(round(connections, count, every).await);
        }
        let load = match every {
            None => connections.to_string(),
            Some(every) => {
                format!("{connections}, {:.0}/s", connections as f64 / every.as_secs_f64())
            }
        };
        row(&load, "bare axum", &rounds, |round| &round.bare);
        row(&load, "bare proxy", &rounds, |round| &round.proxy);
        row(&load, "bare proxy, durable rows", &rounds, |round| &round.keeping);
        row(&load, "record", &rounds, |round| &round.record);
        row(&load, "replay", &rounds, |round| &round.replay);
    }
}

/// Only replays, in more rounds: for a profile, or a closer look at the ratio.
pub(crate) async fn measure_replay(wanted: &[usize]) {
    println!("| connections | replay/s | of bare axum |\n|---|---|---|");
    for (connections, count, every) in SIZES {
        if every.is_some() || !(wanted.is_empty() || wanted.contains(&connections)) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("retold.db");
        let requests = requests("/openai", count);
        let upstream = bare().await;
        let recorder = recorder(&log, upstream).await;
        ask(recorder.address, &requests, connections, None).await;
        recorder.end().await;
        let (mut rates, mut ratios) = (Vec::new(), Vec::new());
        for _ in 0..4 * ROUNDS {
            let bare = ask(upstream, &requests, connections, None).await;
            let replayer = replayer(&log).await;
            let replay = ask(replayer.address, &requests, connections, None).await;
            replayer.end().await;
            rates.push(replay.rate());
            ratios.push(replay.rate() / bare.rate());
        }
        let (rate, ratio) = (middle(rates), middle(ratios));
        println!("| {connections} | {rate:.0} | {ratio:.2} |");
    }
}

/// Only recording at full load beside the least that a durable proxy does: for a profile, or a closer look.
pub(crate) async fn measure_record(wanted: &[usize]) {
    println!(
        "| connections | record/s | of the proxy | p99 µs | of the proxy's |\n|---|---|---|---|---|"
    );
    for (connections, count, every) in SIZES {
        if every.is_some() || !(wanted.is_empty() || wanted.contains(&connections)) {
            continue;
        }
        let requests = requests("/openai", count);
        let upstream = bare().await;
        let mut rounds = Vec::new();
        for _ in 0..2 * ROUNDS {
            let folder = tempfile::tempdir().unwrap();
            let proxy = bare_proxy(upstream, Some(&folder.path().join("rows.db"))).await;
            let proxy = ask(proxy, &requests, connections, None).await;
            let recorder = recorder(&folder.path().join("retold.db"), upstream).await;
            let record = ask(recorder.address, &requests, connections, None).await;
            recorder.end().await;
            rounds.push((proxy, record));
        }
        let of = |value: &dyn Fn(&(Seen, Seen)) -> f64| middle(rounds.iter().map(value).collect());
        println!(
            "| {connections} | {:.0} | {:.2} | {:.0} | {:.2} |",
            of(&|(_, record)| record.rate()),
            of(&|(proxy, record)| record.rate() / proxy.rate()),
            of(&|(_, record)| record.percentile(99)),
            of(&|(proxy, record)| record.percentile(99) / proxy.percentile(99)),
        );
    }
}

fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

async fn round(connections: usize, count: usize, every: Option<Duration>) -> Round {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("retold.db");
    let requests = requests("/openai", count);
    let upstream = bare().await;
    let bare = ask(upstream, &requests, connections, every).await;
    let proxy = bare_proxy(upstream, None).await;
    let proxy = ask(proxy, &requests, connections, every).await;
    let keeping = bare_proxy(upstream, Some(&folder.path().join("rows.db"))).await;
    let keeping = ask(keeping, &requests, connections, every).await;
    let recorder = recorder(&log, upstream).await;
    let record = ask(recorder.address, &requests, connections, every).await;
    recorder.end().await;
    let replayer = replayer(&log).await;
    let replay = ask(replayer.address, &requests, connections, every).await;
    replayer.end().await;
    Round { bare, proxy, keeping, record, replay }
}

fn row(load: &str, name: &str, rounds: &[Round], of: impl Fn(&Round) -> &Seen) {
    let middle = |value: &dyn Fn(&Round) -> f64| middle(rounds.iter().map(value).collect());
    let added =
        |percent| middle(&|round| of(round).percentile(percent) - round.bare.percentile(percent));
    println!(
        "| {load} | {name} | {:.0} | {:.2} | {:.0} | {:.0} | {:.0} | {:.0} |",
        middle(&|round| of(round).rate()),
        middle(&|round| of(round).rate() / round.bare.rate()),
        middle(&|round| of(round).percentile(50)),
        middle(&|round| of(round).percentile(99)),
        added(50),
        added(99),
    );
}
