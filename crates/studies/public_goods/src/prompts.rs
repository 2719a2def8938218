//! The prompts: built-in templates.
//!
//! Everything that the source document spells out is in them word for word: the contribution stage
//! of its "Full Game Flow" and the three output formats. `exactly N integers, e.g., [0, 2, 1, 0]`
//! is filled in with the number of targets and an example of that length. The rest is ours, in the
//! same tone.

use retold_study::template::embedded;

embedded! { "../../../config/prompts/public_goods":"rules", "history", "chat", "contribution", "decision", "redistribution"}
