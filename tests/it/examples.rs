//! The examples, run.

use crate::support::block_on;

#[expect(dead_code, reason = "its main is for the command line")]
#[path = "../../examples/bargaining.rs"]
mod bargaining;

#[test]
fn two_agents_bargain_and_agree() {
    let said = block_on(bargaining::bargain()).unwrap();
    insta::assert_snapshot!(said, @r"
    Ann offers 32
    Bob offers 45
    Ann agrees
    ");
}

#[test]
fn it_is_short() {
    let text = include_str!("../../examples/bargaining.rs");
    assert!(text.lines().count() < 105, "{} lines", text.lines().count());
}
