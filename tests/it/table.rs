//! Tables as other programs read them.

use proptest::prelude::*;
use retold_study::table::Table;

#[test]
fn a_table_is_rfc_4180() {
    let mut table = Table::new("votes", &["participant", "said"]);
    table.row(["p_0001", "Yes, \"of course\""]);
    table.row(["p_0002", "two\nlines"]);
    table.row(["p_0003", ""]);
    assert_eq!((table.name(), table.len(), table.is_empty()), ("votes", 3, false));
    let text = String::from_utf8(table.csv().bytes().unwrap()).unwrap();
    assert_eq!(
        text,
        "participant,said\np_0001,\"Yes, \"\"of course\"\"\"\np_0002,\"two\nlines\"\np_0003,\n"
    );
}

/// A model's output does not reach a terminal unescaped; numbers and formulas stay unchanged.
#[test]
fn only_control_characters_in_cells_are_escaped() {
    let mut table = Table::new("t", &["a"]);
    let cells =
        ["\u{1b}]0;pwned\u{7}", "a\rb", "a\r\nb\tc", "\u{9b}31m", "-1.5", "=1+1", "+1", "@x"];
    cells.iter().for_each(|cell| table.row([*cell]));
    let text = String::from_utf8(table.csv().bytes().unwrap()).unwrap();
    assert_eq!(
        text,
        "a\n\\u{1b}]0;pwned\\u{7}\na\\u{d}b\n\"a\r\nb\tc\"\n\\u{9b}31m\n-1.5\n=1+1\n+1\n@x\n"
    );
}

proptest! {
    #[test]
    fn every_cell_comes_back(rows in prop::collection::vec([".*", ".*", "[\\s,\"]*"], 0..5)) {
        let mut table = Table::new("t", &["a", "b", "c"]);
        rows.iter().for_each(|row| table.row(row.clone()));
        let bytes = table.csv().bytes().unwrap();
        let mut read = csv::Reader::from_reader(bytes.as_slice());
        let back: Vec<Vec<String>> = read
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect();
        let is_control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        prop_assert_eq!(back.len(), rows.len());
        for (back, cell) in back.iter().flatten().zip(rows.iter().flatten()) {
            match cell.contains(is_control) {
                false => prop_assert_eq!(back, cell),
                true => prop_assert!(!back.replace("\r\n", "").contains(is_control), "{back:?}"),
            }
        }
    }
}
