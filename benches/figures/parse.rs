//! Parser throughput on answers of about 1 kB, compared with a plain search for the marker.

use std::hint::black_box;

use retold::parse::Parser;
use retold_game24::parse::{PuzzleParams, parser};

use crate::{best, row, timed};

const ROUNDS: usize = 4000;

pub(crate) fn measure() {
    let answers: Vec<String> = (0..50).map(answer).collect();
    let bytes: usize = answers.iter().map(String::len).sum();
    let mb = (bytes * ROUNDS / 50) as f64 / 1e6;
    let reference = best(3, || {
        timed(|| {
            for i in 0..ROUNDS {
                let text = &answers[i % 50];
                // The least any parser has to do: find the last line that begins with the marker.
                black_box(text.lines().rev().find(|line| line.starts_with("Answer:")));
                black_box(text.contains("<answer>"));
            }
        })
        .1
    });
    let reference = mb / reference.as_secs_f64();
    for version in [1, 2] {
        let parser = parser(version, PuzzleParams { numbers: vec![4, 5, 6, 10] }).unwrap();
        let ours = best(3, || {
            timed(|| {
                for i in 0..ROUNDS {
                    black_box(parser.parse(&answers[i % 50]));
                }
            })
            .1
        });
        let ours = mb / ours.as_secs_f64();
        row(
            &format!("parser game24@{version}, answers of 1 kB"),
            &format!("{ours:.0} MB/s"),
            &format!("search for the marker alone: {reference:.0} MB/s"),
            ours / reference,
        );
    }
}

fn answer(number: usize) -> String {
    let mut text = String::from("Let me think about this step by step.\nSteps:\n");
    for step in 0..22 {
        text.push_str(&format!("{} + {} = {} (left: {step} 5 6)\n", step, number, step + number));
    }
    text.push_str("Answer: (10 - 6) * (5 - 4) * 4 = 24\n");
    text
}
