//! Vectors and clusters of them: pure, seeded, the same on every machine.
//!
//! scikit-learn is the reference: a fixture compares with its results.
//!
//! - [`best_clustering`]: the number of clusters with the best silhouette score.
//! - [`kmeans`], [`ward`]: the two algorithms, for a given number of clusters.
//! - [`silhouette`]: how well separated the clusters are.
//! - [`in_a_plane`]: two coordinates per point, for plots.
//! - [`cosine_distance`], [`weighted_mean`]: distances and means of embeddings.
//!
//! Labels count from 0 in the order in which their clusters appear among the points, so that two
//! algorithms that find the same clusters give the same labels.

mod best;
mod kmeans;
mod labels;
mod plane;
mod silhouette;
mod span;
mod vectors;
mod ward;

pub use best::{Algorithm, Clustering, best_clustering};
pub use kmeans::kmeans;
pub use labels::in_order_of_appearance;
pub use plane::in_a_plane;
pub use silhouette::silhouette;
pub use vectors::{Point, cosine_distance, point, squared_distance, weighted_mean};
pub use ward::ward;
