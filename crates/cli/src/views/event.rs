//! A stored event, and a finding, as JSON.

use serde_json::{Value, json};

use retold::event::StoredEvent;
use retold::log::Finding;
use retold::members::Members;

/// A finding: where, the sentence, and the fault with its numbers.
pub(crate) fn finding_as_json(finding: &Finding) -> Value {
    let Finding { run, seq, fault } = finding;
    json!({"run": run, "seq": seq, "what": fault.to_string(), "fault": fault})
}

/// An event as `log` and `show` print it.
pub(crate) fn as_json(event: &StoredEvent) -> Value {
    let StoredEvent {
        run,
        seq,
        kind,
        version,
        time,
        call,
        sample,
        prompt,
        cause,
        content,
        body,
        hash,
    } = event;
    // A body that is not JSON is damaged, and is shown as text.
    let body = serde_json::from_str(body).unwrap_or_else(|_| Value::from(&**body));
    let mut object = json!({"run": run, "seq": seq, "kind": kind, "version": version,
        "time": time.to_string(), "body": body, "hash": hash});
    let optional = [
        ("call", call.as_ref().map(|c| json!(c))),
        ("sample", sample.map(|s| json!(s))),
        ("prompt", prompt.map(|p| json!(p))),
        ("cause", cause.map(|c| json!(c))),
        (
            "content",
            content.as_ref().map(|c| match c {
                retold::content::Content::Text(text) => json!(text.as_ref()),
                retold::content::Content::Vector(floats) => json!(floats.as_ref()),
            }),
        ),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            object.set(key, value);
        }
    }
    object
}
