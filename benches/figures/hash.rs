//! Canonicalising and hashing a request, compared with bare `serde_json` and BLAKE3.

use std::hint::black_box;

use retold::prompt::Request;
use serde_json::json;

use crate::study::filler;
use crate::{best, row, timed};

const ROUNDS: usize = 20_000;

pub(crate) fn measure() {
    for (bytes, name) in [(2000, "2 kB"), (40_000, "40 kB")] {
        let body = json!({
            "model": "gpt-4o",
            "temperature": 0.7,
            "max_tokens": 1000,
            "messages": [
                {"role": "system", "content": "You are a careful participant."},
                {"role": "user", "content": filler(1, bytes)},
            ],
        });
        let rounds = ROUNDS * 2000 / bytes;
        let ours = best(3, || {
            timed(|| {
                for _ in 0..rounds {
                    black_box(Request::from_body(body.clone()).unwrap().hash());
                }
            })
            .1
        });
        let bare = best(3, || {
            timed(|| {
                for _ in 0..rounds {
                    let body = body.clone();
                    black_box(blake3::hash(serde_json::to_string(&body).unwrap().as_bytes()));
                }
            })
            .1
        });
        let mb = (rounds * bytes) as f64 / 1e6;
        let (ours, bare) = (mb / ours.as_secs_f64(), mb / bare.as_secs_f64());
        row(
            &format!("canonicalise and hash a request of {name}"),
            &format!("{ours:.0} MB/s"),
            &format!("bare serde_json + BLAKE3: {bare:.0} MB/s"),
            ours / bare,
        );
    }
}
