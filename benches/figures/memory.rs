//! Peak memory of replaying short and long runs, each in a process of its own.

use std::path::Path;
use std::process::Command;

use retold::run::Mode;

use crate::row;
use crate::study::{Study, go};

fn study(prompts: u64) -> Study {
    Study { prompts, samples: 100, prompt_bytes: 1000, answer_bytes: 90 }
}

pub(crate) fn measure() {
    let mut peaks = Vec::new();
    for prompts in [100, 10_000] {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join(format!("{prompts}.db"));
        go(study(prompts), &log, Mode::Record);
        let itself = std::env::current_exe().unwrap();
        let output = Command::new(itself).arg("memory-child").arg(&log).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let peak: f64 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        peaks.push(peak / 1024.0);
    }
    row(
        "peak memory, replaying 1,000,000 exchanges",
        &format!("{:.0} MB", peaks[1]),
        &format!("replaying 10,000 exchanges: {:.0} MB", peaks[0]),
        peaks[1] / peaks[0],
    );
}

/// Replays the log at a path and prints the peak memory of this process in kB.
pub(crate) fn child(path: &str) {
    let path = Path::new(path);
    let prompts = path.file_stem().unwrap().to_str().unwrap().parse().unwrap();
    go(study(prompts), path, Mode::Replay);
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    println!("{}", peak.trim().trim_end_matches(" kB"));
}
