//! The `config.json` that the original program wrote beside its results, as a config of a new run.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::NAME;

/// `config.json`, as the original program writes it: the game's parameters, its name, and fields of no use here.
#[derive(Deserialize)]
pub(super) struct RunConfig {
    pub(super) experiment_id: String,
    pub(super) config: Map<String, Value>,
}

/// The parameters and the name of an original `config.json`; `None` for any other text.
pub(crate) fn original_config(text: &str) -> Option<String> {
    let RunConfig { experiment_id, mut config } = serde_json::from_str(text).ok()?;
    config.insert("experiment".to_owned(), NAME.into());
    config.insert("experiment_id".to_owned(), experiment_id.into());
    serde_json::to_string_pretty(&config).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_original_file_is_a_config_with_its_name() {
        let text = r#"{"experiment_id": "exp_1", "config_hash": "0", "timestamp": "t",
            "config": {"group_size": 4}}"#;
        let made: Value = serde_json::from_str(&original_config(text).unwrap()).unwrap();
        let due = serde_json::json!({"experiment": "public_goods", "experiment_id": "exp_1", "group_size": 4});
        assert_eq!(made, due);
        for other in
            ["experiment_id: exp_1", "{}", r#"{"experiment_id": "exp_1", "group_size": 4}"#]
        {
            assert_eq!(original_config(other), None);
        }
    }
}
