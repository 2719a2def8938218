//! How many files this process may have open: connections are files, too.

use std::error::Error;
use std::io;

/// Files besides connections: logs, libraries, certificates, looking up names.
const OTHER: usize = 96;

/// The fewest connections that are served at the same time, however few files may be open.
const FEWEST: usize = 4;

/// How many connections there is room for, of at most so many, each with so many files. The limit of
/// this process is raised for that as far as the system allows. Programs that it started before keep
/// theirs.
pub(crate) fn room_for(most: usize, files: usize) -> usize {
    let may_open = limit(most * files + OTHER);
    let room = room(may_open, files).min(most);
    if room < most {
        tracing::info!(may_open, room, "fewer connections than usual are served at the same time");
    }
    room
}

fn room(may_open: usize, files: usize) -> usize {
    (may_open.saturating_sub(OTHER) / files).max(FEWEST)
}

/// How many files may be open, once as many as are wanted were asked for.
#[cfg(unix)]
fn limit(wanted: usize) -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let fits =
        |limit: Option<u64>| limit.map_or(usize::MAX, |it| it.try_into().unwrap_or(usize::MAX));
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if fits(current) >= wanted {
        return fits(current);
    }
    let raised = wanted.min(fits(maximum));
    let asked = Rlimit { current: Some(raised as u64), maximum };
    match setrlimit(Resource::Nofile, asked) {
        Ok(()) => raised,
        Err(error) => {
            tracing::debug!(%error, "the limit on open files cannot be raised");
            fits(current)
        }
    }
}

/// There is no such limit.
#[cfg(not(unix))]
fn limit(wanted: usize) -> usize {
    wanted
}

/// Whether something failed because this process, or this machine, has too many files open.
pub(crate) fn are_exhausted(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            if is_exhausted(error) {
                return true;
            }
            // An I/O error does not return its inner error as its source.
            if let Some(held) = error.get_ref()
                && are_exhausted(held)
            {
                return true;
            }
        }
        next = error.source();
    }
    false
}

#[cfg(unix)]
fn is_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let all = [Errno::MFILE, Errno::NFILE].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| all.contains(&code))
}

#[cfg(not(unix))]
fn is_exhausted(_: &io::Error) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn too_many_open_files_are_recognised_at_any_depth() {
        let exhausted = || io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error());
        assert!(are_exhausted(&exhausted()));
        assert!(are_exhausted(&io::Error::other(io::Error::other(exhausted()))));
        assert!(!are_exhausted(&io::Error::from(io::ErrorKind::ConnectionRefused)));
    }

    #[test]
    fn there_is_room_for_a_few_however_low_the_limit() {
        assert_eq!([0, 64, OTHER].map(|may_open| room(may_open, 2)), [FEWEST; 3]);
        assert_eq!((room(256, 2), room(1024, 2)), (80, 464));
    }
}
