//! `CITATION.cff`, version 1.2.0 of the Citation File Format.

use retold::event::PROGRAM;

use crate::facts::DepositFacts;

pub(crate) fn text(facts: &DepositFacts<'_>) -> String {
    // Titles are JSON strings, which are YAML strings as well.
    let title = serde_json::to_string(&format!("Recorded answers: {}", facts.title()));
    let mut keywords = vec!["large language models", "retold"];
    keywords.extend(
        facts
            .summaries()
            .next()
            .map(|of| of.started.experiment.as_str())
            .filter(|of| *of != PROGRAM),
    );
    let keywords: Vec<String> = keywords
        .iter()
        .filter_map(|word| serde_json::to_string(word).ok())
        .map(|word| format!("  - {word}\n"))
        .collect();
    format!(
        "# To be added by the authors: their names below, and whatever else identifies the deposit (doi, license, date-released).\n\
         cff-version: 1.2.0\n\
         message: If you use these recordings, please cite them as below.\n\
         type: dataset\n\
         title: {}\n\
         authors:\n  - name: To be added by the authors\n\
         keywords:\n{}",
        title.unwrap_or_default(),
        keywords.concat()
    )
}
