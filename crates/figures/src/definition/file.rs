//! Figures in a file.

use serde::Deserialize;

use super::{Clustering, DefinitionError, FigureDefinition};

/// A file of figures.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FiguresFile {
    /// The figures, each as it is written on the command line.
    pub figures: Vec<String>,
    /// The label by which draws are clustered where a figure does not say.
    #[serde(default)]
    pub clustered_by: Option<String>,
    /// The baseline of figures that have labels and do not say.
    #[serde(default)]
    pub against: Option<String>,
}

impl FiguresFile {
    /// The figures.
    ///
    /// # Errors
    /// [`DefinitionError`] of the first that cannot be read.
    pub fn definitions(&self) -> Result<Vec<FigureDefinition>, DefinitionError> {
        let read = |figure: &String| {
            let figure: FigureDefinition = figure.parse()?;
            // A label that a figure compares cannot be its cluster.
            let is_by = |label: &String| figure.by.contains(label);
            let of_file = self.clustered_by.clone().filter(|label| !is_by(label));
            let otherwise = || of_file.map(Clustering::By);
            let clustering = figure.clustering.or_else(otherwise);
            let baseline = || self.against.clone().filter(|_| !figure.by.is_empty());
            let against = figure.against.or_else(baseline);
            Ok(FigureDefinition { clustering, against, ..figure })
        };
        self.figures.iter().map(read).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_file_have_its_clusters_and_its_baseline_unless_they_say_otherwise() {
        let file = FiguresFile {
            figures: [
                "mean of sum",
                "mean of sum by game",
                "mean of sum independent",
                "mean of sum by day against monday clustered by pair",
            ]
            .map(str::to_owned)
            .into(),
            clustered_by: Some("game".to_owned()),
            against: Some("control".to_owned()),
        };
        let read: Vec<String> =
            file.definitions().unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(
            read,
            [
                "mean of sum clustered by game",
                "mean of sum by game against control",
                "mean of sum independent",
                "mean of sum by day against monday clustered by pair"
            ]
        );
        let figures = vec!["sum".to_owned()];
        let wrong = FiguresFile { figures, clustered_by: None, against: None };
        assert!(wrong.definitions().is_err());
    }
}
