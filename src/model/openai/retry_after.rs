//! How long the service asks to wait.

use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// `retry-after-ms` (OpenAI's own, more exact), or `Retry-After` in seconds or as a date. A date in
/// the past means now; an unreadable value is ignored.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|t| number(t, 0.001));
    milliseconds.or_else(|| {
        let text = text(RETRY_AFTER.as_str())?;
        number(text, 1.0).or_else(|| {
            let date = httpdate::parse_http_date(text).ok()?;
            Some(date.duration_since(now).unwrap_or(Duration::ZERO))
        })
    })
}

fn number(text: &str, unit: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse::<f64>().ok()? * unit).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn parsed(headers: &[(&'static str, &'static str)]) -> Option<Duration> {
        let headers = headers
            .iter()
            .map(|(n, v)| (HeaderName::from_static(n), HeaderValue::from_static(v)))
            .collect();
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:30 GMT").unwrap();
        retry_after(&headers, now)
    }

    #[test]
    fn seconds_dates_and_milliseconds() {
        assert_eq!(parsed(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(parsed(&[("retry-after", " 1.5 ")]), Some(Duration::from_millis(1500)));
        let date = parsed(&[("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")]);
        assert_eq!(date, Some(Duration::from_secs(7)));
        let past = parsed(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")]);
        assert_eq!(past, Some(Duration::ZERO));
        let both = parsed(&[("retry-after", "2"), ("retry-after-ms", "1250")]);
        assert_eq!(both, Some(Duration::from_millis(1250)));
    }

    #[test]
    fn nonsense_is_as_if_absent() {
        for text in ["", "soon", "-1", "NaN", "inf", "1e300"] {
            assert_eq!(parsed(&[("retry-after", text)]), None, "{text:?}");
        }
        let fallback = parsed(&[("retry-after", "2"), ("retry-after-ms", "x")]);
        assert_eq!(fallback, Some(Duration::from_secs(2)));
    }
}
