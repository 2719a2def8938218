//! Where the logs of these tests are.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::cli::{Place, Said};

/// What a test of a secret looks for.
pub(super) const SECRET: &str = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY";

/// A place for a log, and a folder to work in.
pub(super) struct Lab {
    pub(super) place: Place,
    /// The URL of the log.
    pub(super) log: String,
    store: Option<Moto>,
}

/// A simulation of S3 on loopback.
struct Moto {
    server: Child,
    endpoint: String,
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

impl Lab {
    /// A log in a folder.
    pub(super) fn folder() -> Self {
        let place = Place::new();
        let log = format!("file://{}", place.path("lab").display());
        Lab { place, log, store: None }
    }

    /// A log in a bucket.
    pub(super) fn bucket() -> Self {
        // Nobody else takes the port in the moment between.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let program = concat!(env!("RETOLD_ROOT"), "/target/clients/moto/bin/moto_server");
        let mut command = Command::new(program);
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let server = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let moto = Moto { server, endpoint: format!("http://127.0.0.1:{port}") };
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let lab = Lab { place: Place::new(), log: "s3://lab/study".to_owned(), store: Some(moto) };
        let made = Command::new("curl")
            .args(["-sf", "-X", "PUT", &format!("{}/lab", lab.endpoint())])
            .stdout(Stdio::null())
            .status();
        assert!(made.unwrap().success(), "the bucket");
        lab
    }

    pub(super) fn endpoint(&self) -> &str {
        self.store.as_ref().map_or("", |moto| &moto.endpoint)
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
