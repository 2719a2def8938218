//! Recordings as an attacker may have made them: every hash is correct, and the settings are
//! arbitrary.

use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use data_encoding::{BASE64, HEXLOWER};
use retold::event::MerkleTree;
use retold::exchange::{Recording, export_recording, read_recording};
use retold::id::{RunId, Seq};
use retold::jsonl::JsonlReader;
use retold::log::{Append, Backend, Head, LogError, MemoryBackend};
use retold::prompt::canonical;
use serde_json::Value;

use super::logs::again;

/// Reads the recording in a file.
pub(crate) fn recording(path: &Path) -> Recording {
    read_recording(JsonlReader::open(path).unwrap()).unwrap()
}

/// The settings at the beginning of a recording.
pub(crate) fn settings(recording: &Recording) -> Value {
    let first = recording.log.reader().unwrap().events(recording.run, Seq(0), 1).unwrap().remove(0);
    let content = first.content.unwrap();
    serde_json::from_str(content.text()).unwrap()
}

/// The recording of a run with other settings and only its first events, every hash recomputed. Its
/// answers count as real unless it says that they are simulated.
pub(crate) fn forged(
    recording: &Recording,
    run: RunId,
    settings: &Value,
    events: usize,
    real: bool,
) -> String {
    let mut reader = recording.log.reader().unwrap();
    let stored = reader.events(recording.run, Seq(0), events).unwrap();
    let mut kept: Vec<_> = stored.iter().map(|event| again(reader.as_mut(), event)).collect();
    kept[0].content = Some(canonical(settings).unwrap().into());
    if real {
        let mut body: Value = serde_json::from_str(&kept[0].body).unwrap();
        body["model"] = serde_json::json!({"kind": "openai", "simulated": false});
        kept[0].body = canonical(&body).unwrap().into();
    }
    if let Some((end, before)) = kept.split_last_mut().filter(|(end, _)| end.kind == "RunFinished")
    {
        let mut tree = MerkleTree::default();
        let linked = Append::new(run, Head::START, before.to_vec()).events;
        linked.iter().for_each(|event| tree.push(event.head().hash));
        let mut body: Value = serde_json::from_str(&end.body).unwrap();
        body["events_root"] = serde_json::json!(tree.root());
        end.body = canonical(&body).unwrap().into();
    }
    let backend = MemoryBackend::new();
    let append = Append::new(run, Head::START, kept);
    backend.committer().unwrap().commit(&[append]).unwrap();
    let mut text = String::new();
    let mut line = |line: &str| -> Result<(), LogError> {
        text.push_str(line);
        text.push('\n');
        Ok(())
    };
    export_recording(backend.reader().unwrap().as_mut(), run, &mut line).unwrap();
    text
}

/// Listens on a port of its own and keeps whatever arrives, whether HTTP or not.
pub(crate) struct Listener {
    address: std::net::SocketAddr,
    heard: Arc<Mutex<Heard>>,
}

/// What a listener has received.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard {
    pub(crate) connections: usize,
    pub(crate) bytes: Vec<u8>,
}

impl Listener {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Heard::default()));
        let hearing = heard.clone();
        // Ends with the process.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                hearing.lock().unwrap().connections += 1;
                let _ = stream.set_read_timeout(Some(Duration::from_secs(1)));
                let mut bytes = [0; 4096];
                while let Ok(n @ 1..) = stream.read(&mut bytes) {
                    hearing.lock().unwrap().bytes.extend_from_slice(&bytes[..n]);
                }
            }
        });
        Listener { address, heard }
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn heard(&self) -> Heard {
        self.heard.lock().unwrap().clone()
    }
}

/// Whether some bytes contain a key, as it is or in base64 or hex.
pub(crate) fn holds(bytes: &[u8], key: &str) -> bool {
    let mut forms = vec![key.to_owned(), HEXLOWER.encode(key.as_bytes())];
    for before in ["", "x", "xx"] {
        let encoded = BASE64.encode(format!("{before}{key}").as_bytes());
        // The part that depends neither on what is before the key nor on what is after it.
        forms.push(encoded[4..encoded.len() - 4].to_owned());
    }
    let lower = bytes.to_ascii_lowercase();
    let found = |form: &String| {
        [bytes, &lower].iter().any(|bytes| bytes.windows(form.len()).any(|w| w == form.as_bytes()))
    };
    forms.iter().any(found)
}
