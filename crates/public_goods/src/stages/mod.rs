//! The stages of a round, and the grouping behind the last one.
//!
//! All games go through a stage together. Contributions, and redistributions, are simultaneous: all
//! questions are asked before any answer is known to anybody. Messages are sent one after the other
//! in the order of the players, and each sees those before it, as the original program has it.

mod chat;
mod contribution;
mod reasoning;
mod redistribution;
mod requests;
mod settle;

pub(crate) use settle::settled;
