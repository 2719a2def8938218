//! Where servers are and what opens them, as far as the user, the environment or the program names
//! it.

use secrecy::SecretString;

use retold::model::NamedUrl;
use retold_study::config::{ApiKind, BaseUrl};

/// The provider's own base URL, which is built into the program.
pub(super) fn own_url(api: ApiKind) -> NamedUrl {
    NamedUrl::own(api.access())
}

/// The key in an environment variable named by the user.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(super) fn environment(variable: &str) -> Option<SecretString> {
    let key = std::env::var(variable).ok()?;
    Some(key.trim()).filter(|key| !key.is_empty()).map(SecretString::from)
}

/// The key for an API from the environment.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(super) fn environment_key(api: ApiKind) -> Option<String> {
    std::env::var(set_key(api)?).ok()
}

/// The variable that has the key for an API.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(super) fn set_key(api: ApiKind) -> Option<&'static str> {
    let is_set = |name: &&&str| std::env::var(name).is_ok_and(|key| !key.trim().is_empty());
    api.access().provider.keys.iter().find(is_set).copied()
}

/// The base URL from the environment.
#[expect(clippy::disallowed_methods, reason = "the command line is what reads the environment")]
pub(super) fn environment_url(api: ApiKind) -> Option<NamedUrl> {
    let url = std::env::var(api.access().provider.variables.first()?).ok()?;
    Some(url.trim()).filter(|url| !url.is_empty()).map(NamedUrl::from_user)
}

/// A URL that only a recording names.
pub(super) struct UnnamedUrl<'a> {
    pub(super) url: &'a str,
}

/// The URL, if the user or the program names it. A URL that a recording names is only used if the
/// same server would be used without it.
pub(super) fn named_url(url: &BaseUrl, api: ApiKind) -> Result<NamedUrl, UnnamedUrl<'_>> {
    let default = || environment_url(api).unwrap_or_else(|| own_url(api));
    match url {
        BaseUrl::Named(url) => Ok(url.clone()),
        BaseUrl::BuiltIn => Ok(default()),
        BaseUrl::Recorded(url) => {
            Some(default()).filter(|d| d.is_at(url)).ok_or(UnnamedUrl { url })
        }
    }
}
