//! Logs in a bucket and in a shared folder: the real program, with the store of `moto` (a simulation of S3) on
//! loopback, and with a folder.

mod bucket_policy;
mod compacting;
mod conformance;
mod copies;
mod errors;
mod faults;
mod killed;
mod lab;
mod moto;
mod objects;
mod requests;
mod sent_tables;
mod shards;
mod tampering;
mod uncounted;
mod writers;
