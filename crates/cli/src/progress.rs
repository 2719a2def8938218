//! Progress on stderr: a bar with rate and time left on a terminal, plain lines elsewhere.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::io::{IsTerminal, Write};
use std::rc::Rc;
use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

use crate::error::write_err;
use crate::output::{Output, group_digits};
use crate::runs::groups_so_far::GroupsSoFar;
use retold::escaping::inert_lines;
use retold::run::Progress;
use retold::run::clock::Stopwatch;

/// How often a plain line is written.
const EVERY: Duration = Duration::from_secs(5);

/// The progress of all runs that a command executes, as one.
#[derive(Clone)]
pub(crate) struct ProgressDisplay(Rc<DisplayedRuns>);

/// The runs, and how they are shown.
struct DisplayedRuns {
    means: DisplayMeans,
    runs: RefCell<Vec<Progress>>,
    /// About how many answers there will be, where no experiment says that; 0 if it is not known.
    about: Cell<u64>,
}

/// How progress is shown.
enum DisplayMeans {
    /// Not at all.
    Nothing,
    /// A bar on a terminal.
    Bar(ProgressBar),
    /// Plain lines, the next one at this time.
    Lines { watch: Stopwatch, next: Cell<Duration> },
}

impl ProgressDisplay {
    /// For as many runs.
    pub(crate) fn new(quiet: bool, runs: usize) -> Self {
        let means = if quiet {
            DisplayMeans::Nothing
        } else if std::io::stderr().is_terminal() {
            // How many answers there will be is known of few studies before they are asked for.
            let bar = ProgressBar::no_length();
            bar.set_style(bar_style("{human_pos} answers{pace}  {msg}"));
            DisplayMeans::Bar(bar)
        } else {
            DisplayMeans::Lines { watch: Stopwatch::start(), next: Cell::new(EVERY) }
        };
        let runs = RefCell::new(vec![Progress::default(); runs]);
        ProgressDisplay(Rc::new(DisplayedRuns { means, runs, about: Cell::new(0) }))
    }

    /// Shows the progress of one run, for [`Setup::on_progress`](retold::run::Setup).
    pub(crate) fn of_run(
        &self,
        number: usize,
        groups: Option<GroupsSoFar>,
    ) -> Box<dyn Fn(Progress)> {
        let display = self.0.clone();
        Box::new(move |progress| {
            if matches!(display.means, DisplayMeans::Nothing) {
                return;
            }
            let groups = || groups.as_ref().and_then(GroupsSoFar::text);
            if let Some(run) = display.runs.borrow_mut().get_mut(number) {
                *run = progress;
            }
            display.show(progress, &groups);
        })
    }

    /// About as many answers are expected.
    pub(crate) fn expect(&self, answers: u64) {
        self.0.about.set(answers);
    }

    /// Shows lines: above the bar, where there is one.
    pub(crate) fn lines(&self, lines: &str) {
        match &self.0.means {
            DisplayMeans::Bar(bar) if !lines.is_empty() => {
                bar.println(inert_lines(lines).trim_end());
            }
            DisplayMeans::Lines { .. } if !lines.is_empty() => write_err(lines),
            DisplayMeans::Nothing | DisplayMeans::Bar(_) | DisplayMeans::Lines { .. } => {}
        }
    }
}

impl ProgressDisplay {
    /// Shows a warning, even if nothing else is shown.
    pub(crate) fn warning(&self, lines: &str) {
        match &self.0.means {
            DisplayMeans::Nothing => write_err(lines),
            DisplayMeans::Bar(_) | DisplayMeans::Lines { .. } => self.lines(lines),
        }
    }
}

impl DisplayedRuns {
    /// Shows all runs, one of which has just come this far, with its groups.
    fn show(&self, changed: Progress, groups: &dyn Fn() -> Option<String>) {
        match &self.means {
            DisplayMeans::Nothing => {}
            DisplayMeans::Bar(bar) => on_bar(bar, self.together(), groups(), self.is_about()),
            DisplayMeans::Lines { watch, next } => {
                // Checking the clock at each of a hundred thousand steps per second would take longer than
                // the steps.
                if !changed.exchanges.is_multiple_of(64) && changed.live < changed.exchanges {
                    return;
                }
                let elapsed = watch.elapsed();
                if elapsed >= next.get() {
                    next.set(elapsed + EVERY);
                    let all = self.together();
                    let groups = groups().map_or_else(String::new, |counts| format!("; {counts}"));
                    let _ = writeln!(
                        std::io::stderr(),
                        "{}{groups}",
                        line(all, elapsed, self.is_about())
                    );
                }
            }
        }
    }
}

impl DisplayedRuns {
    /// All runs as one.
    fn together(&self) -> Progress {
        let all = together(&self.runs.borrow());
        let expected = match all.expected {
            0 => self.about.get(),
            known => known,
        };
        Progress { expected, ..all }
    }

    /// Whether the expected number is an estimate.
    fn is_about(&self) -> bool {
        self.about.get() > 0 && together(&self.runs.borrow()).expected == 0
    }
}

/// The progress of several runs as one. How many answers there will be is known if it is known of each.
fn together(runs: &[Progress]) -> Progress {
    let mut all = Progress::default();
    for run in runs {
        all.exchanges += run.exchanges;
        all.live += run.live;
        all.model_calls += run.model_calls;
        all.failed += run.failed;
        all.expected += run.expected;
    }
    if runs.iter().any(|run| run.expected == 0) {
        all.expected = 0;
    }
    all
}

