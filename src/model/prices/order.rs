//! What a request asks for, and where it goes, as far as its price depends on it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::model::{ServiceTier, providers};
use crate::prompt::Request;

/// What a request asks for, as far as its price depends on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Order {
    /// The model that it names.
    pub model: Option<String>,
    /// The host that it goes to, if that is known.
    pub host: Option<String>,
    /// The tier of service that it asks for.
    pub service: Option<String>,
    /// True if a batch API answers it, whatever the answer says about its tier.
    pub is_batch: bool,
    /// The tool that is called, whose answers nobody pays for; `None` if a model is asked.
    pub tool: Option<String>,
}

/// The format of imported files of batch APIs.
const BATCH: &str = "batch";

/// The upstream whose server is one's own machine, where nothing costs what a provider's model of the same name does.
const OLLAMA: &str = "ollama";

/// The upstream of a program's requests whose address is the usual one of their API.
const USUAL: &str = "openai";

/// The hosts that a run's requests go to, as far as the run says.
#[derive(Debug, Clone, Default)]
pub struct Destinations {
    /// By upstream of a program.
    upstreams: BTreeMap<String, String>,
    /// By model of a study.
    models: BTreeMap<String, String>,
    /// Of all other requests.
    others: Option<String>,
    /// The tier of service that the run asks for.
    tier: Option<String>,
    is_batch: bool,
}

impl Destinations {
    /// Those of a run, from its recorded settings and its recorded model. `is_program` is true for a program's run: its
    /// requests without an address have the usual one of their API.
    pub fn of_run(is_program: bool, settings: &Value, model: &Value) -> Self {
        let is_batch = settings["imported"]["format"].as_str() == Some(BATCH);
        let mut found = Destinations { is_batch, ..Destinations::default() };
        found.go_on(settings, model);
        if is_program {
            found.others = Some(found.host_of_upstream(USUAL));
        }
        found
    }

    /// Adds those of a run that is continued.
    pub fn go_on(&mut self, settings: &Value, model: &Value) {
        for urls in [&settings["imported"]["urls"], &settings["urls"]] {
            let urls = urls.as_object().into_iter().flatten();
            let hosts = urls.filter_map(|(name, url)| Some((name.clone(), host_of(url.as_str()?))));
            self.upstreams.extend(hosts);
        }
        // What a batch answered says so itself.
        let tier = settings["runtime"]["model"]["tier"].as_str();
        if let Some(tier) = tier.filter(|tier| *tier != ServiceTier::Batch.as_str()) {
            self.tier = Some(tier.to_owned());
        }
        // Several servers are recorded in one text: that of all others, then each model with its own.
        for part in model["source"].as_str().unwrap_or_default().split("; ") {
            match part.rsplit_once(": ") {
                Some((name, url)) => {
                    self.models.insert(name.to_owned(), host_of(url));
                }
                None if part.contains("://") => self.others = Some(host_of(part)),
                None => {}
            }
        }
    }

    /// What a request of the run asks for.
    pub fn order(&self, request: &Request) -> Order {
        let body = request.body();
        let order = Order {
            model: request.model().map(str::to_owned),
            host: body["http"]["upstream"].as_str().map(|upstream| self.host_of_upstream(upstream)),
            service: body["service_tier"].as_str().or(self.tier.as_deref()).map(str::to_owned),
            is_batch: self.is_batch,
            tool: request.tool().map(str::to_owned),
        };
        if order.host.is_some() { order } else { self.ordered(&order) }
    }

    /// The same order of a study, at the host of its model.
    pub fn ordered(&self, order: &Order) -> Order {
        let of_model = || self.models.get(order.model.as_deref()?);
        Order { host: of_model().or(self.others.as_ref()).cloned(), ..order.clone() }
    }

    fn host_of_upstream(&self, upstream: &str) -> String {
        if upstream == OLLAMA {
            return upstream.to_owned();
        }
        let usual = || providers::default_url(upstream).map(host_of);
        self.upstreams.get(upstream).cloned().or_else(usual).unwrap_or_else(|| upstream.to_owned())
    }
}

/// The host of a URL, without its port.
fn host_of(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split(['/', ':', '?']).next().unwrap_or(rest).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(body: Value) -> Request {
        let mut whole = json!({"messages": [{"role": "user", "content": "?"}]});
        whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        Request::from_body(whole).unwrap()
    }

    #[test]
    fn a_program_s_requests_go_where_its_upstreams_lead() {
        let settings = json!({"urls": {"openai": "http://127.0.0.1:4000/v1"},
            "imported": {"urls": {"x": "https://openrouter.ai/api/v1"}, "format": "batch"}});
        let run = Destinations::of_run(true, &settings, &Value::Null);
        let host = |run: &Destinations, upstream: &str| {
            run.order(&request(json!({"http": {"upstream": upstream}}))).host.unwrap()
        };
        assert_eq!(host(&run, "openai"), "127.0.0.1");
        assert_eq!(host(&run, "x"), "openrouter.ai");
        assert_eq!(host(&run, "anthropic"), "api.anthropic.com");
        assert_eq!(host(&run, "api.example.org"), "api.example.org");
        assert_eq!(host(&run, "ollama"), "ollama");
        let plain = run.order(&request(json!({"model": "m", "service_tier": "flex"})));
        assert_eq!(plain.host.as_deref(), Some("127.0.0.1"));
        assert_eq!((plain.model.as_deref(), plain.service.as_deref()), (Some("m"), Some("flex")));
        assert!(plain.is_batch);
        let usual = Destinations::of_run(true, &json!({}), &Value::Null);
        assert_eq!(usual.order(&request(json!({}))).host.as_deref(), Some("api.openai.com"));
    }

    #[test]
    fn a_study_s_requests_go_to_its_server_or_to_that_of_their_model() {
        let host =
            |run: &Destinations, model: &str| run.order(&request(json!({"model": model}))).host;
        let source = "https://api.openai.com/v1; llama3:8b: http://10.0.0.5:8000/v1";
        let mut run =
            Destinations::of_run(false, &json!({}), &json!({"kind": "openai", "source": source}));
        assert_eq!(host(&run, "gpt-5").as_deref(), Some("api.openai.com"));
        assert_eq!(host(&run, "llama3:8b").as_deref(), Some("10.0.0.5"));
        run.go_on(
            &Value::Null,
            &json!({"kind": "openai", "source": "https://api.groq.com/openai/v1"}),
        );
        assert_eq!(host(&run, "gpt-5").as_deref(), Some("api.groq.com"));
        let file = json!({"kind": "scripted", "source": "answers.jsonl"});
        assert_eq!(host(&Destinations::of_run(false, &json!({}), &file), "m"), None);
    }
}
