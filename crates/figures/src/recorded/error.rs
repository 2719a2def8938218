//! Names for which nothing was recorded.

use retold::escaping::printable;

use super::census::RunCensus;

/// A name for which nothing was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// There are neither decisions nor facts of this name.
    #[error("figure \"{figure}\": no decision and no fact is called \"{name}\"; {there}")]
    Name {
        /// The figure.
        figure: String,
        /// The name.
        name: String,
        /// The names that there are.
        there: String,
    },
    /// No run has this setting.
    #[error(
        "figure \"{figure}\": no run has the setting \"{setting}\": `retold diff RUN RUN` lists those in which two runs differ"
    )]
    Setting {
        /// The figure.
        figure: String,
        /// The setting.
        setting: String,
    },
    /// No call has this label.
    #[error("figure \"{figure}\": no call has the label \"{label}\"; {there}")]
    Label {
        /// The figure.
        figure: String,
        /// The label.
        label: String,
        /// The labels that there are.
        there: String,
    },
    /// `changed` compares values of one participant, and nothing says whose a value is.
    #[error(
        "figure \"{figure}\": it compares the values of each participant, and no call has the label \"participant\" \
         (`clustered by LABEL` names another); {there}"
    )]
    Participant {
        /// The figure.
        figure: String,
        /// The labels that there are.
        there: String,
    },
    /// A figure counts clusters, and nothing says which they are.
    #[error(
        "figure \"{figure}\": nothing says which values are one cluster; add `clustered by LABEL`: {there}"
    )]
    Cluster {
        /// The figure.
        figure: String,
        /// The labels that there are.
        there: String,
    },
}

/// Names as a message lists them.
fn name_list<'a>(what: &str, names: impl IntoIterator<Item = &'a String>) -> Option<String> {
    const MOST: usize = 12;
    let names: Vec<String> = names.into_iter().map(|name| printable(name, 60)).collect();
    let more = names.len().saturating_sub(MOST);
    let shown = names.iter().take(MOST).cloned().collect::<Vec<_>>().join(", ");
    match (names.is_empty(), more) {
        (true, _) => None,
        (_, 0) => Some(format!("{what}: {shown}")),
        (_, more) => Some(format!("{what}: {shown} and {more} more")),
    }
}

impl RunCensus {
    /// The names there are, for a message about one that there is not: the fields of its beginning, if that is a name.
    pub(crate) fn names(&self, unknown: &str) -> String {
        let name = unknown.split('.').next().unwrap_or(unknown);
        let of_decision = self.decisions.get(name).map(|found| &found.fields);
        let fields = of_decision.filter(|fields| !fields.is_empty()).or(self.facts.get(name));
        let what = format!("fields of \"{}\"", printable(name, 60));
        if let Some(fields) = fields.and_then(|fields| name_list(&what, fields)) {
            return fields;
        }
        let of_several: Vec<String> =
            self.with_field(unknown).map(|fact| format!("{fact}.{unknown}")).collect();
        if let Some(fields) = name_list("fields of this name", &of_several) {
            return fields;
        }
        let decisions = name_list("known decisions", self.decisions.keys());
        let facts = name_list("known facts", self.facts.keys());
        let there: Vec<String> = decisions.into_iter().chain(facts).collect();
        match there.is_empty() {
            true => "no decisions and no facts were recorded".to_owned(),
            false => there.join("; "),
        }
    }

    /// The labels there are, for messages.
    pub(crate) fn label_names(&self) -> String {
        let labels = name_list("known labels", self.labels.keys());
        labels.unwrap_or_else(|| "no call has any".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::recorded::ValueCensus;

    #[test]
    fn messages_list_the_names_that_there_are() {
        let mut census = RunCensus::default();
        census.decisions.insert("vote".to_owned(), ValueCensus::default());
        for fact in ["score", "paid"] {
            census.facts.insert(fact.to_owned(), ["coins".to_owned()].into());
        }
        census.labels.insert("phase".to_owned(), BTreeSet::new());
        insta::assert_snapshot!(
            format!("{}\n{}\n{}", census.names("votes"), census.names("paid.sum"), census.label_names()),
            @r#"
        known decisions: vote; known facts: paid, score
        fields of "paid": coins
        known labels: phase
        "#
        );
        let none = RunCensus::default();
        insta::assert_snapshot!(
            format!("{}\n{}", none.names("vote"), none.label_names()),
            @r"
        no decisions and no facts were recorded
        no call has any
        "
        );
    }
}
