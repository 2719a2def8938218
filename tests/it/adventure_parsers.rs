//! The parsers of the adventure.

mod assertions;
mod document;
mod rules;
