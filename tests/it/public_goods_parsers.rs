//! The parsers of the public goods game.

mod real_answers;
mod rules;
