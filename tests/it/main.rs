//! All integration tests, in one binary: it links once and shares its support code.
#![cfg(test)] // so that clippy knows the support code for test code, too
#![expect(clippy::print_stderr, reason = "some tests say how much they have tried")]

mod adventure;
mod adventure_parsers;
mod answer_parsers;
mod apis_page;
mod append_only;
mod batches;
mod bucket;
mod cli;
mod conformance;
mod converse;
mod crash;
mod declared;
mod deliberation;
mod deliberation_prompts;
mod divergence;
mod examples;
mod foreign;
mod forks;
mod format;
mod frozen_answers;
#[expect(unreachable_pub, reason = "public in the fuzz targets")]
#[path = "../../fuzz/src/files.rs"]
mod fuzz_files;
mod fuzz_smoke;
#[expect(unreachable_pub, reason = "public in the crate of the fuzz targets")]
#[path = "../../fuzz/src/lib.rs"]
mod fuzz_targets;
mod game24_parsers;
mod glossary;
mod growth;
mod independence;
mod index;
mod index_writes;
mod json_repair_parser;
mod jsonl;
mod labels;
mod layers;
mod leases;
mod ledger;
mod lists;
mod long_answers;
mod lost;
mod merges;
mod models;
mod other_readers;
mod parsers_lock;
mod power_loss;
mod processes;
mod program_events;
mod prompt_hash;
mod proofs;
mod public_answers;
mod public_goods;
mod public_goods_parsers;
mod readme;
mod reference;
mod rehearsal;
mod replay;
mod resume;
mod roundtrip;
mod serve;
mod shapes;
mod shards;
mod slow_models;
mod society;
mod society_parsers;
mod state;
mod stats;
mod support;
mod table;
mod tables;
mod tamper;
mod third_store;
mod totality;
mod traffic;
mod vectors;
mod view_tables;
mod views;
mod whole_answers;
mod wire;
