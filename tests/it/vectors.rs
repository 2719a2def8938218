//! Published test vectors: RFC 8785 and BLAKE3.

use std::fs;

use data_encoding::HEXLOWER;
use retold::jsonl::JsonlReader;
use retold::prompt::{canonical, hash_of};
use serde_json::Value;

use crate::support::shared_data;

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn rfc_8785_documents() {
    for name in ["arrays", "french", "structures", "unicode", "values", "weird"] {
        let read = |folder: &str| {
            fs::read_to_string(shared_data(&format!("jcs/testdata/{folder}/{name}.json"))).unwrap()
        };
        let value: Value = serde_json::from_str(&read("input")).unwrap();
        assert_eq!(canonical(&value).unwrap(), read("output"), "{name}");
        let again: Value = serde_json::from_str(&read("output")).unwrap();
        assert_eq!(canonical(&again).unwrap(), read("output"), "{name}, a second time");
    }
}

/// Each double is written as in ECMAScript, and is read back as the same bits.
#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn rfc_8785_numbers() {
    let lines = JsonlReader::open(shared_data("jcs/es6testfile100k.txt.gz")).unwrap();
    let mut count = 0;
    for line in lines {
        let (number, line) = line.unwrap();
        let (bits, expected) = line.split_once(',').unwrap();
        let value = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
        assert_eq!(canonical(&value).unwrap(), expected, "line {number}");
        let read: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(read.as_f64().unwrap(), value, "line {number}");
        assert_eq!(canonical(&read).unwrap(), expected, "line {number}, read back");
        count += 1;
    }
    assert_eq!(count, 100_000);
}

#[test]
#[cfg_attr(not(shared_data), ignore = "needs ../shared, which is not part of the repository")]
fn blake3() {
    let text = fs::read_to_string(shared_data("blake3/test_vectors/test_vectors.json")).unwrap();
    let vectors: Value = serde_json::from_str(&text).unwrap();
    let cases = vectors["cases"].as_array().unwrap();
    assert!(cases.len() >= 30, "{} cases", cases.len());
    for case in cases {
        let length = case["input_len"].as_u64().unwrap() as usize;
        let input: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let expected = &case["hash"].as_str().unwrap()[..64];
        assert_eq!(HEXLOWER.encode(&hash_of(&input)), expected, "{length} bytes");
    }
}
