#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| retold_fuzz::fuzz_one("vector", data));
