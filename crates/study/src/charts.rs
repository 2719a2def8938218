//! The plots of a study's report: numbers, which a program draws or writes as a table.

/// A plot.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// A name for files: letters, digits and `_`.
    pub name: String,
    /// The title of the plot.
    pub title: String,
    /// The numbers.
    pub data: ChartData,
}

/// The quantity on an axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChartAxis {
    /// Its name, with the unit of numbers that have one.
    pub name: String,
    /// Whether the values are shares from 0 to 1, which people read in per cent.
    pub is_share: bool,
}

impl ChartAxis {
    /// An axis of shares, from 0 to 1.
    pub fn share(name: &str) -> Self {
        ChartAxis { name: name.to_owned(), is_share: true }
    }

    /// An axis of any other numbers.
    pub fn number(name: &str) -> Self {
        ChartAxis { name: name.to_owned(), is_share: false }
    }
}

/// The numbers of a plot.
#[derive(Debug, Clone, PartialEq)]
pub enum ChartData {
    /// How many went from one state to another.
    Flow {
        /// The label of the first states.
        from: String,
        /// The label of the second states.
        to: String,
        /// The two states, and how many.
        links: Vec<(String, String, u32)>,
    },
    /// Values with their intervals.
    Estimates {
        /// The estimated quantity.
        axis: ChartAxis,
        /// Each with its name, value, interval and number of draws.
        rows: Vec<EstimateRow>,
    },
    /// Values over a number, such as a round.
    Lines {
        /// The label of the number.
        x: String,
        /// The axis of the values.
        y: ChartAxis,
        /// Each line with its name.
        series: Vec<(String, Vec<(f64, f64)>)>,
    },
    /// A value for each of some names.
    Bars {
        /// The label of the values.
        axis: String,
        /// Each name with its value.
        bars: Vec<(String, f64)>,
    },
    /// Several values for each of some names, which add up.
    Stacked {
        /// The label of the values.
        axis: String,
        /// The parts that add up, in order.
        parts: Vec<String>,
        /// Each name with a value for each part.
        bars: Vec<(String, Vec<f64>)>,
    },
    /// Points in a plane, in groups.
    Points {
        /// The label of the first coordinate.
        x: String,
        /// The label of the second coordinate.
        y: String,
        /// Each group with its name.
        groups: Vec<(String, Vec<[f64; 2]>)>,
    },
    /// A value for each pair of names.
    Matrix {
        /// The label of the rows.
        from: String,
        /// The label of the columns.
        to: String,
        /// The names of rows and columns.
        names: Vec<String>,
        /// Row, column and value; the others are 0.
        cells: Vec<(usize, usize, f64)>,
    },
    /// Who is linked to whom, and how strongly.
    Graph {
        /// The label of the nodes at which links begin.
        from: String,
        /// The label of the nodes at which links end.
        to: String,
        /// The names of the linked nodes.
        names: Vec<String>,
        /// Beginning, end and strength; there is no other link.
        links: Vec<(usize, usize, f64)>,
    },
}

/// A value with its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct EstimateRow {
    /// Its name.
    pub name: String,
    /// The value; `None` without draws.
    pub value: Option<f64>,
    /// The 95 % interval, if one can be given.
    pub interval: Option<(f64, f64)>,
    /// The means of clusters, where they are too few for an interval.
    pub dots: Vec<f64>,
    /// How many draws.
    pub draws: u64,
}

impl ChartData {
    /// How many bars, lines, groups, links or names it has.
    pub fn groups(&self) -> usize {
        match self {
            ChartData::Flow { links, .. } => links.len(),
            ChartData::Estimates { rows, .. } => rows.len(),
            ChartData::Lines { series, .. } => series.len(),
            ChartData::Bars { bars, .. } => bars.len(),
            ChartData::Stacked { bars, .. } => bars.len(),
            ChartData::Points { groups, .. } => groups.len(),
            ChartData::Matrix { names, .. } | ChartData::Graph { names, .. } => names.len(),
        }
    }

