//! The parsers of the adventure.

mod assertions;
mod document;
mod lists;
mod markers;
mod objects;
mod rules;
