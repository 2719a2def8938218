//! The parts of a command: its words, its program, and the digests of the files that it runs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::FilterError;

/// The words of a command. They are separated by white space; single or double quotes keep it as
/// part of a word, and a backslash outside single quotes takes the next character literally.
/// Nothing is expanded.
pub(super) fn words(command: &str) -> Result<Vec<String>, FilterError> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('\\', None | Some('"')) => {
                word.get_or_insert_default().push(chars.next().unwrap_or('\\'));
            }
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    if quote.is_some() {
        return Err(FilterError::Quote { command: command.to_owned() });
    }
    words.extend(word);
    Ok(words)
}

/// The program's location: a path is used as it is, and a name is searched for.
pub(super) fn find(name: &str, path: Option<&OsStr>) -> Result<PathBuf, FilterError> {
    let none = |place| FilterError::NoProgram { name: name.to_owned(), place };
    if name.contains('/') || cfg!(windows) && name.contains('\\') {
        let program = PathBuf::from(name);
        // If the system searched for the name, it would find another program.
        return if program.is_file() { Ok(program) } else { Err(none("")) };
    }
    let folders = path.map(std::env::split_paths).into_iter().flatten();
    let endings: &[&str] = if cfg!(windows) { &["", ".exe"] } else { &[""] };
    let mut candidates = folders
        .flat_map(|folder| endings.iter().map(move |end| folder.join(format!("{name}{end}"))));
    candidates.find(|candidate| is_program(candidate)).ok_or_else(|| {
        none(if Path::new(name).is_file() {
            " on the PATH: for one in this folder, write ./ before its name"
        } else {
            " on the PATH"
        })
    })
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file()
}

/// The files among the arguments: an interpreter's script and its inputs.
pub(super) fn named_files(words: &[String]) -> impl Iterator<Item = (&str, PathBuf)> {
    let paths = words.iter().skip(1).map(|word| (word.as_str(), PathBuf::from(word)));
    // A pipe or a device has no digest.
    paths.filter(|(_, path)| path.is_file())
}

/// A file of a filter, with its digest.
pub(super) struct FilterFile {
    /// The name as it is written in the command.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// BLAKE3-256, in hex.
    pub(super) blake3: String,
}

/// Reads a file and computes its digest.
pub(super) fn digest(name: &str, path: PathBuf) -> Result<FilterFile, FilterError> {
    let mut hasher = blake3::Hasher::new();
    let read = std::fs::File::open(&path).and_then(|file| hasher.update_reader(file).map(drop));
    match read {
        Ok(()) => {
            Ok(FilterFile { name: name.to_owned(), path, blake3: hasher.finalize().to_string() })
        }
        Err(e) => Err(FilterError::Unreadable { path: path.display().to_string(), source: e }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_by_a_shell_without_expansion() {
        let words = |command| words(command).expect("words");
        assert_eq!(words("  python3\tf.py  --x "), ["python3", "f.py", "--x"]);
        assert_eq!(words(r#"'a b' "c d" e\ f """#), ["a b", "c d", "e f", ""]);
        assert_eq!(words(r#"'\n' "\"" a'b'c"#), ["\\n", "\"", "abc"]);
        assert_eq!(words("$HOME `x` *; rm"), ["$HOME", "`x`", "*;", "rm"]);
        assert!(words("").is_empty());
    }

    #[test]
    fn a_quote_must_be_closed() {
        let error = words("a 'b").expect_err("not closed").to_string();
        assert_eq!(error, "the command of the filter, \"a 'b\", has a quote that is not closed");
    }
}
