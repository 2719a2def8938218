//! The Game of 24 parsers, the validator and the arithmetic under them.

mod arithmetic;
mod frozen;
mod real_answers;
mod totality;
