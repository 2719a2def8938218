//! Writes a run to a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::again::spell_commands;
use crate::error::{CliError, Status, write_err};
use crate::gate;
use crate::global::Global;
use crate::output::{Output, count_of};
use crate::redaction::{self, RunRedactionKey};
use crate::runs::{effective, program};
use crate::select::{self, RunSelection};
use crate::views::traffic::{as_json, upstream_urls, write_notes};
use retold::exchange::{export_exchanges, export_recording};
use retold::jsonl::{IfExists, JsonlWriter};
use retold::members::Members;
use retold_traffic::{
    ExportError, Notes, VcrpyForm, export_cassette, export_fine_tuning, export_otlp, export_vcrpy,
    left_out,
};
use retold_wire::{ProgramSettings, RecordedRules, RedactionKey, rules_added};

/// A file to be written.
pub(super) struct FileExport {
    pub(super) run: String,
    pub(super) file: Option<PathBuf>,
    pub(super) format: FileFormat,
    /// Whether the file may be replaced.
    pub(super) force: bool,
    /// Whether the key of the run's redactions is written too.
    pub(super) with_key: bool,
    /// Base URLs for a cassette, as `NAME=URL`.
    pub(super) upstreams: Vec<String>,
}

/// The formats that are one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileFormat {
    Recording,
    Exchanges,
    Cassette,
    Vcrpy,
    FineTuning,
    Otlp,
}

impl FileFormat {
    fn noun(self) -> &'static str {
        match self {
            FileFormat::Recording => "event",
            FileFormat::Exchanges | FileFormat::Cassette | FileFormat::Vcrpy | FileFormat::Otlp => {
                "exchange"
            }
            FileFormat::FineTuning => "conversation",
        }
    }

    /// The compressed or plain names of files in this format, besides those of JSON Lines.
    fn endings(self) -> &'static [&'static str] {
        match self {
            FileFormat::Recording
            | FileFormat::Exchanges
            | FileFormat::FineTuning
            | FileFormat::Otlp => &["jsonl", "ndjson", "json", "gz", "zst"],
            FileFormat::Cassette => &["yaml", "yml"],
            FileFormat::Vcrpy => &["yaml", "yml", "json"],
        }
    }

    /// The kind of content of the file, and the endings of its name.
    fn contents(self) -> (&'static str, &'static str) {
        match self {
            FileFormat::Recording
            | FileFormat::Exchanges
            | FileFormat::FineTuning
            | FileFormat::Otlp => ("JSON Lines", ".jsonl, .jsonl.gz or .jsonl.zst"),
            FileFormat::Cassette => ("YAML", ".yaml"),
            FileFormat::Vcrpy => ("YAML or JSON", ".yaml or .json"),
        }
    }
}

/// A run to export, and its format.
struct Export<'a> {
    selected: RunSelection,
    format: FileFormat,
    form: VcrpyForm,
    upstreams: &'a BTreeMap<String, String>,
}

impl Export<'_> {
    fn write(
        &self,
        line: &mut dyn FnMut(&str) -> Result<(), CliError>,
    ) -> Result<(u64, Notes), CliError> {
        let Export { selected: RunSelection { log, run }, format, form, upstreams } = self;
        let mut reader = log.reader()?;
        match format {
            FileFormat::Recording => {
                Ok((export_recording(reader.as_mut(), *run, line)?, Notes::default()))
            }
            FileFormat::Exchanges => {
                let exported = export_exchanges(reader.as_mut(), *run, line)?;
                Ok((exported.written, left_out(exported)))
            }
            FileFormat::FineTuning => export_fine_tuning(reader.as_mut(), *run, line),
            FileFormat::Otlp => export_otlp(reader.as_mut(), *run, line),
            FileFormat::Cassette => export_cassette(reader.as_mut(), *run, &self.settings()?, line),
            FileFormat::Vcrpy => {
                let settings = self.settings()?;
                export_vcrpy(reader.as_mut(), *run, *form, upstreams, &settings, line)
            }
        }
    }

    /// The run's settings; the defaults if it is not a program's run.
    fn settings(&self) -> Result<ProgramSettings, CliError> {
        let RunSelection { log, run } = &self.selected;
        let started = select::run_start(log.reader()?.as_mut(), *run)?;
        let mut settings: ProgramSettings =
            serde_json::from_value(started.settings).unwrap_or_default();
        let RecordedRules { ignore, replace, .. } = rules_added(log.reader()?.as_mut(), *run)?;
        settings.rules.ignore.extend(ignore);
        settings.rules.replace.extend(replace);
        Ok(settings)
    }

    /// How the file is imported if its upstreams are to have their names again: it has URLs alone.
    fn import(&self, file: &str) -> Result<String, CliError> {
        if self.format != FileFormat::Vcrpy {
            return Ok(String::new());
        }
        let mut settings = self.settings()?;
        settings.urls.extend(self.upstreams.clone());
        let import = program::import_command(file, &settings);
        let said = |import| {
            format!("`retold {import}` imports it so that the same program can be replayed\n")
        };
        Ok(import.map_or_else(String::new, |import| spell_commands(&said(import))))
    }
}

