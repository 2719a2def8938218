//! Makes everything that the program creates private to its user: most of it holds prompts and answers.

#[cfg(unix)]
use rustix::{fs::Mode, process::umask};

/// What only the user's own mask would leave out.
#[cfg(unix)]
static OWN: std::sync::OnceLock<Mode> = std::sync::OnceLock::new();

/// From now on, new files and folders are for the user alone. A stricter mask of the user is kept, and so is the mode of
/// files that exist.
pub(crate) fn restrict() {
    #[cfg(unix)]
    {
        let others = Mode::RWXG | Mode::RWXO;
        let own = *OWN.get_or_init(|| umask(others));
        umask(own | others);
    }
}

/// Does something as if nothing had been restricted: starts the user's program, or makes files for all users.
pub(crate) fn with_own<T>(act: impl FnOnce() -> T) -> T {
    #[cfg(unix)]
    if let Some(own) = OWN.get() {
        let restricted = umask(*own);
        let done = act();
        umask(restricted);
        return done;
    }
    act()
}
