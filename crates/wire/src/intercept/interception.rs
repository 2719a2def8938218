//! What becomes of the connections of a program that takes retold for its proxy, and what became of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use hyper::Response;
use retold::escaping::printable;
use retold::model::providers::{OTHER, is_known_host};

use super::authority::{Authority, AuthorityError};
use super::hosts::NamedHosts;
use super::tunnel::Tunnels;
use crate::addresses::HTTPS;
use crate::lock::lock;
use crate::outlet::Outgoing;
use crate::refusal::rejection;

/// How many hosts are remembered for the report at the end.
const MOST_REPORTED: usize = 100;

/// What all other hosts are called.
const OTHERS: &str = "other hosts";

/// What becomes of the connections of a program that takes us for its proxy.
pub struct Interception {
    /// Opens those to known providers and to named hosts; `None` if they are only counted.
    pub(super) authority: Option<Authority>,
    named: NamedHosts,
    /// How other hosts are reached; `None` if they are refused.
    pub(super) tunnels: Option<Tunnels>,
    /// Whether something is recorded; otherwise, models are not reached.
    pub(super) live: bool,
    reported: Mutex<ConnectionReport>,
    /// The URL before `/UPSTREAM/PATH` for this program.
    pub(super) here: String,
}

/// What became of connections that were not recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionReport {
    /// The hosts whose connections a program broke off, because it does not trust our certificate.
    pub distrusted: BTreeSet<String>,
    /// How often each host was refused in a replay. A host that is asked without TLS begins with
    /// `http://`; a port that is not the usual one follows.
    pub refused: BTreeMap<String, u64>,
    /// How often connections or requests to each host were passed on.
    pub passed: BTreeMap<String, u64>,
    /// How often a host could not be reached to which a connection or request was to be passed on.
    pub unreached: BTreeMap<String, u64>,
}

impl Interception {
    /// Opens the known providers and the named hosts. `live` says whether others are passed on.
    /// `here` is our address for this program.
    ///
    /// # Errors
    /// [`AuthorityError`].
    pub fn new(named: NamedHosts, live: bool, here: String) -> Result<Self, AuthorityError> {
        let tunnels = live.then(Tunnels::of_environment);
        let authority = Some(Authority::new()?);
        Ok(Interception { authority, named, tunnels, live, reported: Mutex::default(), here })
    }

    /// Passes all connections on, and counts them; unless it is `live`, those to known providers and
    /// the named hosts are refused.
    pub fn watching(named: NamedHosts, live: bool, here: String) -> Self {
        let (authority, tunnels) = (None, Some(Tunnels::of_environment()));
        Interception { authority, named, tunnels, live, reported: Mutex::default(), here }
    }

    /// Refuses all other hosts too, unless it is live: the program names those that it may reach.
    #[must_use]
    pub fn refusing_others(mut self) -> Self {
        self.tunnels = self.tunnels.filter(|_| self.live);
        self
    }

    /// The certificate that a program has to trust, if connections are opened.
    pub fn pem(&self) -> Option<&str> {
        self.authority.as_ref().map(Authority::pem)
    }

    /// What became of connections that were not recorded.
    pub fn report(&self) -> ConnectionReport {
        lock(&self.reported).clone()
    }

    /// Whether connections to a host are opened.
    pub(crate) fn opens(&self, host: &str, port: u16) -> bool {
        let any_port = self.named.get(host).copied().unwrap_or_default();
        self.authority.is_some() && self.is_model(host) && (any_port || port == HTTPS)
    }

    /// Whether a model may answer at a host, at whatever port.
    pub(super) fn is_model(&self, host: &str) -> bool {
        self.named.contains_key(host) || is_known_host(host)
    }

    /// Counts a connection or request to a host.
    pub(super) fn count(
        &self,
        host: &str,
        list: impl FnOnce(&mut ConnectionReport) -> &mut BTreeMap<String, u64>,
    ) {
        let mut reported = lock(&self.reported);
        let list = list(&mut reported);
        let host = printable(host, 100);
        let is_named = list.len() < MOST_REPORTED || list.contains_key(&host);
        *list.entry(if is_named { host } else { OTHERS.to_owned() }).or_default() += 1;
    }

    /// Notes a host whose connection a program broke off, because it does not trust our certificate.
    pub(super) fn note_distrust(&self, host: &str) {
        let mut reported = lock(&self.reported);
        if reported.distrusted.len() < MOST_REPORTED {
            reported.distrusted.insert(printable(host, 100));
        }
    }

    /// Refuses a host that a replay does not reach.
    pub(super) fn refuse(&self, host: &str) -> Response<Outgoing> {
        self.count(host, |reported| &mut reported.refused);
        let said = format!("{} was not recorded, and a replay asks nobody", printable(host, 100));
        rejection(&OTHER, 403, "retold_not_recorded", &said)
    }
}