impl From<ExportError> for CliError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Log(error) => error.into(),
            ExportError::NoUrl(_) => CliError::usage(error.to_string())
                .hint("name its base URL with --upstream NAME=URL"),
            ExportError::NotUtf8(_) => CliError::usage(error.to_string())
                .hint("write it in YAML: let the name end in .yaml"),
            ExportError::Nothing { format: "a cassette", .. } => CliError::usage(error.to_string())
                .hint("`--as exchanges` writes the requests and answers of any run"),
            other => CliError::usage(other.to_string()),
        }
    }
}

pub(super) fn run(
    export: FileExport,
    global: &Global,
    output: &Output,
) -> Result<Status, CliError> {
    let FileExport { run, file, format, force, with_key, upstreams } = export;
    let file = file.filter(|path| path != Path::new("-"));
    file.as_deref().map_or(Ok(()), |path| named_as_written(path, format))?;
    let is_json = file.as_deref().is_some_and(|path| path.extension() == Some("json".as_ref()));
    let form = if is_json { VcrpyForm::Json } else { VcrpyForm::Yaml };
    let upstreams = upstream_urls(&upstreams)?;
    if file.is_none() {
        output.is_a_document();
    }
    let selected = select::run_of(select::open_to_read(global)?, &run, global)?;
    let view = gate::view(&selected.log, selected.run)?;
    // A run that lost only its end is exported up to there; of a run that is damaged before, nothing is written.
    if view.damage().is_some_and(|damage| damage.last_good().is_none())
        && let Some(error) = gate::error(view.run(), view.verdict())
    {
        return Err(error);
    }
    let selected = RunSelection::before_damage(&view);
    let key = match format {
        FileFormat::Recording => key(&selected, global)?,
        FileFormat::Exchanges
        | FileFormat::Cassette
        | FileFormat::Vcrpy
        | FileFormat::FineTuning
        | FileFormat::Otlp => None,
    };
    if with_key {
        check_key_export(&key, file.as_deref(), force)?;
    }
    let export = Export { selected, format, form, upstreams: &upstreams };
    gate::through(std::slice::from_ref(&view), output, || match &file {
        None => to_stdout(&export, output),
        Some(path) => to_file(&export, path, force, key.as_ref(), with_key, output),
    })
}

fn to_stdout(export: &Export, output: &Output) -> Result<Status, CliError> {
    let (_, notes) = export.write(&mut |line| output.raw(&format!("{line}\n")))?;
    let mut text = String::new();
    write_notes(&mut text, &notes);
    text.push_str(&effective::text(&effective::of(&export.selected)?));
    text.push_str(&export.import("FILE")?);
    write_err(&text);
    Ok(Status::Fine)
}

fn to_file(
    export: &Export,
    path: &Path,
    force: bool,
    key: Option<&ExportKey>,
    with_key: bool,
    output: &Output,
) -> Result<Status, CliError> {
    let format = export.format;
    let if_exists = if force { IfExists::Replace } else { IfExists::Refuse };
    let mut writer = JsonlWriter::create(path, if_exists)?;
    let (count, notes) = export.write(&mut |line| Ok(writer.write_line(line)?))?;
    let lines = writer.finish()?;
    let key_file = match key {
        Some(ExportKey::Known(key)) if with_key => {
            redaction::add(path, std::slice::from_ref(key))?;
            Some(redaction::place(path).display().to_string())
        }
        _ => None,
    };
    let in_force = effective::of(&export.selected)?;
    let path = path.display();
    if output.is_json() {
        let mut object = json!({"run": export.selected.run, "file": path.to_string(),
            "lines": lines, format!("{}s", format.noun()): count});
        if format != FileFormat::Recording {
            object.set("not_represented", as_json(&notes));
        }
        if !in_force.is_plain() {
            object.set("decisions_in_force", json!(in_force));
        }
        if key.is_some() {
            object.set("key_file", json!(key_file));
        }
        output.object(&object)?;
    } else {
        let mut text = format!("{} written to {path}\n", count_of(count, format.noun()));
        match (key, &key_file) {
            (_, Some(key_file)) => {
                text.push_str(&format!("the key of its redactions was written to {key_file}\n"));
            }
            (Some(_), None) => text.push_str(
                "the key of its redactions was not written: a replay of the file does not find requests with a redacted \
                 value without it (--with-key writes it)\n",
            ),
            (None, None) => {}
        }
        write_notes(&mut text, &notes);
        text.push_str(&effective::text(&in_force));
        text.push_str(&export.import(&path.to_string())?);
        output.text(&text)?;
    }
    Ok(Status::Fine)
}

