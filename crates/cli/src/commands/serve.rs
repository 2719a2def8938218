//! `retold serve`.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::json;

use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::output::Output;
use crate::select;
use crate::signal::Signals;
use retold_serve::{Reach, Server, Site, Source};

/// Show a log or a recording as a read-only web page, on this machine alone.
///
/// It has all runs; a run's events, with the filters of `retold log`; each exchange, with the part of
/// the answer that the parser took; a participant's story; why a decision came about; the state after
/// any event; two parser versions or two runs side by side; and a run while it is recorded.
///
/// The page is read-only: nothing is written to the log or its WAL. The only file that is made is the
/// index of its words, LOG-search, when somebody searches. The server runs until Ctrl-C or SIGTERM; its address is printed on stdout. Every page is JSON as well, under the same
/// address: with the header `Accept: application/json`, or with `format=json` in the query.
///
/// Only requests are answered that name the server by an address of this machine (`localhost`,
/// `127.0.0.1`), so that no web page can read it under another name.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A recording's file or a file of exchanges, in place of the log.
    file: Option<String>,
    /// Where to listen; port 0 is any free port.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7878")]
    listen: SocketAddr,
    /// Listen at an address that other machines can reach. There is no password and no encryption:
    /// everybody who can reach it can read every prompt and answer in the log.
    #[arg(long)]
    allow_others: bool,
    /// With --allow-others: a name under which the server may be asked, such as lab.example.org,
    /// besides its address. Can be repeated.
    #[arg(long = "host", value_name = "NAME", requires = "allow_others")]
    hosts: Vec<String>,
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { file, listen, allow_others, hosts } = args;
    if !listen.ip().is_loopback() && !allow_others {
        let message = format!("{listen} can be reached from other machines");
        return Err(CliError::usage(message)
            .hint("listen on this machine alone: --listen 127.0.0.1:7878")
            .hint("or let everybody who can reach it read the whole log: --allow-others"));
    }
    let source = match file {
        None => Source::file(&global.log, global.sqlite())?,
        Some(name) if !select::looks_like_a_file(&name) => {
            return Err(CliError::usage(format!("{name} is not a file"))
                .hint("without a file, all runs of the log are shown; name it with --log PATH"));
        }
        Some(name) => {
            if is_log(&name) {
                Source::file(name.as_ref(), global.sqlite())?
            } else {
                let found = select::source(global, &name)?;
                Source::read(name, found.log.backend().clone())
            }
        }
    };
    let site = Arc::new(Site::new(source, global.studies.clone(), crate::search::cache()));
    let tokio = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let tokio = tokio.map_err(|e| CliError::new(Status::Io, format!("no runtime: {e}")))?;
    let served = tokio.block_on(async {
        let cannot = |e: std::io::Error| {
            CliError::new(Status::Io, format!("cannot listen at {listen}: {e}"))
                .hint("choose another port with --listen 127.0.0.1:PORT; port 0 is any free one")
        };
        let mut signals = Signals::listen();
        let server = Server::bind(listen).await.map_err(cannot)?;
        let address = server.address();
        let url = format!("http://{address}/");
        match output.is_json() {
            true => output.object(&json!({"address": url}))?,
            false => output.text(&format!("{url}\n"))?,
        }
        if !global.quiet {
            let said = match listen.ip().is_loopback() {
                true => "for this machine alone",
                false => "for everybody who can reach it",
            };
            write_err(&format!("open it in a browser; it is read-only, {said}. Ctrl-C stops it\n"));
        }
        tokio::select! {
            () = server.serve(site, Reach::of(address, &hosts)) => {}
            _ = signals.next() => {}
        }
        Ok(Status::Fine)
    });
    // Pages that follow a run are still open.
    tokio.shutdown_background();
    served
}

/// Whether a file begins like a log.
fn is_log(name: &str) -> bool {
    use std::io::Read;
    let mut begin = Vec::new();
    let read = std::fs::File::open(name).and_then(|file| file.take(100).read_to_end(&mut begin));
    read.is_ok() && begin.starts_with(b"SQLite format 3\0")
}
