//! The contract of a store, on a simulation of S3.

use std::sync::Arc;

use object_store::aws::AmazonS3Builder;
use object_store::path::Path;
use retold::log::conformance::conforms;
use retold_bucket::BucketBackend;

use super::lab::{Lab, SECRET};

fn its_bucket_conforms(lab: &Lab) {
    // Another test may have chosen one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let store = AmazonS3Builder::new()
        .with_bucket_name("lab")
        .with_endpoint(lab.endpoint())
        .with_region("us-east-1")
        .with_access_key_id("AKIAEXAMPLE")
        .with_secret_access_key(SECRET)
        .with_allow_http(true)
        .build()
        .unwrap();
    let prefix = Path::from("conformance");
    let name = "s3://lab/conformance";
    conforms(&BucketBackend::open_or_create(Arc::new(store), prefix, name).unwrap());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn a_bucket_conforms() {
    its_bucket_conforms(&Lab::bucket());
}

#[test]
#[cfg_attr(not(real_clients), ignore = "scripts/test installs moto")]
fn a_bucket_conforms_on_a_bad_day() {
    let lab = Lab::troubled(1);
    its_bucket_conforms(&lab);
    lab.has_met_every_mishap();
}
