//! The parsers of the adventure.

mod assertions;
mod document;
mod forms;
mod lists;
mod markers;
mod objects;
mod rules;
