//! When each call was in flight: the calls of each row that is shown on one time axis.

use retold::id::Time;
use serde::Serialize;

use super::TableSource;
use crate::question_columns::QuestionRow;

/// How many units wide the axis is.
const WIDTH: f64 = 1000.0;

/// The narrowest bar, and the narrowest that stands by itself when it has a neighbour, in units.
const NARROWEST: f64 = 1.5;
const ALONE: f64 = 4.0;

/// The shortest window that can be looked at, in milliseconds.
const SHORTEST: i64 = 4;

/// A part of the time of a run, in milliseconds from its first event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct TimeWindow {
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

/// Calls of a row that are drawn as one bar.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct LaneBar {
    /// Where it begins, and how wide it is, of 1000.
    pub(crate) x: f64,
    pub(crate) width: f64,
    /// The question, if it is one call.
    pub(crate) seq: Option<u64>,
    pub(crate) calls: u64,
    /// What has come of it, or of all of them: only calls of one status are drawn as one.
    pub(crate) status: &'static str,
    /// When it was in flight.
    pub(crate) when: TimeWindow,
}

impl TimeWindow {
    /// The window in a query, such as `0-1500`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (begin, end) = text.split_once('-')?;
        let (begin, end) = (begin.parse().ok()?, end.parse().ok()?);
        (begin < end).then_some(TimeWindow { begin, end })
    }

    /// As it is in a query.
    pub(crate) fn query(self) -> String {
        format!("{}-{}", self.begin, self.end)
    }

    fn length(self) -> i64 {
        self.end - self.begin
    }

    /// The middle half.
    pub(crate) fn closer(self) -> Option<Self> {
        let quarter = self.length() / 4;
        let closer = TimeWindow { begin: self.begin + quarter, end: self.end - quarter };
        (closer.length() >= SHORTEST && quarter > 0).then_some(closer)
    }

    /// Twice as long, within another window.
    pub(crate) fn wider(self, whole: TimeWindow) -> Option<Self> {
        let half = self.length() / 2 + 1;
        let begin = (self.begin - half).max(whole.begin);
        let wider = TimeWindow { begin, end: (self.end + half).min(whole.end) };
        (wider != self).then_some(wider)
    }

    /// Moved by half of its length, within another window.
    pub(crate) fn shift(self, is_later: bool, whole: TimeWindow) -> Option<Self> {
        let half = (self.length() / 2).max(1);
        let by = match is_later {
            true => half.min(whole.end - self.end),
            false => -half.min(self.begin - whole.begin),
        };
        (by != 0).then_some(TimeWindow { begin: self.begin + by, end: self.end + by })
    }

    /// The times at five places of the axis.
    pub(crate) fn ticks(self) -> [i64; 5] {
        [0, 1, 2, 3, 4].map(|at| self.begin + self.length() * at / 4)
    }
}

/// When the calls of some rows were in flight; `now` is the end of those that have none.
pub(super) fn span(
    source: &TableSource<'_>,
    questions: impl Iterator<Item = u32>,
    began: Time,
    now: Time,
) -> Option<TimeWindow> {
    let mut window: Option<TimeWindow> = None;
    for question in questions.filter_map(|at| source.question(at)) {
        let TimeWindow { begin, end } = flight(question, began, now);
        let so_far = window.unwrap_or(TimeWindow { begin, end });
        window = Some(TimeWindow { begin: so_far.begin.min(begin), end: so_far.end.max(end) });
    }
    // An axis without length has no places.
    window.map(|window| TimeWindow { end: window.end.max(window.begin + SHORTEST), ..window })
}

fn flight(question: &QuestionRow, began: Time, now: Time) -> TimeWindow {
    let begin = question.asked_at.0 - began.0;
    let end = question.ended_at().unwrap_or(now).0 - began.0;
    TimeWindow { begin, end: end.max(begin) }
}

/// The bars of a row. Calls of one status that would be narrower than can be seen, or lie on each other, are drawn as one.
pub(super) fn bars(
    source: &TableSource<'_>,
    questions: &[u32],
    window: TimeWindow,
    (began, now): (Time, Time),
) -> Vec<LaneBar> {
    let scale = WIDTH / window.length() as f64;
    let mut bars: Vec<LaneBar> = Vec::new();
    for question in questions.iter().filter_map(|at| source.question(*at)) {
        let when = flight(question, began, now);
        if when.end < window.begin || when.begin > window.end {
            continue;
        }
        let place = |at: i64| ((at - window.begin) as f64 * scale).clamp(0.0, WIDTH);
        let (x, end) = (place(when.begin), place(when.end));
        let width = (end - x).clamp(NARROWEST, WIDTH);
        let x = x.min(WIDTH - width);
        let is_one = |last: &&mut LaneBar| {
            let gap = x - (last.x + last.width);
            let meet = gap < -0.01 || gap < 1.0 && last.width.min(width) < ALONE;
            meet && last.status == question.status.name()
        };
        match bars.last_mut().filter(is_one) {
            Some(last) => {
                last.width = (last.x + last.width).max(x + width) - last.x;
                (last.seq, last.calls) = (None, last.calls + 1);
                last.when.end = last.when.end.max(when.end);
            }
            None => bars.push(LaneBar {
                x,
                width,
                seq: Some(question.seq.into()),
                calls: 1,
                status: question.status.name(),
                when,
            }),
        }
    }
    for bar in &mut bars {
        let short = |number: f64| (number * 100.0).round() / 100.0;
        (bar.x, bar.width) = (short(bar.x), short(bar.width));
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_moved_and_scaled_within_the_run() {
        let whole = TimeWindow { begin: 0, end: 1000 };
        let middle = whole.closer().unwrap();
        assert_eq!(middle, TimeWindow { begin: 250, end: 750 });
        assert_eq!(middle.shift(true, whole), Some(TimeWindow { begin: 500, end: 1000 }));
        assert_eq!(middle.shift(true, whole).unwrap().shift(true, whole), None);
        assert_eq!(middle.shift(false, whole), Some(TimeWindow { begin: 0, end: 500 }));
        assert_eq!((middle.wider(whole), whole.wider(whole)), (Some(whole), None));
        assert_eq!(TimeWindow { begin: 3, end: 7 }.closer(), None);
        assert_eq!(middle.ticks(), [250, 375, 500, 625, 750]);
        assert_eq!(TimeWindow::parse(&middle.query()), Some(middle));
        assert_eq!(["7-3", "x-1", "5"].map(TimeWindow::parse), [None; 3]);
    }
}
