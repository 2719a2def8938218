//! The `retold` program.

fn main() {}
