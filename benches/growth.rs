//! Whether every parser's time grows no faster than the length of a text: the worst of the shapes
//! that a search finds, from 1 kB to 1 MB.
//!
//! `cargo bench --bench growth -- 2000` tries 2,000 random shapes; `-- 2000 7 3` tries others, from
//! the seed 7, and all sequences of up to 3 pieces of one kind; `-- 2000 7 3 json_repair` measures
//! only this parser. Times are those of the thread alone, so that a busy machine disturbs them
//! little.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a bench stops at the first surprise"
)]

#[expect(dead_code, reason = "the bench needs the settings alone")]
#[expect(unreachable_pub, reason = "public in the crate of the fuzz targets")]
#[path = "../fuzz/src/lib.rs"]
mod fuzz_targets;
#[path = "../tests/it/growth/mod.rs"]
mod growth;

use growth::measure::time_per_byte;
use growth::{Shape, is_linear, parsers, random, systematic};

// The program uses this allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The lengths in the table.
const LENGTHS: [usize; 4] = [1 << 10, 10 << 10, 100 << 10, 1 << 20];

/// How many of a parser's shapes, those that are slowest at 64 kB, are measured at all lengths.
const CANDIDATES: usize = 12;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut numbers = words.iter().filter_map(|word| word.parse::<u64>().ok());
    let some = numbers.next().unwrap_or(200) as usize;
    let seed = numbers.next().unwrap_or(24);
    let longest = numbers.next().unwrap_or(1) as u32;
    let wanted: Vec<&String> =
        words.iter().filter(|w| w.starts_with(char::is_alphabetic)).collect();
    let shapes: Vec<Shape> = systematic(longest).chain(random(seed).take(some)).collect();
    println!("{} shapes; nanoseconds a byte at 1 kB, 10 kB, 100 kB and 1 MB\n", shapes.len());
    println!(
        "| parser | 1 kB | 10 kB | 100 kB | 1 MB | growth | on |\n|---|---|---|---|---|---|---|"
    );
    let mut wrong = 0;
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.starts_with(*w));
    for (name, parse) in parsers().into_iter().filter(|(name, _)| is_wanted(name)) {
        let mut candidates: Vec<(f64, &Shape)> = Vec::new();
        for shape in &shapes {
            let short = time_per_byte(parse.as_ref(), &shape.text(4 << 10), 2);
            let long = time_per_byte(parse.as_ref(), &shape.text(64 << 10), 1);
            if long > 3.0 * short
                && let Err(growth) = is_linear(parse.as_ref(), shape)
            {
                println!("grows too fast: {name} on {shape:?}: {growth:?}");
                wrong += 1;
            }
            candidates.push((long / short, shape));
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
        let row = |(_, shape): &(f64, &Shape)| {
            let at = |length| {
                let tries = if length < 50_000 { 20 } else { 4 };
                time_per_byte(parse.as_ref(), &shape.text(length), tries)
            };
            let times = LENGTHS.map(at);
            (times[3] / times[0], times, format!("{shape:?}"))
        };
        let rows = candidates.iter().take(CANDIDATES).map(row);
        let (growth, times, shape) = rows.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        let [a, b, c, d] = times.map(|time| format!("{time:.1}"));
        let shape = shape.replace('|', "\\|");
        println!("| {name} | {a} | {b} | {c} | {d} | {growth:.2} | `{shape}` |");
    }
    assert_eq!(wrong, 0, "some grew faster than the text");
}
