//! The integration tests, in one binary: one link, shared helpers.
#![cfg(test)] // so that clippy knows the support code for test code, too

mod adventure_parsers;
mod frozen_answers;
mod fuzz_smoke;
mod game24_parsers;
mod json_repair_parser;
mod parsers_lock;
mod public_goods_parsers;
mod society_parsers;
mod support;
mod totality;
