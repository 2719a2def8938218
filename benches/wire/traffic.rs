//! Requests per second and added latency.

use crate::client::{Seen, ask, requests};
use crate::recorded::{bare, recorder, replayer};

const ROUNDS: usize = 5;

/// Connections, and how many requests are sent over all of them.
const SIZES: [(usize, usize); 3] = [(1, 3000), (64, 20_000), (256, 20_000)];

/// What one round saw.
struct Round {
    bare: Seen,
    record: Seen,
    replay: Seen,
}

pub(crate) async fn measure() {
    println!(
        "| connections | | requests/s | of bare axum | p50 µs | p99 µs | added p50 | added p99 |\n|---|---|---|---|---|---|---|---|"
    );
    for (connections, count) in SIZES {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            rounds.push(round(connections, count).await);
        }
        row(connections, "bare axum", &rounds, |round| &round.bare);
        row(connections, "record", &rounds, |round| &round.record);
        row(connections, "replay", &rounds, |round| &round.replay);
    }
}

async fn round(connections: usize, count: usize) -> Round {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("retold.db");
    let requests = requests("/openai", count);
    let upstream = bare().await;
    let bare = ask(upstream, &requests, connections).await;
    let recorder = recorder(&log, upstream).await;
    let record = ask(recorder.address, &requests, connections).await;
    recorder.end().await;
    let replayer = replayer(&log).await;
    let replay = ask(replayer.address, &requests, connections).await;
    replayer.end().await;
    Round { bare, record, replay }
}

fn row(connections: usize, name: &str, rounds: &[Round], of: impl Fn(&Round) -> &Seen) {
    let middle = |value: &dyn Fn(&Round) -> f64| {
        let mut values: Vec<f64> = rounds.iter().map(value).collect();
        values.sort_unstable_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let added =
        |percent| middle(&|round| of(round).percentile(percent) - round.bare.percentile(percent));
    println!(
        "| {connections} | {name} | {:.0} | {:.2} | {:.0} | {:.0} | {:.0} | {:.0} |",
        middle(&|round| of(round).rate()),
        middle(&|round| of(round).rate() / round.bare.rate()),
        middle(&|round| of(round).percentile(50)),
        middle(&|round| of(round).percentile(99)),
        added(50),
        added(99),
    );
}
