//! `config.yaml`: the config of the run, in the document's own format.

use serde_json::{Map, Value};

use crate::config::Config;
use retold::run::{OutputError, RunRecord};

/// Keys that the document does not have and that are never in the file: the first names this
/// program's experiment; the others determine which model answers and how fast, and are not part of
/// the recorded config. Our other keys are included if they were given.
const LEFT_OUT: &[&str] = &["experiment", "provider", "limits"];

/// The config with all defaults filled in, in the order of the keys, as the original writes it. It
/// cannot contain an API key, because a config has no place for one.
pub(super) fn yaml(config: &Config, record: &RunRecord<'_>) -> Result<String, OutputError> {
    let failed = |source| OutputError::Json { name: "config.yaml".to_owned(), source };
    let value = serde_json::to_value(config).map_err(|e| failed(e.into()))?;
    let Value::Object(all) = value else { return Err(failed("it is not an object".into())) };
    let mut kept: Map<String, Value> = all
        .into_iter()
        .filter(|(key, _)| !LEFT_OUT.contains(&key.as_str()))
        .map(|(key, value)| (key, whole(value)))
        .collect();
    if config.max_parse_retries == Config::PARSE_RETRIES {
        kept.remove("max_parse_retries");
    }
    kept.insert("random_seed".to_owned(), record.started.seed.into());
    let yaml = serde_saphyr::to_string(&kept).map_err(|e| failed(e.into()))?;
    Ok(format!("# run {}, {}\n{yaml}", record.run, record.started.program))
}

/// A whole number without a decimal point, as people write it.
fn whole(value: Value) -> Value {
    match value.as_f64().filter(|n| value.is_f64() && n.fract() == 0.0 && n.abs() < 1e15) {
        // Below 10^15 the conversion is exact.
        Some(n) => Value::from(n as i64),
        None => value,
    }
}
