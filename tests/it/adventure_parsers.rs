//! The parsers of the adventure.

mod assertions;
mod document;
mod markers;
mod rules;
