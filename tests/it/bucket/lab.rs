//! Where the logs of these tests are.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::Mutex;

use super::faults::{FaultProxy, Mishap};
use super::moto::Moto;
use crate::support::cli::{Place, Said};

/// What a test of a secret looks for.
pub(super) const SECRET: &str = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY";

/// A place for a log, and a folder to work in.
pub(super) struct Lab {
    pub(super) place: Place,
    /// The URL of the log.
    pub(super) log: String,
    store: Option<Moto>,
    faults: Option<FaultProxy>,
    /// The objects that the test itself has put or removed.
    pub(super) touched: Mutex<BTreeSet<String>>,
}

impl Lab {
    /// A log in a folder.
    pub(super) fn folder() -> Self {
        let place = Place::new();
        let log = format!("file://{}", place.path("lab").display());
        Lab { place, log, store: None, faults: None, touched: Mutex::default() }
    }

    /// A log in a bucket.
    pub(super) fn bucket() -> Self {
        Lab {
            store: Some(Moto::with_bucket("lab")),
            log: "s3://lab/study".to_owned(),
            ..Lab::folder()
        }
    }

    /// A log in a bucket whose store refuses requests, resets connections and loses replies.
    pub(super) fn troubled(seed: u64) -> Self {
        let lab = Lab::bucket();
        let faults = lab.store.as_ref().map(|moto| FaultProxy::before(moto.address, seed));
        Lab { faults, ..lab }
    }

    /// A log in a bucket whose requests are counted.
    pub(super) fn counted() -> Self {
        let lab = Lab::bucket();
        let faults = lab.store.as_ref().map(|moto| FaultProxy::counting(moto.address));
        Lab { faults, ..lab }
    }

    /// How many requests a command makes whose machine has nothing of the log.
    pub(super) fn requests_of(&self, args: &str) -> u64 {
        let _ = std::fs::remove_dir_all(self.place.path(".cache"));
        self.faults.as_ref().map(FaultProxy::requests);
        self.ok(args);
        self.faults.as_ref().map_or(0, FaultProxy::requests)
    }

    /// The store, without what may stand before it; `None` if it is a folder.
    pub(super) fn moto(&self) -> Option<&Moto> {
        self.store.as_ref()
    }

    pub(super) fn endpoint(&self) -> String {
        let address: Option<SocketAddr> = match (&self.faults, &self.store) {
            (Some(faults), _) => Some(faults.address()),
            (None, store) => store.as_ref().map(|moto| moto.address),
        };
        address.map_or_else(String::new, |address| format!("http://{address}"))
    }

    /// Checks that everything has gone wrong that may.
    pub(super) fn has_met_every_mishap(&self) {
        let met = self.faults.as_ref().map(FaultProxy::met).unwrap_or_default();
        let due = [Mishap::SlowDown, Mishap::Reset, Mishap::LostReply, Mishap::CutReply];
        assert!(due.iter().all(|mishap| met.contains_key(mishap)), "{met:?}");
    }

    /// The program with this log, ready for arguments.
    pub(super) fn command(&self) -> Command {
        let mut command = self.place.command();
        command.env("RETOLD_LOG", &self.log);
        if self.store.is_some() {
            command.env("AWS_ENDPOINT_URL", self.endpoint()).env("AWS_REGION", "us-east-1");
            command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", SECRET);
        }
        command
    }

    pub(super) fn run(&self, args: &str) -> Said {
        let said = Said::ended(self.command().args(args.split_whitespace()));
        assert!(!said.out.contains(SECRET) && !said.err.contains(SECRET), "retold {args}");
        said
    }

    pub(super) fn ok(&self, args: &str) -> String {
        let said = self.run(args);
        assert_eq!(said.code, 0, "retold {args}\n{}{}", said.out, said.err);
        said.out
    }

    pub(super) fn json(&self, args: &str) -> serde_json::Value {
        let said = self.run(&format!("{args} --json"));
        serde_json::from_str(&said.out)
            .unwrap_or_else(|_| panic!("{args}\n{}{}", said.out, said.err))
    }
}
