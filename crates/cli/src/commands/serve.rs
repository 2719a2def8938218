//! `retold serve`.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use crate::error::{CliError, Status, write_err};
use crate::global::Global;
use crate::limits::prices;
use crate::log_place::log_within;
use crate::output::Output;
use crate::runs::program::CLOSING;
use crate::secret::new_secret;
use crate::signal::Signals;
use crate::{runtime, select};
use retold_serve::{PageToken, Reach, Site, SiteServer, SiteSource};
use retold_study::parser_file::ParserFile;

/// Show a log or a recording as a read-only page in the browser.
///
/// The address that is printed has a token: without it, other users of this machine get nothing. The browser keeps it in a
/// cookie. A program sends it in the header X-Retold-Token. Other machines cannot reach the page unless --allow-others is given.
///
/// It has all runs; what came out of a run: its figures, and a table of its calls or participants; its
/// events, with the filters of `retold log`; each exchange, with the part of
/// the answer that the parser took; the run in numbers, as `retold stats` prints them; the calls by label; a participant's story; why a decision came about; the state after
/// any event; two parser versions or two runs side by side; how well parsers, judges and people agree; and a run while it is
/// recorded.
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
    /// Where to listen: a port of this machine, or an address with its port; port 0 is any free port.
    #[arg(
        long,
        alias = "port",
        value_name = "PORT|ADDRESS:PORT",
        default_value = "127.0.0.1:7878",
        value_parser = listen_address
    )]
    listen: SocketAddr,
    /// Listen on an address that other machines can reach, without encryption: anyone who has the address
    /// with its token, or can listen to the network, can read every prompt and answer in the log.
    #[arg(long)]
    allow_others: bool,
    /// Answer without a token: every user and program of this machine can then read every prompt and
    /// answer in the log, and with --allow-others everybody who can reach it.
    #[arg(long)]
    no_token: bool,
    /// With --allow-others: a name under which the server may be asked, such as lab.example.org,
    /// besides its address. Can be repeated.
    #[arg(long = "host", value_name = "NAME", requires = "allow_others")]
    hosts: Vec<String>,
    /// The prices of tokens: a file like config/prices.yaml, used instead of the built-in prices.
    #[arg(long, value_name = "FILE")]
    prices: Option<PathBuf>,
    /// A parser file that can be compared with recorded decisions, as `check --parsers` does. Can be
    /// repeated. The file is read once, when the server starts.
    #[arg(long, value_name = "FILE")]
    parsers: Vec<PathBuf>,
}

/// As clap wants it.
fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    let port = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let address = port.or_else(|_| text.parse());
    address.map_err(
        |_| "write a port, such as 8080, or an address with its port, such as 127.0.0.1:8080",
    )
}

/// Why something that is not a file is not shown.
fn not_a_file(name: &str) -> CliError {
    match Path::new(name).is_dir() {
        true => {
            CliError::usage(format!("{name} is a folder, and the page shows one log or recording"))
                .hint(log_within(Path::new(name)).unwrap_or_else(|| {
                    "name a log with --log PATH, or give the file of a recording".to_owned()
                }))
        }
        false => CliError::usage(format!("{name} is not a file"))
            .hint("without a file, all runs of the log are shown; name it with --log PATH"),
    }
}

pub(crate) fn run(args: Args, global: &Global, output: &Output) -> Result<Status, CliError> {
    let Args { file, listen, allow_others, no_token, hosts, prices: given, parsers } = args;
    if !listen.ip().is_loopback() && !allow_others {
        let message = format!("{listen} can be reached from other machines");
        return Err(CliError::usage(message)
            .hint("listen on this machine alone: --listen 127.0.0.1:7878")
            .hint("or let whoever has its address, with the token, read the whole log: --allow-others"));
    }
    let prices = prices(given.as_deref())?;
    let source = match file {
        None => SiteSource::file(&global.log, global.sqlite())?,
        Some(name) if !select::names_a_file(global, &name) || Path::new(&name).is_dir() => {
            return Err(not_a_file(&name));
        }
        Some(name) => {
            if select::is_log(&name) {
                SiteSource::file(name.as_ref(), global.sqlite())?
            } else {
                SiteSource::read(name.clone(), select::to_serve(&name)?)
            }
        }
    };
    let parsers = parsers.iter().map(|path| ParserFile::read(path));
    let parsers = parsers.collect::<Result<Vec<_>, _>>()?;
    let site =
        Site::new(source, global.studies.clone(), prices, retold_archive::user_cache(), parsers);
    let site = Arc::new(site);
    let tokio = runtime::of_all_cores()?;
    let served = tokio.block_on(async {
        let cannot = |e: std::io::Error| {
            let why = match e.kind() {
                ErrorKind::AddrInUse => "another program listens there".to_owned(),
                _ => e.to_string(),
            };
            CliError::new(Status::Io, format!("cannot listen at {listen}: {why}"))
                .hint("choose another port with --listen PORT; port 0 is any free one")
        };
        let mut signals = Signals::listen();
        let server = SiteServer::bind(listen).await.map_err(cannot)?;
        let address = server.address();
        let secret = match no_token {
            true => None,
            false => Some(new_secret()?),
        };
        let token = secret.map(|secret| PageToken::new(&secret, address));
        let url = token.as_ref().map_or(format!("http://{address}/"), |it| it.url().to_owned());
        match output.is_json() {
            true => output.object(&json!({"address": url}))?,
            false => output.text(&format!("{url}\n"))?,
        }
        if !global.quiet {
            let said = match (no_token, listen.ip().is_loopback()) {
                (false, true) => "for whoever has this address, on this machine alone",
                (false, false) => "for whoever has this address",
                (true, true) => {
                    "and without a token: every user and program of this machine can read all of it"
                }
                (true, false) => "and without a token: anyone who can reach it can read all of it",
            };
            write_err(&format!("open it in a browser; it is read-only, {said}. Ctrl-C stops it\n"));
        }
        tokio::select! {
            () = server.serve(site, Reach::of_page(address, &hosts), token) => {}
            _ = signals.next() => {}
        }
        Ok(Status::Fine)
    });
    // Pages that follow a run are still open, and hold the log.
    tokio.shutdown_timeout(CLOSING);
    served
}
