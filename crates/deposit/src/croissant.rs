//! The tables for machines: Croissant 1.1, with the fields of its vocabulary for responsible AI.

use std::borrow::Cow;

use retold_tables::{Column, ColumnKind, Table};
use serde_json::{Value, json};

use crate::facts::DepositFacts;

/// A table of a deposit.
pub struct DepositTable {
    /// Which.
    pub table: Table,
    /// Its columns.
    pub columns: Vec<Column>,
    /// The SHA-256 of its Parquet file.
    pub parquet: String,
    /// The SHA-256 of its CSV file.
    pub csv: String,
}

const OPEN: &str = "To be added by the authors.";

/// The text of `croissant.json`.
pub fn croissant(facts: &DepositFacts<'_>, tables: &[DepositTable]) -> String {
    let ended = facts.summaries().map(|of| of.ended).max().unwrap_or_default().to_string();
    let day: String = ended.chars().take(10).collect();
    let began = facts.summaries().map(|of| of.began).min().unwrap_or_default().to_string();
    let simulated = match facts.is_simulated() {
        true => "SIMULATED: a program made these answers up; they are not data. ",
        false => "",
    };
    let models = facts.models().replace('`', "");
    let personal = match facts.has_texts() {
        true => "All prompts and answers are in the recordings and tables.",
        false => {
            "No prompt and no answer is in it; commitments.csv has a salted commitment to each."
        }
    };
    let deciders: Vec<String> = facts.deciders().iter().map(|line| line.replace('`', "")).collect();
    let value = json!({
        "@context": context(),
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": facts.title(),
        "description": format!(
            "{simulated}Answers of large language models, recorded with {}: {}. Asked: {models}.",
            facts.manifest.program, facts.runs()
        ),
        "citeAs": "See CITATION.cff. To be added by the authors: the reference.",
        // Readers of Croissant expect the address and the licence to be URLs.
        "license": "https://example.org/to-be-added-by-the-authors/license",
        "url": "https://example.org/to-be-added-by-the-authors",
        "creator": {"@type": "Organization", "name": "To be added by the authors"},
        "version": "1.0.0",
        "dateCreated": day,
        "datePublished": day,
        "keywords": ["large language models", "recorded answers", "retold"],
        "distribution": tables.iter().flat_map(files).collect::<Vec<Value>>(),
        "recordSet": tables.iter().map(record_set).collect::<Vec<Value>>(),
        "rai:dataCollection": "Each request to a model and each answer was recorded as an event of a hash-chained log when it happened.",
        "rai:dataCollectionType": "Others: requests to models",
        "rai:dataCollectionTimeFrame": [began, ended],
        "rai:dataCollectionMissingData": "Calls that failed or were not answered are rows of the tables; figures count them as missing.",
        "rai:dataPreprocessingProtocol": deciders,
        "rai:machineAnnotationTools": [facts.manifest.program.clone()],
        "rai:dataAnnotationAnalysis": facts.agreement().iter().map(|line| line.replace('`', "")).collect::<Vec<String>>(),
        "rai:personalSensitiveInformation": format!("{personal} {OPEN}"),
        "rai:dataUseCases": format!("Replaying the study and computing its figures again. Other uses: {OPEN}"),
        "rai:dataLimitations": format!("The answers are those of the models and days named above; others may answer differently. {OPEN}"),
        "rai:dataBiases": OPEN,
        "rai:dataSocialImpact": OPEN,
        "rai:dataReleaseMaintenancePlan": OPEN,
        "rai:hasSyntheticData": true,
        "prov:wasGeneratedBy": {
            "@type": "prov:Activity",
            "sc:name": format!("requests to {models}"),
            "prov:startedAtTime": facts.summaries().map(|of| of.began).min().unwrap_or_default().to_string(),
            "prov:endedAtTime": facts.summaries().map(|of| of.ended).max().unwrap_or_default().to_string(),
        },
    });
    serde_json::to_string_pretty(&value).unwrap_or_default() + "\n"
}

fn path(table: Table, ending: &str) -> String {
    format!("tables/{}.{ending}", table.name())
}

fn files(of: &DepositTable) -> [Value; 2] {
    let file = |ending: &str, kind: &str, sha256: &str| {
        let path = path(of.table, ending);
        json!({
            "@type": "cr:FileObject", "@id": path, "name": path, "contentUrl": path,
            "description": about(of.table), "encodingFormat": kind, "sha256": sha256,
        })
    };
    [file("parquet", "application/x-parquet", &of.parquet), file("csv", "text/csv", &of.csv)]
}

fn about(table: Table) -> &'static str {
    match table {
        Table::Runs => "a row for each run",
        Table::Exchanges => "a row for each question, with its answer",
        Table::Messages => "a row for each message that continues a conversation in a new way",
        Table::Contents => "a row for each text of a message",
        Table::Decisions => "a row for each decision",
        Table::Facts => "a row for each fact",
        Table::Attempts => "a row for each attempt that failed",
    }
}

fn record_set(of: &DepositTable) -> Value {
    let file = path(of.table, "parquet");
    let name = of.table.name();
    let field = |Column { name: column, kind, about }: &Column| {
        json!({
            "@type": "cr:Field", "@id": format!("{name}/{column}"), "name": column, "description": about,
            "dataType": data_type(*kind),
            "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
        })
    };
    json!({
        "@type": "cr:RecordSet", "@id": name, "name": name, "description": about(of.table),
        "field": of.columns.iter().map(field).collect::<Vec<Value>>(),
    })
}

fn data_type(kind: ColumnKind) -> Cow<'static, str> {
    match kind {
        ColumnKind::Text | ColumnKind::Json => "sc:Text",
        ColumnKind::Integer => "sc:Integer",
        ColumnKind::Real => "sc:Float",
        ColumnKind::Truth => "sc:Boolean",
        ColumnKind::Time => "sc:DateTime",
    }
    .into()
}

/// The context that the specification recommends, with the vocabularies that are used besides.
fn context() -> Value {
    serde_json::from_str(include_str!("croissant_context.json")).unwrap_or_default()
}
