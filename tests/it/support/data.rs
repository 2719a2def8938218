//! Real data next to the repository, in `../shared/data`. Several of its sources state no licence,
//! so none of it is committed.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde_json::Value;

/// A folder of the data.
///
/// # Panics
/// If it is missing: a test that did not run must not look like one that passed.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("RETOLD_ROOT")).join("../shared/data").join(name);
    assert!(
        path.is_dir(),
        "needs ../shared/data ({name}), which is not part of the repository: mark the test \
         `#[cfg_attr(not(shared_data), ignore = \"..\")]`",
    );
    path
}

/// The rows of a JSON Lines file in a folder of the data; gzipped if its name says so.
pub(crate) fn rows(folder_name: &str, file: &str) -> impl Iterator<Item = Value> + use<> {
    let path = folder(folder_name).join(file);
    let opened = File::open(&path)
        .unwrap_or_else(|e| panic!("needs ../shared/data ({folder_name}/{file}): {e}"));
    let reader: Box<dyn Read> = if file.ends_with(".gz") {
        Box::new(MultiGzDecoder::new(opened))
    } else {
        Box::new(opened)
    };
    BufReader::new(reader).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap())
}

/// Every folder of the data, however deep, that contains a file with the given name; in order.
pub(crate) fn subfolders(name: &str, file: &str) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![folder(name)], Vec::new());
    while let Some(folder) = open.pop() {
        if folder.join(file).exists() {
            found.push(folder.clone());
        }
        let entries = std::fs::read_dir(folder).unwrap();
        open.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()));
    }
    found.sort();
    found
}
