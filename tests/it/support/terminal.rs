//! The real program at a terminal.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::process::Stdio;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::cli::Place;

/// What a command writes to a terminal. It has no pager unless the environment names one.
pub(crate) fn on_terminal(place: &Place, args: &str, environment: &[(&str, &str)]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let end = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
    let mut command = place.command();
    command.args(args.split_whitespace()).env("TERM", "xterm-256color").env("PAGER", "");
    command.envs(environment.iter().copied());
    command.stdout(Stdio::from(end.try_clone().unwrap())).stderr(Stdio::from(end));
    let mut child = command.spawn().unwrap();
    // From here on only the child has the other end open.
    drop(command);
    let reader = std::thread::spawn(move || {
        let (mut text, mut master) = (Vec::new(), File::from(master));
        // The read ends with an error when no process has the other end open any more.
        let _ = master.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    child.wait().unwrap();
    reader.join().unwrap()
}
