//! Requests that go wrong on their way.

use super::routes::Kind;

/// How a request goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// It takes no effect, and the reply is an error with this status.
    Refused(u16),
    /// It takes no effect, and the connection is closed without a reply.
    Vanished,
    /// It takes effect, and the connection is closed without a reply.
    Lost,
    /// Nothing is wrong with it: a test wants to know when its reply is sent.
    Answered,
    /// Half of the reply is sent at once, and the rest a second later.
    Halfway,
}

/// A request that goes wrong: the n-th of a kind, or of all, from 1, since the fake was started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trouble {
    pub(crate) kind: Option<Kind>,
    pub(crate) nth: u64,
    pub(crate) what: What,
}

/// The requests that are to go wrong, and how many there have been.
#[derive(Default)]
pub(super) struct Troubles {
    ahead: Vec<Trouble>,
    seen: Vec<Kind>,
    pub(super) hook: Option<Box<dyn FnMut() + Send>>,
}

impl Troubles {
    pub(super) fn add(&mut self, trouble: Trouble) {
        self.ahead.push(trouble);
    }

    /// Counts a request and returns how it goes wrong, if it does.
    pub(super) fn next(&mut self, kind: Kind) -> Option<What> {
        self.seen.push(kind);
        let of_kind = self.seen.iter().filter(|seen| **seen == kind).count() as u64;
        let all = self.seen.len() as u64;
        let is_it = |trouble: &Trouble| match trouble.kind {
            None => trouble.nth == all,
            Some(of) => of == kind && trouble.nth == of_kind,
        };
        let at = self.ahead.iter().position(is_it)?;
        Some(self.ahead.remove(at).what)
    }

    /// Calls the hook of the test.
    pub(super) fn interrupt(&mut self) {
        if let Some(hook) = &mut self.hook {
            hook();
        }
    }
}
