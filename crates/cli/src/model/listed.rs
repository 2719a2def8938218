//! Models that a provider does not have, found out before the first call.

use super::ModelArgs;
use super::names::host;
use crate::error::CliError;
use crate::runtime;
use retold::escaping::printable;
use retold::model::Answerer;
use retold::model::providers::is_known_host;
use retold_study::studies::Studies;
use retold_study::study::StudySettings;

/// How many names of other models are shown.
const SHOWN: usize = 5;

impl ModelArgs {
    /// Checks that the server has the models that the settings name, if it lists its models. Without a list, nothing
    /// is checked; nor on a host where models have names of the user's own.
    pub(crate) fn are_listed(
        studies: &Studies,
        experiment: &str,
        settings: &StudySettings,
        answerer: &Answerer,
    ) -> Result<(), CliError> {
        let Some(api) = settings.runtime.model.kind.api() else { return Ok(()) };
        let source = answerer.info().source.unwrap_or_default();
        let is_of_users =
            |host: String| is_known_host(&host) && !api.access().provider.is_at(&host);
        if host(&source).is_some_and(is_of_users) {
            return Ok(());
        }
        let models = studies.models(experiment, &settings.experiment).unwrap_or_default();
        let tokio = runtime::of_this_thread()?;
        for model in &models {
            let Some(others) = tokio.block_on(answerer.models_without(model)) else { continue };
            let (source, shown) = (printable(&source, 200), printable(model, 100));
            let near = nearest(model, others);
            let near: Vec<String> = near.iter().map(|name| printable(name, 100)).collect();
            let (api, first) = (api.as_str(), near.first().map_or("MODEL", String::as_str));
            return Err(CliError::usage(format!("{source} does not have the model {shown:?}"))
                .hint(format!("nothing was asked. It has {}, and others perhaps", near.join(", ")))
                .hint(format!("--model {api}/{first} asks that one"))
                .hint(format!(
                    "--endpoint '{shown}=URL' asks a server for it that does not list it"
                )));
        }
        Ok(())
    }
}

/// The names that are most like another, the nearest first.
fn nearest(model: &str, mut names: Vec<String>) -> Vec<String> {
    let common = |name: &str| name.chars().zip(model.chars()).take_while(|(a, b)| a == b).count();
    names.sort_by_key(|name| (!name.ends_with(model), std::cmp::Reverse(common(name)), name.len()));
    names.truncate(SHOWN);
    names
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_names_come_first() {
        let names =
            ["whisper-1", "gpt-4.1", "gpt-4o-mini", "gpt-4o", "o3", "tts-1"].map(str::to_owned);
        assert_eq!(nearest("gpt-4o-nano", names.to_vec())[..2], ["gpt-4o-mini", "gpt-4o"]);
        let names = ["a", "openai/gpt-oss-20b"].map(str::to_owned);
        assert_eq!(nearest("gpt-oss-20b", names.to_vec())[0], "openai/gpt-oss-20b");
    }
}
