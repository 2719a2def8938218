//! Time, measured as the processor time of this thread, so that other work on the machine does not
//! count.

use std::fmt;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::shapes::Shape;

/// A parser that is this fast at [`SHORT`] and at [`LONG`] bytes is linear enough: quadratic time,
/// even with the cheapest steps, would take longer.
const NEVER_MIND: Duration = Duration::from_nanos(if cfg!(unoptimised) { 500 } else { 40 });

/// The lengths that are compared first, and those that confirm a suspicion. They are shorter in a
/// build that is not optimised, where everything takes ten times as long.
const LONG: usize = if cfg!(unoptimised) { 16 << 10 } else { 64 << 10 };
const SHORT: usize = LONG / 16;
const LONGEST: usize = 4 * LONG;

/// By what factor the time per byte may grow in a text that is 16 times as long. Four times is a
/// text that has outgrown the processor's caches, with some margin; quadratic time is sixteen
/// times.
const MOST: f64 = 4.0;

/// How one parser's time grew on one shape, in nanoseconds per byte.
#[derive(Clone, Copy)]
pub(crate) struct Growth {
    short: f64,
    long: f64,
    length: usize,
}

impl Growth {
    fn ratio(&self) -> f64 {
        self.long / self.short
    }
}

impl fmt::Debug for Growth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Growth { short, long, length } = self;
        write!(f, "{short:.1} ns a byte at {} bytes, {long:.1} at {length}", length / 16)
    }
}

/// The processor time of parsing: the best of some tries.
fn time(parse: &dyn Fn(&str), text: &str, tries: usize) -> Duration {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    };
    let once = |_| {
        let begun = now();
        parse(text);
        now() - begun
    };
    (0..tries).map(once).min().unwrap()
}

/// Nanoseconds per byte of a text: the best of some tries.
pub(crate) fn time_per_byte(parse: &dyn Fn(&str), text: &str, tries: usize) -> f64 {
    time(parse, text, tries).as_nanos() as f64 / text.len() as f64
}

/// Whether the time grows no faster than the length; if it does, by how much.
pub(crate) fn is_linear(parse: &dyn Fn(&str), shape: &Shape) -> Result<(), Growth> {
    let (short, long) = (shape.text(SHORT), shape.text(LONG));
    let first = time(parse, &long, 1);
    if first < NEVER_MIND * LONG as u32 {
        return Ok(());
    }
    let compared = |short: &str, long: &str| Growth {
        short: time_per_byte(parse, short, 5),
        long: time_per_byte(parse, long, 2),
        length: long.len(),
    };
    if compared(&short, &long).ratio() < MOST {
        return Ok(());
    }
    // If the time really is quadratic, it must keep growing.
    let confirmed = compared(&shape.text(LONGEST / 16), &shape.text(LONGEST));
    if confirmed.ratio() < MOST { Ok(()) } else { Err(confirmed) }
}
