//! Tables as other programs read them.

use proptest::prelude::*;
use retold::table::Table;

#[test]
fn a_table_is_rfc_4180() {
    let mut table = Table::new("votes", &["participant", "said"]);
    table.row(["p_0001", "Yes, \"of course\""]);
    table.row(["p_0002", "two\nlines"]);
    table.row(["p_0003", ""]);
    let text = String::from_utf8(table.csv()).unwrap();
    assert_eq!(
        text,
        "participant,said\np_0001,\"Yes, \"\"of course\"\"\"\np_0002,\"two\nlines\"\np_0003,\n"
    );
    assert_eq!((table.name(), table.len(), table.is_empty()), ("votes", 3, false));
}

proptest! {
    #[test]
    fn every_cell_comes_back(rows in prop::collection::vec([".*", ".*", "[\\s,\"]*"], 0..5)) {
        let mut table = Table::new("t", &["a", "b", "c"]);
        rows.iter().for_each(|row| table.row(row.clone()));
        let bytes = table.csv();
        let mut read = csv::Reader::from_reader(bytes.as_slice());
        let back: Vec<Vec<String>> = read
            .records()
            .map(|record| record.unwrap().iter().map(str::to_owned).collect())
            .collect();
        prop_assert_eq!(back, rows.iter().map(|row| row.to_vec()).collect::<Vec<_>>());
    }
}
