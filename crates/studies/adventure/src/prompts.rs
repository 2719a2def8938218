//! The prompts: built-in templates. The formats of answers in them are word for word those of the
//! source document, which has no other words for a model.

use retold_study::template::embedded;

embedded! { "../../../config/prompts/adventure":"master_system", "opening", "choice", "master_turn", "character", "player", "human"}
