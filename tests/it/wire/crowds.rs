//! More connections than files may be open, and more bytes of requests than fit in memory: they wait.

use std::process::Command;

use super::upstream::{Failing, server};
use super::{KEY, PATH, retold};
use crate::support::cli::{Place, Said};
use crate::support::server::{Reply, Server};

/// Runs `retold record` after a command of the shell.
fn record_after(place: &Place, shell: &str, url: &str, program: &[&str]) -> Said {
    let inner = retold(place, "record", program);
    let mut command = Command::new("bash");
    command.args(["-c", &format!("{shell}; exec \"$@\""), "bash"]).arg(inner.get_program());
    command.args(inner.get_args()).current_dir(place.root()).env_clear();
    command.env("PATH", PATH).env("OPENAI_BASE_URL", url).env("OPENAI_API_KEY", KEY);
    Said::ended(&mut command)
}

/// Asks in four processes of 75 connections each, all of which stay open until all are answered.
const MANY: &str = r#"
import asyncio, json, os, resource, subprocess, sys, urllib.parse
url = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
async def ask(n):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"question {n}"}]}).encode()
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    writer.write(f"POST {url.path}/chat/completions HTTP/1.1\r\nhost: {url.netloc}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
    status = (await reader.readline()).decode().split(" ")[1]
    while not (await reader.readline()).strip() == b"":
        pass
    return status, reader, writer
async def all_of(first):
    asked = await asyncio.gather(*(ask(first + n) for n in range(75)))
    print(*(status for status, _, _ in asked))
if len(sys.argv) > 1:
    asyncio.run(all_of(int(sys.argv[1])))
else:
    print("limit", resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    sys.stdout.flush()
    for child in [subprocess.Popen([sys.executable, __file__, str(n * 75)]) for n in range(4)]:
        child.wait()
"#;

/// The program keeps the limit that it was given, and no connection fails for want of a file.
#[test]
fn more_connections_than_files_wait() {
    for (shell, limit) in [("ulimit -n 160", "limit 160"), ("ulimit -S -n 160", "limit 160")] {
        let (place, upstream) = (Place::new(), server(Failing { one_in: 0 }));
        place.write("many.py", MANY);
        let said = record_after(&place, shell, &upstream.base_url(), &["python3", "many.py"]);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        let statuses: Vec<&str> =
            said.out.lines().skip(1).flat_map(|line| line.split(' ')).collect();
        assert_eq!(said.out.lines().next(), Some(limit));
        assert_eq!(
            (statuses.len(), statuses.iter().all(|it| *it == "200")),
            (300, true),
            "{shell}"
        );
        assert_eq!(upstream.received().len(), 300);
        let shown = place.json("show latest").0;
        assert_eq!(
            (&shown["exchanges"], &shown["failed_attempts"]),
            (&300.into(), &0.into()),
            "{shown}"
        );
        place.ok("verify");
    }
}

/// Sends long bodies side by side: four that stop in the middle, and 24 that come. Prints what each got, and
/// how much memory the server has taken.
const LONG: &str = r#"
import concurrent.futures, http.client, json, os, socket, time, urllib.parse
url = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
MIB = 1 << 20
def unfinished(_):
    it = socket.create_connection((url.hostname, url.port))
    head = f"POST {url.path}/chat/completions HTTP/1.1\r\nhost: {url.netloc}\r\ncontent-length: {31 * MIB}\r\n\r\n"
    it.sendall(head.encode() + b"x" * MIB)
    return it
def ask(n):
    it = http.client.HTTPConnection(url.hostname, url.port, timeout=300)
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": f"{n} " + "x" * (31 * MIB - 100)}]})
    it.request("POST", url.path + "/chat/completions", body)
    return it.getresponse().status
held = [unfinished(n) for n in range(4)]
with concurrent.futures.ThreadPoolExecutor(24) as pool:
    print(sorted(set(pool.map(ask, range(24)))), [it.recv(12).decode() for it in held])
with open(f"/proc/{os.getppid()}/status") as status:
    print(next(int(line.split()[1]) for line in status if line.startswith("VmHWM")))
"#;

#[test]
fn long_requests_share_a_budget_and_unfinished_ones_end() {
    let place = Place::new();
    let upstream = Server::handler(|_| Reply::chat("fine"));
    place.write("long.py", LONG);
    let said = record_after(&place, "true", &upstream.base_url(), &["python3", "long.py"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let lines: Vec<&str> = said.out.lines().collect();
    let stalled = "'HTTP/1.1 408'";
    assert_eq!(lines[0], format!("[200] [{}]", [stalled; 4].join(", ")), "{}", said.err);
    let peak: u64 = lines[1].parse().unwrap();
    eprintln!("{peak} kB for 24 requests of 31 MiB");
    assert!(peak < 1_000_000, "{peak} kB");
    let shown = place.json("show latest").0;
    assert_eq!(
        (&shown["exchanges"], &shown["failed_attempts"]),
        (&24.into(), &0.into()),
        "{shown}"
    );
}
