//! Systems that are not asked.

use super::NumberedProcess;

pub(super) fn place() -> Option<(String, String)> {
    None
}

pub(super) fn by_pid(_pid: u32) -> NumberedProcess {
    NumberedProcess::Hidden
}
