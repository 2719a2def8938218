//! The phases, each a part of the experiment.

mod phase0_personas;
mod phase1_initial_vote;
mod phase2_threshold;
mod phase3_clarification;
mod phase4_summaries;
mod phase5_opposition;
mod phase6_cross_pollination;
mod phase7_challenge;
mod taken_over;
