#![no_main]

#[path = "../src/files.rs"]
mod files;

libfuzzer_sys::fuzz_target!(|data: &[u8]| files::fuzz_file("keys", data));
