//! A run that is merged from shards, on the page.

use super::Served;
use crate::support::cli::Place;

#[test]
fn a_merged_run_leads_to_its_shards() {
    let place = Place::new();
    place.ok("run small.yaml --quiet --no-outputs --shard 1/2");
    place.ok("run small.yaml --quiet --no-outputs --shard 2/2");
    place.ok("run --merge game24-1of2 game24-2of2 --quiet");
    let served = Served::log(&place, "retold.db");
    let page = served.json("/run/latest");
    let shards = page["run"]["merged_from"].as_array().unwrap();
    let html = served.html("/run/latest");
    assert!(html.contains("merged from 2 shards: "), "{html}");
    for shard in shards {
        let link = format!("<a href=\"/run/{}\">", shard.as_str().unwrap());
        assert!(html.contains(&link), "{link}");
    }
    assert_eq!((shards.len(), &page["totals"]["reused"]), (2, &page["totals"]["answers"]));
    assert!(html.contains("<dt>of these reused</dt>"), "{html}");
    assert!(served.html("/").contains("merged from 2 shards"));
    assert!(served.html("/run/latest/stats").contains("<dt>reused answers</dt>"));
}
