//! The prompts: templates that come with the program, word for word those of the source document.
//!
//! Where the document enumerates (`- {option_1}`, `- {option_2}`, `- ...`) the template has a loop;
//! everything else, braces included, is the document's text.

macro_rules! templates {
    ($($name:literal),+ $(,)?) => {
        /// The names of all templates.
        pub const NAMES: &[&str] = &[$($name),+];

        /// The templates of `config/prompts/deliberation/`: name and text.
        pub fn built_in() -> Vec<(String, String)> {
            vec![$((
                $name.to_owned(),
                include_str!(concat!("../../../config/prompts/deliberation/", $name, ".txt"))
                    .to_owned(),
            )),+]
        }
    };
}

templates![
    "base_system",
    "initial_vote",
    "clarification_moderator",
    "clarification_participant",
    "individual_summary",
    "cluster_description",
    "llm_judge",
    "cross_pollination",
    "vote_after_summary_system",
    "vote_after_summary",
    "adversarial_moderator",
    "adversarial_participant",
    "vote_after_dialogue_system",
    "vote_after_dialogue",
    "demographics",
    "enrich_persona",
];
