//! How long a run takes at least, because of the pace that its settings give it.

use std::time::Duration;

use retold::counted::count_of;

/// The shortest time that as many requests take: one interval between each two.
pub(crate) fn least_time(requests: u64, interval: Duration) -> Duration {
    let between = u32::try_from(requests.saturating_sub(1)).unwrap_or(u32::MAX);
    interval.saturating_mul(between)
}

/// The same in words: `at least 10 hours 52 minutes: one request every 3 s`. `None` if nothing sets a pace.
pub(crate) fn pace_text(requests: u64, interval: Duration) -> Option<String> {
    if interval.is_zero() {
        return None;
    }
    let least = long_time(least_time(requests, interval));
    Some(format!("at least {least}: one request every {}", seconds_text(interval)))
}

/// An interval: `0.25 s`.
pub(crate) fn seconds_text(interval: Duration) -> String {
    format!("{} s", (interval.as_secs_f64() * 1000.0).round() / 1000.0)
}

/// A span of time in its two largest units, rounded up to a second.
fn long_time(time: Duration) -> String {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    let units = [("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1)];
    let first = units.iter().position(|(_, unit)| seconds >= *unit).unwrap_or(units.len() - 1);
    let (mut left, mut parts) = (seconds, Vec::new());
    for (name, unit) in units.iter().skip(first).take(2) {
        if parts.is_empty() || left >= *unit {
            parts.push(count_of(left / unit, name));
        }
        left %= unit;
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_says_how_long_it_takes() {
        let of = |requests, seconds: f64| pace_text(requests, Duration::from_secs_f64(seconds));
        assert_eq!(of(13_053, 0.0), None);
        let document = "at least 10 hours 52 minutes: one request every 3 s";
        assert_eq!(of(13_053, 3.0).unwrap(), document);
        assert_eq!(of(1, 0.25).unwrap(), "at least 0 seconds: one request every 0.25 s");
        assert_eq!(of(61, 1.0).unwrap(), "at least 1 minute: one request every 1 s");
        assert_eq!(of(86_402, 1.0).unwrap(), "at least 1 day: one request every 1 s");
        assert_eq!(of(4, 60.0 / 7.0).unwrap(), "at least 26 seconds: one request every 8.571 s");
    }
}