    /// The numbers as a table: its columns and its rows.
    pub fn table(&self) -> (Vec<String>, Vec<Vec<String>>) {
        let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let shown = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        match self {
            ChartData::Flow { from, to, links } => {
                let row = |(from, to, n): &(String, String, u32)| {
                    vec![from.clone(), to.clone(), n.to_string()]
                };
                (columns(&[from, to, "count"]), links.iter().map(row).collect())
            }
            ChartData::Estimates { rows, .. } => {
                let row = |row: &EstimateRow| {
                    let EstimateRow { name, value, interval, draws, .. } = row;
                    let (low, high) = (interval.map(|i| i.0), interval.map(|i| i.1));
                    vec![name.clone(), shown(*value), shown(low), shown(high), draws.to_string()]
                };
                let names = columns(&["name", "value", "low", "high", "draws"]);
                (names, rows.iter().map(row).collect())
            }
            ChartData::Lines { x, y, series } => {
                let rows = series.iter().flat_map(|(name, points)| {
                    let row =
                        move |(x, y): &(f64, f64)| vec![name.clone(), x.to_string(), y.to_string()];
                    points.iter().map(row)
                });
                (columns(&["series", x, &y.name]), rows.collect())
            }
            ChartData::Bars { axis, bars } => {
                let row = |(name, value): &(String, f64)| vec![name.clone(), value.to_string()];
                (columns(&["name", axis]), bars.iter().map(row).collect())
            }
            ChartData::Stacked { axis, parts, bars } => {
                let rows = bars.iter().flat_map(|(name, values)| {
                    let row = |(part, value): (&String, &f64)| {
                        vec![name.clone(), part.clone(), value.to_string()]
                    };
                    parts.iter().zip(values).map(row).collect::<Vec<_>>()
                });
                (columns(&["name", "part", axis]), rows.collect())
            }
            ChartData::Points { x, y, groups } => {
                let rows = groups.iter().flat_map(|(name, points)| {
                    let row =
                        move |[x, y]: &[f64; 2]| vec![name.clone(), x.to_string(), y.to_string()];
                    points.iter().map(row)
                });
                (columns(&["group", x, y]), rows.collect())
            }
            ChartData::Matrix { from, to, names, cells }
            | ChartData::Graph { from, to, names, links: cells } => {
                let name = |at: &usize| names.get(*at).cloned().unwrap_or_default();
                let row = |(row, column, value): &(usize, usize, f64)| {
                    vec![name(row), name(column), value.to_string()]
                };
                (columns(&[from, to, "value"]), cells.iter().map(row).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_in_the_table() {
        let matrix = ChartData::Matrix {
            from: "from".to_owned(),
            to: "to".to_owned(),
            names: vec!["a".to_owned(), "b".to_owned()],
            cells: vec![(0, 1, 2.5)],
        };
        assert_eq!(matrix.table().1, [["a", "b", "2.5"]]);
        let row = EstimateRow {
            name: "acp".to_owned(),
            value: Some(0.4),
            interval: None,
            dots: Vec::new(),
            draws: 10,
        };
        let estimates = ChartData::Estimates { axis: ChartAxis::share("share"), rows: vec![row] };
        assert_eq!(estimates.table().1, [["acp", "0.4", "", "", "10"]]);
        let stacked = ChartData::Stacked {
            axis: "tokens".to_owned(),
            parts: vec!["in".to_owned(), "out".to_owned()],
            bars: vec![("a".to_owned(), vec![1.0, 2.0]), ("b".to_owned(), vec![3.0, 0.5])],
        };
        let rows = [["a", "in", "1"], ["a", "out", "2"], ["b", "in", "3"], ["b", "out", "0.5"]];
        assert_eq!(stacked.table().1, rows);
    }
}
