//! The Game of 24 parsers, the validator and its arithmetic.

mod arithmetic;
mod frozen;
mod real_answers;
mod totality;