/// Says on a terminal that a run is being verified, until the returned guard is dropped.
pub(crate) fn verifying(output: &Output) -> Option<ProgressGuard> {
    if output.is_quiet() || !std::io::stderr().is_terminal() {
        return None;
    }
    let bar = ProgressBar::new_spinner();
    bar.set_message("verifying the run");
    // A short run is verified sooner than this.
    bar.enable_steady_tick(Duration::from_millis(200));
    Some(ProgressGuard(bar))
}

/// Progress that goes when it is dropped.
pub(crate) struct ProgressGuard(ProgressBar);

impl Drop for ProgressGuard {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// How the bar of a run looks.
fn bar_style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key(
        "pace",
        |state: &ProgressState, out: &mut dyn fmt::Write| {
            let left = state.len().map(|_| state.eta());
            let _ = out.write_str(&pace(state.pos(), state.per_sec(), left));
        },
    )
}

/// How fast it goes and, if it is known how many answers there will be, how long it still takes. Before the first answer, there
/// is no basis for an estimate.
pub(crate) fn pace(done: u64, per_second: f64, left: Option<Duration>) -> String {
    let left = left.map_or_else(String::new, |left| format!("  {} left", HumanDuration(left)));
    match done {
        0 => String::new(),
        _ if per_second < 1.0 => format!("  {:.0}/min{left}", per_second * 60.0),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate")]
        _ => format!("  {}/s{left}", group_digits(per_second.round() as u64)),
    }
}

fn on_bar(bar: &ProgressBar, progress: Progress, groups: Option<String>, is_about: bool) {
    let done = progress.exchanges + progress.failed;
    if progress.expected > 0 {
        if bar.length().is_none() {
            let about = if is_about { "about " } else { "" };
            bar.set_style(bar_style(&format!(
                "{{bar:30}} {{human_pos}} of {about}{{human_len}} answers{{pace}}  {{msg}}"
            )));
        }
        bar.set_length(progress.expected.max(done));
    }
    bar.set_position(done);
    let failed = (progress.failed > 0).then(|| format!("{} failed", group_digits(progress.failed)));
    let message: Vec<String> = failed.into_iter().chain(groups).collect();
    if !message.is_empty() {
        bar.set_message(message.join("; "));
    }
    if progress.expected > 0 && done >= progress.expected && !is_about {
        bar.finish_and_clear();
    }
}

fn line(progress: Progress, elapsed: Duration, is_about: bool) -> String {
    let done = progress.exchanges + progress.failed;
    let rate = done as f64 / elapsed.as_secs_f64().max(1e-9);
    let (mut of, mut left) = (" answers".to_owned(), None);
    if progress.expected > 0 {
        let share = 100.0 * done as f64 / progress.expected as f64;
        let about = if is_about { "about " } else { "" };
        of = format!(" of {about}{} answers ({share:.0} %)", group_digits(progress.expected));
        let seconds = progress.expected.saturating_sub(done) as f64 / rate.max(1e-9);
        left = Duration::try_from_secs_f64(seconds).ok();
    }
    let failed = group_digits(progress.failed);
    format!("{}{of}{}, {failed} failed", group_digits(done), pace(done, rate, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pace_has_one_unit_and_comes_with_the_first_answer() {
        let minute = Duration::from_secs(60);
        assert_eq!(pace(0, 0.0, Some(minute)), "");
        assert_eq!(pace(120, 1042.4, Some(minute)), "  1,042/s  60 seconds left");
        assert_eq!(pace(3, 0.2, Some(minute)), "  12/min  60 seconds left");
        assert_eq!(pace(3, 2.0, None), "  2/s", "nobody knows how many there will be");
    }

    #[test]
    fn runs_are_shown_as_one() {
        let known = Progress { exchanges: 3, failed: 1, expected: 10, ..Progress::default() };
        let other = Progress { exchanges: 2, expected: 5, ..Progress::default() };
        let all = together(&[known, other]);
        assert_eq!((all.exchanges, all.failed, all.expected), (5, 1, 15));
        let unknown = Progress { expected: 0, ..other };
        assert_eq!(together(&[known, unknown]).expected, 0, "one does not know");
    }

    #[test]
    fn the_time_left_is_not_guessed_before_the_first_answer() {
        let none = Progress { model_calls: 8, expected: 300, ..Progress::default() };
        let said = line(none, Duration::from_secs(10), false);
        assert_eq!(said, "0 of 300 answers (0 %), 0 failed");
        let some = Progress { exchanges: 100, failed: 20, ..none };
        let said = line(some, Duration::from_secs(10), false);
        assert_eq!(said, "120 of 300 answers (40 %)  12/s  15 seconds left, 20 failed");
        let said = line(some, Duration::from_secs(10), true);
        assert_eq!(said, "120 of about 300 answers (40 %)  12/s  15 seconds left, 20 failed");
        // The pace of a study that sleeps between its calls, which takes all day.
        let slow = Progress { exchanges: 20, expected: 8_300, ..Progress::default() };
        assert_eq!(
            line(slow, Duration::from_secs(100), false),
            "20 of 8,300 answers (0 %)  12/min  12 hours left, 0 failed"
        );
    }
}
