//! Which hosts are opened: those of known providers, and those that the user names.

use std::collections::BTreeMap;

use retold::model::providers::{self, is_known_host};

/// The hosts that the user named; whether all their ports are meant, or only the usual one.
pub type NamedHosts = BTreeMap<String, bool>;

/// A `NO_PROXY` without the entries that cover a known provider or a named host, and these entries: what
/// a program asks there would pass unseen.
pub fn not_hiding(no_proxy: &str, named: &NamedHosts) -> (Vec<String>, Vec<String>) {
    let entries = no_proxy.split(',').map(str::trim).filter(|entry| !entry.is_empty());
    entries.map(str::to_owned).partition(|entry| {
        let entry = entry.trim_start_matches(['*', '.']).to_ascii_lowercase();
        let covers = |host: &str| {
            host.strip_suffix(&*entry).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        let is_covering =
            || providers::hosts().any(covers) || named.keys().any(|host| covers(host));
        !entry.is_empty() && !is_known_host(&entry) && !is_covering()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_hides_no_model() {
        let named = NamedHosts::from([("llm.corp.example".to_owned(), false)]);
        let given =
            "intranet, .corp.example,10.0.0.0/8,googleapis.com,mine.openai.azure.com,*,x.ai,ai";
        let (kept, left) = not_hiding(given, &named);
        assert_eq!(kept, ["intranet", "10.0.0.0/8"]);
        assert_eq!(left.len(), 6, "{left:?}");
        assert_eq!(not_hiding(".corp.example", &NamedHosts::new()).0, [".corp.example"]);
        assert_eq!(not_hiding(" , ", &named), (Vec::new(), Vec::new()));
    }
}
