//! The command of this invocation, to be typed again with something added.

use retold::inert::inert;

/// Longer values are not repeated: nobody could read what they agree to.
const LONGEST: usize = 500;

/// This command with one more option; `None` if it could not be read or typed as it stands: the value is
/// foreign text.
pub(crate) fn with(option: &str, value: &str) -> Option<String> {
    let args = std::env::args_os().skip(1).map(|arg| arg.into_string().ok());
    let args: Vec<String> = args.collect::<Option<_>>()?;
    command(&args, option, value)
}

fn command(args: &[String], option: &str, value: &str) -> Option<String> {
    let mut command = "retold".to_owned();
    for word in args {
        command.push(' ');
        command.push_str(&quoted(word)?);
    }
    // A value that begins like an option would be read as one.
    let between = if value.starts_with('-') { '=' } else { ' ' };
    Some(format!("{command} {option}{between}{}", quoted(value)?))
}

/// A word as a POSIX shell reads it back, to the byte; `None` if it is not what it looks like.
fn quoted(word: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+".contains(c);
    if word.is_empty() || word.chars().count() > LONGEST || inert(word, LONGEST) != word {
        return None;
    }
    match word.chars().all(plain) {
        true => Some(word.to_owned()),
        false => Some(format!("'{}'", word.replace('\'', r"'\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn a_shell_reads_back_what_was_meant() {
        let args = ["resume", "latest", "--log", "my log.db"].map(str::to_owned);
        let typed = |value: &str| command(&args, "--base-url", value);
        let begins = "retold resume latest --log 'my log.db' --base-url ";
        assert_eq!(typed("http://h/v1"), Some(format!("{begins}http://h/v1")));
        assert_eq!(typed("--force"), Some(format!("{}=--force", begins.trim_end())));
        assert_eq!(typed("http://h/$(id)"), Some(format!("{begins}'http://h/$(id)'")));
        assert_eq!(typed("a'; id #"), Some(format!(r"{begins}'a'\''; id #'")));
        for never in ["", "a\nb", "\u{1b}[2J", "x\u{202e}y", &"x".repeat(501)] {
            assert_eq!(typed(never), None, "{never:?}");
        }
    }
}
