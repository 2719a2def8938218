//! Many lines in bounded memory.

use crate::support::batches::{BatchFake, Options, study};
use crate::support::cli::Place;
use crate::support::measured::measured;

/// The most memory, in MB, that a command may take whatever the number of lines.
const MOST: u64 = 300;

/// How many questions are asked, unless `scripts/batch-scale` asks for more.
const QUESTIONS: usize = 3000;

#[test]
fn many_questions_are_planned_submitted_and_collected_in_bounded_memory() {
    #[expect(clippy::disallowed_methods, reason = "how the script asks for more")]
    let given = std::env::var("RETOLD_TEST_BATCH_LINES").ok();
    let questions = given.as_ref().map_or(QUESTIONS, |given| given.parse().unwrap());
    let (url, fake) = BatchFake::with(Options::default(), study("game24"));
    let place = Place::new();
    let flags = format!("--quiet --no-outputs --base-url {url}/v1 --key k --model openai");
    let samples = questions.div_ceil(30);
    let run =
        format!("run small.yaml {flags} --batch --set puzzles.rows=0..30 --set samples={samples}");
    let ask = |command: &str| measured(&place, &command.split_whitespace().collect::<Vec<_>>());
    let out = ask(&run);
    assert_eq!(out.said.code, 75, "{}{}", out.said.out, out.said.err);
    fake.advance(4000);
    let back = ask(&format!("run --resume latest {flags}"));
    assert_eq!(back.said.code, 0, "{}{}", back.said.out, back.said.err);
    let counts = fake.counts();
    assert_eq!(counts.paid_lines.len(), samples * 30);
    assert!(counts.doubles().is_empty());
    if given.is_some() {
        eprintln!(
            "{} questions in {} batches: planned and submitted in {:.1} s and {} MB, collected in {:.1} s and {} MB",
            samples * 30,
            counts.batches,
            out.seconds,
            out.peak,
            back.seconds,
            back.peak
        );
    }
    assert!(out.peak <= MOST && back.peak <= MOST, "{} and {} MB", out.peak, back.peak);
}
