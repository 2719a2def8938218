//! The progress of a program that is recorded, in one line at the bottom of the terminal: calls, failures, cost and rate.
//!
//! Only on request: the terminal is the program's, and nobody can know whether it is in the middle of a line.

use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::task::JoinHandle;

use crate::output::{count_of, group_digits};
use crate::progress::pace;
use retold::run::Spending;
use retold::run::clock::Stopwatch;
use retold_wire::Session;

/// How often the line is written.
const EVERY: Duration = Duration::from_millis(500);

/// A line that is written until it is dropped; the last one stays.
pub(super) struct ProgressLine {
    task: JoinHandle<()>,
    bar: ProgressBar,
    session: Arc<Session>,
    since: Stopwatch,
}

impl ProgressLine {
    /// Writes the progress of a session to stderr, if that is a terminal.
    pub(super) fn show(session: &Arc<Session>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let since = Stopwatch::start();
        let (written, seen) = (bar.clone(), session.clone());
        let task = tokio::spawn(async move {
            loop {
                written.set_message(line(&seen, since.elapsed()));
                tokio::time::sleep(EVERY).await;
            }
        });
        ProgressLine { task, bar, session: session.clone(), since }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.task.abort();
        self.bar.finish_with_message(line(&self.session, self.since.elapsed()));
    }
}

fn line(session: &Session, elapsed: Duration) -> String {
    let summary = session.summary();
    text(summary.answers, summary.failed, session.budget.spending(), elapsed)
}

fn text(answers: u64, failed: u64, spent: Spending, elapsed: Duration) -> String {
    let per_second = answers as f64 / elapsed.as_secs_f64().max(1e-9);
    let cost = match spent.is_complete() {
        true => format!("${:.4}", spent.cost),
        false => format!("${:.4} and what has no price or no token counts", spent.cost),
    };
    format!(
        "retold: {}{}, {} failed, {cost}",
        count_of(answers, "answer"),
        pace(answers, per_second, None),
        group_digits(failed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_has_calls_failures_cost_and_rate() {
        let spent = Spending { cost: 0.0213, ..Spending::default() };
        let after = Duration::from_secs(40);
        assert_eq!(text(12, 1, spent, after), "retold: 12 answers  18/min, 1 failed, $0.0213");
        let spent = Spending { is_unpriced: true, ..spent };
        assert_eq!(
            text(1, 0, spent, after),
            "retold: 1 answer  2/min, 0 failed, $0.0213 and what has no price or no token counts"
        );
    }
}