/// The key of a run's redactions.
enum ExportKey {
    Known(RedactionKey),
    /// It is not in this file.
    NotIn(String),
}

/// The key of a run's redactions; `None` if it has none.
fn key(selected: &RunSelection, global: &Global) -> Result<Option<ExportKey>, CliError> {
    let started = select::run_start(selected.log.reader()?.as_mut(), selected.run)?;
    // Another experiment has no such settings.
    let Ok(settings) = serde_json::from_value::<ProgramSettings>(started.settings) else {
        return Ok(None);
    };
    let known = redaction::keys(&global.log)?;
    Ok(redaction::of_run(&settings, &known).map(|key| match key {
        RunRedactionKey::Known(key) => ExportKey::Known(key.clone()),
        RunRedactionKey::Missing => ExportKey::NotIn(known.place.clone()),
    }))
}

/// Refuses to export a key that there is not, or over one that is not to be replaced.
fn check_key_export(
    key: &Option<ExportKey>,
    file: Option<&Path>,
    force: bool,
) -> Result<(), CliError> {
    let file = match key {
        Some(ExportKey::Known(_)) => file,
        Some(ExportKey::NotIn(place)) => {
            let message = format!("the key of the run's redactions is not in {place}");
            return Err(CliError::usage(message).hint(redaction::HOW_TO_GET));
        }
        None => {
            let message = "--with-key is for recordings of runs that were recorded with --redact";
            return Err(CliError::usage(message).hint("leave out --with-key"));
        }
    };
    let Some(file) = file else {
        return Err(CliError::usage("--with-key writes FILE-key: name a file"));
    };
    let place = redaction::place(file);
    match !force && place.symlink_metadata().is_ok() {
        true => Err(CliError::usage(format!("{} already exists", place.display()))
            .hint("choose another name, or replace both files with --force")),
        false => Ok(()),
    }
}

/// File endings of other formats, and how to get such a file instead.
const OTHERS: &[(&[&str], &str)] = &[
    (
        &["csv", "tsv", "xls", "xlsx", "ods"],
        "`retold export RUN FOLDER --as outputs` writes tables as CSV",
    ),
    (&["parquet", "arrow", "feather"], "DuckDB can convert JSON Lines, or read the log itself"),
    (&["db", "sqlite", "sqlite3"], "`retold copy --to FILE` writes a log"),
    (
        &["xz", "bz2", "zip", "7z", "tar", "tgz"],
        "use a name that ends in .gz or .zst for a compressed file",
    ),
    (
        &["yaml", "yml", "html", "md", "txt", "pdf"],
        "`--as vcrpy` writes a cassette in YAML; the other formats are JSON Lines",
    ),
];

/// Refuses a file name that promises another format, or one that is not known.
fn named_as_written(path: &Path, format: FileFormat) -> Result<(), CliError> {
    let ending = path.extension().and_then(|end| end.to_str()).unwrap_or("");
    let ending = ending.to_ascii_lowercase();
    if format.endings().contains(&&*ending) {
        return Ok(());
    }
    if ending.is_empty() {
        return Ok(());
    }
    let shown = path.display();
    let other = OTHERS.iter().find(|(endings, _)| endings.contains(&&*ending));
    let (contents, due) = format.contents();
    let error =
        CliError::usage(format!("{shown}: this export is {contents}, and .{ending} is not"));
    let error = other.into_iter().fold(error, |error, (_, hint)| error.hint(*hint));
    Err(error.hint(format!("for {contents}, let the name end in {due}")))
}
