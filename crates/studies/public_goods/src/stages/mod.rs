//! The stages of a round, and the grouping after the last one.
//!
//! All games go through a stage together. Contributions are simultaneous, and so are
//! redistributions: all questions are asked before any player knows an answer. Messages are sent
//! one after the other in the order of the players, and each player sees the earlier ones, as in
//! the original program.

mod chat;
mod contribution;
mod reasoning;
mod redistribution;
mod requests;
mod settle;

pub(crate) use settle::settlement_facts;
