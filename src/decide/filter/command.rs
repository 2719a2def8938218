//! A command taken apart: its words, its program, and the digests of what it runs.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::FilterError;

/// The words of a command. White space parts them; a word in single or double quotes may have it inside, and a
/// backslash outside single quotes takes the next character as it is. Nothing is expanded.
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

/// Where the program is: a path as it stands, or a name that is looked for.
pub(super) fn find(name: &str, path: Option<&OsStr>) -> Result<PathBuf, FilterError> {
    let none = |place| FilterError::NoProgram { name: name.to_owned(), place };
    if name.contains('/') || cfg!(windows) && name.contains('\\') {
        let program = PathBuf::from(name);
        // A name that is looked for by the system would be another program.
        return if program.is_file() { Ok(program) } else { Err(none("")) };
    }
    let folders = path.map(std::env::split_paths).into_iter().flatten();
    let endings: &[&str] = if cfg!(windows) { &["", ".exe"] } else { &[""] };
    let mut candidates = folders
        .flat_map(|folder| endings.iter().map(move |end| folder.join(format!("{name}{end}"))));
    candidates.find(|candidate| is_program(candidate)).ok_or_else(|| {
        none(match Path::new(name).is_file() {
            true => " on the PATH: for one in this folder, write ./ before its name",
            false => " on the PATH",
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

/// The files among the arguments: the script that an interpreter runs, and what it is given.
pub(super) fn named_files(words: &[String]) -> impl Iterator<Item = (&str, PathBuf)> {
    let paths = words.iter().skip(1).map(|word| (word.as_str(), PathBuf::from(word)));
    // A pipe or a device has no digest.
    paths.filter(|(_, path)| path.is_file())
}

/// A file of a filter, and what was in it.
pub(super) struct Digested {
    /// As the command spells it.
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// BLAKE3-256, in hex.
    pub(super) blake3: String,
}

/// Reads a file for its digest.
pub(super) fn digest(name: &str, path: PathBuf) -> Result<Digested, FilterError> {
    let mut hasher = blake3::Hasher::new();
    let read = std::fs::File::open(&path).and_then(|file| hasher.update_reader(file).map(drop));
    match read {
        Ok(()) => {
            Ok(Digested { name: name.to_owned(), path, blake3: hasher.finalize().to_string() })
        }
        Err(e) => {
            Err(FilterError::Unreadable { path: path.display().to_string(), reason: e.to_string() })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted_as_by_a_shell_and_nothing_is_expanded() {
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
