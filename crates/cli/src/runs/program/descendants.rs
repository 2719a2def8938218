//! Processes that a program has started and that outlive it: their requests after the end of the run are neither
//! recorded nor answered.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::keys;
use retold::escaping::printable;
use retold_wire::OURS;

/// How long they are waited for. A server that a program has left behind never ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often they are looked for meanwhile.
const PAUSE: Duration = Duration::from_millis(50);

/// How many of them are named.
const NAMED: usize = 5;

/// The longest command that is shown, in characters.
const LONGEST: usize = 100;

/// Waits a little for the processes that have this address of ours in their environment, and returns the commands of those that still
/// run.
pub(super) async fn outliving(url: &str) -> Vec<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let running = running(url);
        if running.is_empty() || Instant::now() > deadline {
            return running;
        }
        sleep(PAUSE).await;
    }
}

/// The commands of the processes that have this address in their environment, without keys.
#[cfg(target_os = "linux")]
fn running(url: &str) -> Vec<String> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    let set = format!("{OURS}={url}");
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_ours = |folder: &std::path::Path| {
        // Those of other users cannot be read, and are none of ours.
        let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == set.as_bytes())
    };
    let of_process = |folder: std::path::PathBuf| {
        let command = std::fs::read(folder.join("cmdline")).unwrap_or_default();
        let words = command.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        let words: Vec<OsString> = words.map(|word| OsString::from_vec(word.to_vec())).collect();
        printable(&keys::without_keys(&words).join(" "), LONGEST)
    };
    let folders = processes.map(|process| process.path()).filter(|folder| is_ours(folder));
    folders.map(of_process).collect()
}

/// Other systems do not show the environment of a process.
#[cfg(not(target_os = "linux"))]
fn running(_url: &str) -> Vec<String> {
    Vec::new()
}

/// Says that they are left behind; empty if none are.
pub(super) fn warning(outliving: &[String]) -> String {
    let shown: Vec<&str> = outliving.iter().take(NAMED).map(String::as_str).collect();
    let more = if outliving.len() > NAMED { ", .." } else { "" };
    match outliving.len() {
        0 => String::new(),
        1 => format!(
            "warning: a process that the program has started still runs, and what it asks from now on is neither recorded nor \
             answered: {}\n",
            shown.concat()
        ),
        n => format!(
            "warning: {n} processes that the program has started still run, and what they ask from now on is neither recorded nor \
             answered: {}{more}\n",
            shown.join(", ")
        ),
    }
}
