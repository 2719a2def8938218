//! Completions and manual pages, as shells and `man` use them.

use std::process::Command;

use crate::support::cli::{Place, Said};

/// What a shell prints that runs a program, after the script for it was written into the place.
fn said_by(place: &Place, shell: &str, file: &str, program: &str) -> Vec<String> {
    place.write(file, place.ok(&format!("generate completions {shell}")));
    let mut command = Command::new(shell);
    place.shut_off(&mut command);
    if shell == "bash" {
        command.arg("--norc");
    }
    let said = Said::ended(command.arg("-c").arg(program));
    assert_eq!(said.code, 0, "{shell}: {}{}", said.out, said.err);
    // fish describes each completion after a tab.
    let word = |line: &str| line.split('\t').next().unwrap_or("").trim().to_owned();
    said.out.lines().map(word).filter(|line| !line.is_empty()).collect()
}

#[test]
fn bash_completes_commands_options_and_values() {
    let place = Place::new();
    let complete = |words: &str| {
        let program = format!(
            r#"source ./retold.bash; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _retold retold "${{COMP_WORDS[COMP_CWORD]}}" "${{COMP_WORDS[COMP_CWORD - 1]}}"
            printf '%s\n' "${{COMPREPLY[@]}}""#
        );
        said_by(&place, "bash", "retold.bash", &program)
    };
    assert_eq!(complete("retold repl"), ["replay"]);
    assert_eq!(complete("retold export x --with-k"), ["--with-key"]);
    assert!(complete("retold export --as ''").contains(&"otlp".to_owned()));
    assert_eq!(complete("retold generate schema pub"), ["public_goods"]);
    assert_eq!(complete("retold init soc"), ["society"]);
    assert_eq!(complete("retold log latest --kind Decision"), ["DecisionMade"]);
    assert_eq!(complete("retold check --parser contribution@1"), ["contribution@1"]);
}

#[test]
fn fish_completes_commands_options_and_values() {
    let place = Place::new();
    let complete = |line: &str| {
        let program = format!("source ./retold.fish; complete -C '{line}'");
        said_by(&place, "fish", "retold.fish", &program)
    };
    assert_eq!(complete("retold repl"), ["replay"]);
    assert_eq!(complete("retold export x --with-k"), ["--with-key"]);
    assert!(complete("retold export --as ").contains(&"otlp".to_owned()));
    assert_eq!(complete("retold generate schema pub"), ["public_goods"]);
    assert_eq!(complete("retold log latest --kind Decision"), ["DecisionMade"]);
    assert_eq!(complete("retold check --parser contribution@1"), ["contribution@1"]);
    assert_eq!(complete("retold study deliberation "), ["personas"]);
    assert_eq!(complete("retold study deliberation personas "), ["import", "list", "stats"]);
    assert_eq!(complete("retold study adventure play --choo"), ["--choose"]);
}

/// zsh completes at a terminal alone: what it adds to the line is printed instead.
#[test]
fn zsh_completes_commands_options_and_values() {
    let place = Place::new();
    let complete = |line: &str| {
        let program = format!(
            r#"zmodload zsh/zpty; zpty shell zsh -f -i
            zpty -w shell 'PROMPT=; autoload -U compinit; compinit -u -D; source ./_retold'
            zpty -w shell 'list() {{ print -r -- "<$BUFFER>" }}; zle -N list; bindkey "^T" list; print rea''dy'
            while zpty -r shell line; do [[ $line == *ready* ]] && break; done
            zpty -w -n shell $'{line}\t\x14'
            while zpty -r shell line; do
                [[ $line == *\<retold*\>* ]] && print -r -- "${{${{line##*<}}%%>*}}" && break
            done
            zpty -d shell"#
        );
        said_by(&place, "zsh", "_retold", &program)
    };
    assert_eq!(complete("retold repl"), ["retold replay"]);
    // After the first of several names, zsh offers files alone.
    assert_eq!(complete("retold export --with-k"), ["retold export --with-key"]);
    assert_eq!(complete("retold export --as inspect"), ["retold export --as inspect-scout"]);
    assert_eq!(complete("retold generate schema pub"), ["retold generate schema public_goods"]);
}

#[test]
fn each_command_has_a_manual_page() {
    let place = Place::new();
    let said = place.ok("generate man pages");
    let page = |name: &str| place.read(&format!("pages/{name}.1"));
    let pages = std::fs::read_dir(place.path("pages")).unwrap().count();
    assert_eq!(said, format!("{pages} pages written to pages\n"));
    for name in ["retold", "retold-export", "retold-check", "retold-study-deliberation"] {
        assert!(page(name).contains(&format!(".TH {name} 1")), "{name}");
    }
    let version = env!("CARGO_PKG_VERSION");
    let head = format!(".TH retold-export 1  \"retold {version}\"");
    let export = page("retold-export");
    assert!(export.contains(&head), "{export}");
    let usage = "\\fBretold export\\fR [OPTIONS] [RUN] [TO]...";
    assert!(export.contains(&format!(".SH SYNOPSIS\n{usage}\n")), "{export}");
    // What clap sees as options is in the page, and a line that began with a dot would be a command of roff.
    let export = page("retold-export").replace("\\-", "-");
    assert!(export.contains("--with-key") && export.contains("inspect-scout"), "{export}");
}
