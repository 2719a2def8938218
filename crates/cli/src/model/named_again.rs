//! The options that a later command on the same run has to repeat.

use super::ModelArgs;
use super::addresses::named_url;
use super::names::usual_url;
use crate::again::typed_options;
use retold_study::config::{AnswersFile, BaseUrl, EndpointConfig, KeyVariable, ModelConfig};

impl ModelArgs {
    /// The options that a later command on the same run has to repeat, as they are typed after the run: servers and
    /// files that the user named, which a recording never decides, and the key, which is never recorded.
    pub(crate) fn named_again(&self, model: &ModelConfig) -> String {
        let mut options: Vec<(&str, String)> = Vec::new();
        let Some(api) = model.kind.api() else {
            if let Some(AnswersFile::Named(path)) = &model.answers {
                options.push(("--answers", path.display().to_string()));
            }
            return typed_options(&options).unwrap_or_default();
        };
        if let BaseUrl::Named(url) = &model.base_url
            && named_url(&BaseUrl::Recorded(url.without_secrets()), api).is_err()
        {
            options.push(("--base-url", url.without_secrets()));
        }
        for (name, EndpointConfig { base_url, kind, key }) in &model.endpoints {
            // Where the provider is asked anyway, a later command asks it as well.
            if matches!(base_url, BaseUrl::Named(url) if usual_url(*kind).is_at(&url.without_secrets()))
            {
                continue;
            }
            if let BaseUrl::Named(url) = base_url {
                options.push(("--endpoint", format!("{name}={}", url.without_secrets())));
            }
            if let KeyVariable::Named(variable) = key {
                options.push(("--endpoint-key", format!("{name}={variable}")));
            }
        }
        if self.key.is_some() {
            options.push(("--key", "KEY".to_owned()));
        }
        if let Some(path) = &self.key_file {
            options.push(("--key-file", path.display().to_string()));
        }
        typed_options(&options).unwrap_or_default()
    }
}
