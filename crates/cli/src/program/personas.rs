//! `retold study deliberation personas`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use clap::{ArgMatches, Args as _, FromArgMatches};

use crate::catalogue::OwnCommand;
use crate::error::{CliError, NOTHING_IMPORTED, Status};
use crate::global::Global;
use crate::output::{Output, count_of, group_digits};
use crate::select::SIMULATED;
use retold::escaping::printable;
use retold_deliberation::personas::pool::{AddedPersonas, EnrichedPersona, Pool, PoolError};
use retold_deliberation::personas::{PersonaCollection, gather, pool};

/// Show the pool of enriched personas, or add those of earlier studies to it.
///
/// A deliberation with use_persona_storage draws its participants from the pool, and adds any that
/// it lacks.
#[derive(Debug, clap::Args)]
struct Args {
    #[command(subcommand)]
    command: PersonasCommand,
    /// The file of the pool.
    #[arg(long, global = true, value_name = "PATH", default_value = pool::DEFAULT)]
    storage: PathBuf,
}

#[derive(Debug, clap::Subcommand)]
enum PersonasCommand {
    /// Add the personas from output folders, pools or JSON Lines files; existing personas are not
    /// changed.
    Import {
        /// Output folders (for their participants.json), such files or pools (.json), or
        /// files with one persona per line (.jsonl).
        #[arg(required = true)]
        outputs: Vec<PathBuf>,
    },
    /// List the personas.
    List {
        /// The most personas to list.
        #[arg(long, value_name = "N", default_value_t = 1000)]
        most: usize,
    },
    /// Count them by sex, age and so on.
    Stats,
}

/// The command.
pub(super) fn command() -> OwnCommand {
    OwnCommand {
        study: Some(retold_deliberation::NAME),
        command: Args::augment_args(clap::Command::new("personas")),
        run: Box::new(run),
    }
}

fn run(given: &ArgMatches, _: &Global<'_>, output: &Output) -> Result<Status, CliError> {
    let args = Args::from_arg_matches(given).map_err(|e| CliError::usage(e.to_string()))?;
    let Args { command, storage } = args;
    match command {
        PersonasCommand::Import { outputs } => import(&outputs, &storage, output)?,
        PersonasCommand::List { most } => list(&read(&storage)?, most, output)?,
        PersonasCommand::Stats => stats(&read(&storage)?, output)?,
    }
    Ok(Status::Fine)
}

impl From<PoolError> for CliError {
    fn from(error: PoolError) -> Self {
        let status = match &error {
            PoolError::Unreadable { .. } | PoolError::Unwritable { .. } => Status::Io,
            _ => Status::Usage,
        };
        CliError::new(status, error.to_string())
    }
}

/// Reads the pool, which must exist.
fn read(storage: &Path) -> Result<Vec<EnrichedPersona>, CliError> {
    if !storage.exists() {
        let message = format!("there is no pool {}", storage.display());
        let hint = "`retold study deliberation personas import` creates one, and so does a deliberation with use_persona_storage";
        return Err(CliError::new(Status::Io, message).hint(hint));
    }
    Ok(Pool::read(storage)?.personas)
}

fn import(outputs: &[PathBuf], storage: &Path, output: &Output) -> Result<(), CliError> {
    let nothing = |e: PoolError| CliError::from(e).hint(NOTHING_IMPORTED);
    // Everything is read before the pool is changed.
    let gathered = outputs.iter().map(|path| gather(path)).collect::<Result<Vec<_>, _>>();
    let (mut text, mut files) = (String::new(), Vec::new());
    for PersonaCollection { file, personas, bad } in gathered.map_err(nothing)? {
        let AddedPersonas { added, known } = pool::add(storage, &personas)?;
        let file = file.display().to_string();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{file}: {}, {} added, {} already there, {} left out",
            count_of(personas.len() as u64, "persona"),
            group_digits(added as u64),
            group_digits(known as u64),
            group_digits(bad.len() as u64),
        );
        for (entry, reason) in &bad {
            let _ = writeln!(text, "  left out: {entry}: {reason}");
        }
        let bad = bad.iter().map(|(entry, reason)| json!({"entry": entry, "reason": reason}));
        let bad: Vec<Value> = bad.collect();
        files.push(json!({"file": file, "added": added, "known": known, "left_out": bad}));
    }
    let (total, shown) = (Pool::read(storage)?.personas.len(), storage.display().to_string());
    let _ = writeln!(text, "{shown} has {}", count_of(total as u64, "persona"));
    if output.is_json() {
        output.object(&json!({"storage": shown, "personas": total, "files": files}))
    } else {
        output.text(&text)
    }
}

fn list(personas: &[EnrichedPersona], most: usize, output: &Output) -> Result<(), CliError> {
    let shown = &personas[..most.min(personas.len())];
    if output.is_json() {
        return output.object(&json!({"personas": shown, "total": personas.len()}));
    }
    let mut text = format!("{}\n", count_of(personas.len() as u64, "persona"));
    for (number, persona) in (1..).zip(shown) {
        let d = &persona.demographics;
        let made_up = if persona.simulated { " SIMULATED" } else { "" };
        let _ = writeln!(
            text,
            "{number:>5}  {} {}, {}, {}, {}, {}{made_up}: {}",
            d.sex,
            d.age,
            d.education,
            d.income,
            d.location_type,
            d.political_leaning,
            printable(&persona.base_persona, 90)
        );
    }
    if shown.len() < personas.len() {
        let _ = writeln!(text, "and {} more", group_digits((personas.len() - shown.len()) as u64));
    }
    output.text(&text)
}

fn stats(personas: &[EnrichedPersona], output: &Output) -> Result<(), CliError> {
    type By = fn(&EnrichedPersona) -> String;
    const BY: [(&str, By); 6] = [
        ("sex", |p| p.demographics.sex.clone()),
        ("age", |p| age_group(p.demographics.age).to_owned()),
        ("education", |p| p.demographics.education.clone()),
        ("income", |p| p.demographics.income.clone()),
        ("location_type", |p| p.demographics.location_type.clone()),
        ("political_leaning", |p| p.demographics.political_leaning.clone()),
    ];
    let simulated = personas.iter().filter(|p| p.simulated).count();
    let mut text = format!("{}\n", count_of(personas.len() as u64, "persona"));
    if simulated > 0 {
        let _ = write!(text, "{} of them: {SIMULATED}", group_digits(simulated as u64));
    }
    let mut counts: BTreeMap<&str, BTreeMap<String, u64>> = BTreeMap::new();
    for (name, by) in BY {
        let counted = counts.entry(name).or_default();
        personas.iter().for_each(|persona| *counted.entry(by(persona)).or_default() += 1);
        let _ = writeln!(text, "{name}");
        for (value, n) in counted {
            let _ = writeln!(text, "  {value:<24} {:>6}", group_digits(*n));
        }
    }
    if output.is_json() {
        output.object(&json!({"personas": personas.len(), "simulated": simulated, "by": counts}))
    } else {
        output.text(&text)
    }
}

/// Ages range from 18 to 65.
fn age_group(age: u32) -> &'static str {
    match age {
        0..=24 => "18-24",
        25..=34 => "25-34",
        35..=44 => "35-44",
        45..=54 => "45-54",
        _ => "55-65",
    }
}
