//! The pages in docs/clients: the two lines of each are typed as they are there, with the program of
//! the page, first with a server and then without one.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::{KEY, PATH, assert_no_key, node, python};
use crate::support::cli::{Place, Said};

/// A page: its two lines, and the program that it shows, by file name.
struct Page {
    lines: Vec<String>,
    files: BTreeMap<String, String>,
}

impl Page {
    fn read(name: &str) -> Page {
        let path = Path::new(env!("RETOLD_ROOT")).join("docs/clients").join(format!("{name}.md"));
        let text = std::fs::read_to_string(path).unwrap();
        let (mut lines, mut files, mut inside) = (Vec::new(), BTreeMap::new(), None);
        for line in text.lines() {
            match (line.strip_prefix("```"), &inside) {
                (Some(_), Some(_)) => inside = None,
                (Some(kind), None) => inside = Some(kind.to_owned()),
                (None, Some(kind)) => match kind.split_once(' ') {
                    Some((_, file)) => {
                        let text: &mut String = files.entry(file.to_owned()).or_default();
                        text.push_str(&format!("{line}\n"));
                    }
                    None => lines.push(line.to_owned()),
                },
                (None, None) => {}
            }
        }
        assert_eq!((lines.len(), files.len()), (2, 1), "{name}: two lines to type, and a program");
        Page { lines, files }
    }
}

/// What a shell does with a line; `retold`, `python` and `node` are found as for a user.
fn type_in(place: &Place, line: &str, set: &[(&str, &str)], offline: bool) -> Said {
    let retold = Path::new(env!("CARGO_BIN_EXE_retold")).parent().unwrap();
    let python = python::python();
    let path = format!("{}:{}:{PATH}", retold.display(), python.rsplit_once('/').unwrap().0);
    let mut command = match offline {
        false => Command::new("/bin/sh"),
        true => {
            let mut command = Command::new("/usr/bin/unshare");
            command.args(["--net", "--map-root-user", "/bin/sh"]);
            command
        }
    };
    place.shut_off(&mut command);
    let line = if offline { format!("ip link set lo up && {line}") } else { line.to_owned() };
    command.args(["-c", &line]).env("PATH", path).envs(set.iter().copied());
    Said::ended(&mut command)
}

/// Types in the lines of a page. `same` picks what must be the same in both outputs.
fn follow(name: &str, same: fn(&str) -> String) {
    let Page { lines, files } = Page::read(name);
    let place = Place::new();
    for (file, text) in &files {
        place.write(file, text);
    }
    if name == "openai-node" {
        node::with_packages(&place);
    }
    let upstream = super::apis::server();
    let at = |path: &str| format!("http://{}/{path}", upstream.address());
    let set = [
        ("OPENAI_BASE_URL", at("openai")),
        ("ANTHROPIC_BASE_URL", at("anthropic")),
        ("GOOGLE_GEMINI_BASE_URL", at("gemini")),
        ("OLLAMA_HOST", at("ollama")),
        ("OPENAI_API_KEY", KEY.to_owned()),
        ("ANTHROPIC_API_KEY", KEY.to_owned()),
        ("GEMINI_API_KEY", KEY.to_owned()),
    ];
    let set: Vec<(&str, &str)> = set.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let recorded = type_in(&place, &lines[0], &set, false);
    assert_eq!(recorded.code, 0, "{}{}", recorded.out, recorded.err);
    drop(upstream);
    assert_no_key(&place, &recorded);
    let replayed = type_in(&place, &lines[1], &[], true);
    let left = replayed.err.contains("never asked");
    assert_eq!((replayed.code, left), (0, false), "{}{}", replayed.out, replayed.err);
    let due = same(&recorded.out);
    assert!(due.contains("nswer 1") || due.contains("accuracy"), "{}", recorded.out);
    assert_eq!(same(&replayed.out), due);
}

fn all_of_it(out: &str) -> String {
    out.to_owned()
}

macro_rules! page_of_an_sdk {
    ($test:ident, $page:literal, $same:expr) => {
        #[cfg_attr(not(real_clients), ignore = "needs the SDKs that scripts/test installs")]
        #[test]
        fn $test() {
            follow($page, $same);
        }
    };
}

page_of_an_sdk!(the_page_of_openai_for_python, "openai-python", all_of_it);
page_of_an_sdk!(the_page_of_openai_for_node, "openai-node", all_of_it);
page_of_an_sdk!(the_page_of_anthropic, "anthropic-python", all_of_it);
page_of_an_sdk!(the_page_of_google_genai, "google-genai", all_of_it);
page_of_an_sdk!(the_page_of_langchain, "langchain", all_of_it);
page_of_an_sdk!(the_page_of_ollama, "ollama", all_of_it);
// It prints times and the names of its files, too.
page_of_an_sdk!(the_page_of_inspect, "inspect-ai", |out| {
    let shown = out.lines().filter(|line| line.contains("accuracy ") || line.contains(" tokens "));
    shown.map(|line| format!("{line}\n")).collect()
});

#[test]
fn the_page_of_curl() {
    follow("curl", all_of_it);
}

/// Each page is followed by a test of this file, and docs/programs.md leads to it; the README's
/// first screen shows the two lines.
#[test]
fn each_page_is_tested_and_found() {
    let here = Path::new(env!("RETOLD_ROOT"));
    let read = |name: &str| std::fs::read_to_string(here.join(name)).unwrap();
    let (tests, index, readme) =
        (read("tests/it/wire/docs.rs"), read("docs/programs.md"), read("README.md"));
    for entry in std::fs::read_dir(here.join("docs/clients")).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        let page = file.strip_suffix(".md").unwrap();
        assert!(tests.contains(&format!("\"{page}\"")), "{page} has no test");
        assert!(index.contains(&format!("(clients/{file})")), "{page} is not in docs/programs.md");
    }
    let screen = readme.lines().take(24).collect::<Vec<_>>();
    for line in Page::read("openai-python").lines {
        assert!(screen.iter().any(|shown| shown.starts_with(&line)), "{line}: {screen:#?}");
    }
}
