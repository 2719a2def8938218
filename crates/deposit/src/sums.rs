//! `SHA256SUMS`: the hash of each other file of a folder, as `sha256sum --check` reads it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path};

use data_encoding::HEXLOWER;
use retold::escaping::printable;
use ring::digest::{Context, SHA256};

use crate::DRAWN;

/// The name of the file.
pub const SUMS: &str = "SHA256SUMS";

/// The longest list that is read, in bytes.
const LONGEST: u64 = 64 << 20;

/// The deepest folders that are looked into.
const DEEPEST: usize = 4;

/// A file that is not as its deposit says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileFault {
    /// It has other bytes.
    #[error("{0}: it is not the file that was deposited: {SUMS} has another hash of it")]
    Different(String),
    /// It is not there.
    #[error("{0}: it is missing")]
    Missing(String),
    /// No hash is known of it.
    #[error("{0}: it is not part of the deposit: {SUMS} does not list it")]
    Unlisted(String),
    /// A line of the list is something else.
    #[error("{SUMS}, line {0}: it is not a hash and the name of a file")]
    Line(usize),
    /// It is a link, a pipe or something else of which nothing is read.
    #[error("{0}: it is not a plain file")]
    NotAFile(String),
    /// It cannot be read.
    #[error("{0}: {1}")]
    Unreadable(String, String),
}

/// The SHA-256 of a file.
///
/// # Errors
/// It cannot be read.
pub fn sha256_of_file(path: &Path) -> io::Result<String> {
    let (mut file, mut hash) = (File::open(path)?, Context::new(&SHA256));
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(HEXLOWER.encode(hash.finish().as_ref())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// The text of `SHA256SUMS` for all files of a folder, in the order of their names.
///
/// # Errors
/// A file cannot be read.
pub fn sums_of_folder(folder: &Path) -> io::Result<String> {
    let mut text = String::new();
    for name in names_in(folder)? {
        let hash = sha256_of_file(&folder.join(&name))?;
        text.push_str(&format!("{hash}  {name}\n"));
    }
    Ok(text)
}

/// Compares each file of a folder with its hash; all that is wrong, in the order of names.
///
/// # Errors
/// The folder or its `SHA256SUMS` cannot be read.
pub fn check_folder(folder: &Path) -> io::Result<Vec<FileFault>> {
    let list = folder.join(SUMS);
    let text = match fs::symlink_metadata(&list)?.is_file() && fs::metadata(&list)?.len() <= LONGEST
    {
        true => fs::read_to_string(&list)?,
        false => return Err(io::Error::other("it is not a list of hashes")),
    };
    let (mut listed, mut faults): (BTreeMap<String, String>, Vec<FileFault>) = Default::default();
    for (at, line) in text.lines().enumerate() {
        match line.split_once("  ").filter(|(hash, name)| hash.len() == 64 && is_inside(name)) {
            Some((hash, name)) => drop(listed.insert(name.to_owned(), hash.to_owned())),
            None => faults.push(FileFault::Line(at + 1)),
        }
    }
    for name in names_in(folder)? {
        let shown = printable(&name, 200);
        let Some(hash) = listed.remove(&name) else {
            faults.push(FileFault::Unlisted(shown));
            continue;
        };
        if !is_plain(&folder.join(&name)) {
            faults.push(FileFault::NotAFile(shown));
            continue;
        }
        match sha256_of_file(&folder.join(&name)) {
            Ok(found) if found == hash => {}
            Ok(_) => faults.push(FileFault::Different(shown)),
            Err(error) => faults.push(FileFault::Unreadable(shown, error.to_string())),
        }
    }
    faults.extend(listed.into_keys().map(|name| FileFault::Missing(printable(&name, 200))));
    Ok(faults)
}

/// The files of a folder and of those in it, but for the list itself and for what scripts have drawn.
fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    add_names(folder, "", 0, &mut names)?;
    names.retain(|name| name != SUMS);
    names.sort_unstable();
    Ok(names)
}

fn add_names(folder: &Path, before: &str, depth: usize, names: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        let is_folder = entry.file_type()?.is_dir();
        if is_folder && name == DRAWN {
            continue;
        }
        match is_folder && depth < DEEPEST {
            true => add_names(&entry.path(), &format!("{name}/"), depth + 1, names)?,
            false => names.push(name),
        }
    }
    Ok(())
}

/// Whether a path is that of a file, and not of a link or a pipe, which might never end.
fn is_plain(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| it.is_file())
}

/// Whether a name leads nowhere else.
fn is_inside(name: &str) -> bool {
    !name.is_empty()
        && Path::new(name).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_done_to_a_file_names_it() {
        let place = tempfile::tempdir().unwrap();
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("tables")).unwrap();
        fs::create_dir_all(path(DRAWN)).unwrap();
        for name in ["README.md", "tables/runs.csv", "drawn/figure-1.svg"] {
            fs::write(path(name), name).unwrap();
        }
        let sums = sums_of_folder(place.path()).unwrap();
        assert_eq!(sums.lines().count(), 2, "{sums}");
        fs::write(path(SUMS), &sums).unwrap();
        let check = || check_folder(place.path()).unwrap();
        assert_eq!(check(), []);
        fs::write(path("tables/runs.csv"), "other").unwrap();
        assert_eq!(check(), [FileFault::Different("tables/runs.csv".to_owned())]);
        fs::remove_file(path("tables/runs.csv")).unwrap();
        fs::write(path("new"), "").unwrap();
        assert_eq!(
            check(),
            [
                FileFault::Unlisted("new".to_owned()),
                FileFault::Missing("tables/runs.csv".to_owned())
            ]
        );
        #[cfg(unix)]
        {
            fs::remove_file(path("new")).unwrap();
            std::os::unix::fs::symlink("/dev/zero", path("tables/runs.csv")).unwrap();
            assert_eq!(check(), [FileFault::NotAFile("tables/runs.csv".to_owned())]);
        }
        fs::write(path(SUMS), sums.replace("README.md", "../x")).unwrap();
        assert_eq!(check()[0], FileFault::Line(1));
    }
}
