//! Each documented field is struck, whatever stands around it, and no other.

use serde_json::{Value, json};

use super::credentials::{in_answer, in_request, replace};
use super::dialects;

const KEY: &str = "K3y-0123456789";

/// A document with a value at a place; a list is as long as two items.
fn at(place: &[&str], value: &str) -> Value {
    let Some((first, rest)) = place.split_first() else { return value.into() };
    let within = at(rest, value);
    match *first {
        // Of fields with any name, `Authorization` is one; all others with `*` are lists.
        "*" if rest.is_empty() => json!({"Authorization": within}),
        "*" => json!([{"other": "stays"}, within]),
        "{key}" => json!({"api_key": within, "model": "stays"}),
        name => json!({name: within, "other": "stays"}),
    }
}

fn struck(path: &str, content_type: &str, body: &str) -> String {
    let found = in_request(path, content_type, body.as_bytes());
    String::from_utf8(replace(body.as_bytes(), &found, b"[key]")).unwrap()
}

#[test]
fn every_credential_field_of_every_api_is_struck_and_nothing_else() {
    let mut fields = Vec::new();
    for dialect in dialects() {
        for place in dialect.credentials() {
            let steps: Vec<&str> = place.split('.').collect();
            let body = at(&steps, KEY);
            for body in [body.to_string(), serde_json::to_string_pretty(&body).unwrap()] {
                let due = body.replace(KEY, "[key]");
                assert_eq!(struck("/v1/any", "application/json", &body), due, "{place}");
                // One level deeper, it is content.
                let deeper = format!(r#"{{"input_schema": {{"properties": {body}}}}}"#);
                assert_eq!(struck("/v1/any", "application/json", &deeper), deeper, "{place}");
            }
            // A number, or an object, is none.
            let number = at(&steps, KEY).to_string().replace(&format!("\"{KEY}\""), "12");
            assert_eq!(struck("/v1/any", "", &number), number, "{place}");
            fields.push(*place);
        }
    }
    // Those of the documents are among them.
    for documented in [
        "tools.*.authorization",
        "tools.*.headers.*",
        "mcp_servers.*.authorization_token",
        "data_sources.*.parameters.authentication.key",
        "data_sources.*.parameters.authentication.access_token",
        "data_sources.*.parameters.authentication.connection_string",
        "data_sources.*.parameters.authentication.encoded_api_key",
        "data_sources.*.parameters.embedding_dependency.authentication.key",
        "tools.*.mcpServers.*.streamableHttpTransport.headers.*",
        "connectors.*.user_access_token",
        "api_key",
        "client_secret",
        "aws_secret_access_key",
        "aws_session_token",
        "azure_ad_token",
        "user_config.model_list.*.litellm_params.{key}",
    ] {
        assert!(fields.contains(&documented), "{documented}");
    }
}

#[test]
fn every_credential_of_an_answer_is_struck() {
    for (path, place) in [
        ("/oauth/token", "access_token"),
        ("/tenant/oauth2/v2.0/token", "refresh_token"),
        ("/token", "id_token"),
        ("/v1/realtime/client_secrets", "value"),
        ("/v1/realtime/sessions", "client_secret.value"),
        ("/v1/realtime/transcription_sessions", "client_secret.value"),
        ("/chatkit/sessions", "client_secret"),
        ("/v1/organization/admin_api_keys", "value"),
        ("/v1/organization/projects/p/service_accounts", "api_key.value"),
        ("/v1alpha/auth_tokens", "name"),
        ("/api/oauth/claude_cli/create_api_key", "raw_key"),
        ("/key/generate", "key"),
        ("/api/v1/keys", "key"),
        ("/v1/projects/-/serviceAccounts/s:generateAccessToken", "accessToken"),
    ] {
        let steps: Vec<&str> = place.split('.').collect();
        let body = at(&steps, KEY).to_string();
        let found = in_answer(path, "application/json", body.as_bytes());
        let said = String::from_utf8(replace(body.as_bytes(), &found, b"[key]")).unwrap();
        assert_eq!(said, body.replace(KEY, "[key]"), "{path}");
        assert_eq!(in_answer("/chat/completions", "application/json", body.as_bytes()), []);
    }
    let form = b"access_token=gho_0123456789&scope=repo&token_type=bearer";
    let found = in_answer("/login/oauth/access_token", "application/x-www-form-urlencoded", form);
    assert_eq!(replace(form, &found, b"[key]"), b"access_token=[key]&scope=repo&token_type=bearer");
}

#[test]
fn a_field_of_the_same_name_elsewhere_is_content() {
    for body in [
        r#"{"model":"m","tools":[{"type":"function","function":{"name":"login","parameters":{"type":"object","properties":{"api_key":{"type":"string","description":"api_key","default":"sk-0123456789"}}}}}]}"#,
        r#"{"model":"m","messages":[{"role":"user","content":"{\"api_key\":\"sk-0123456789\"}","api_key":"x"}]}"#,
        r#"{"model":"m","tools":[{"name":"t","input_schema":{"properties":{"authorization":{"type":"string","enum":["authorization"]}}}}]}"#,
        r#"{"model":"m","input":[{"type":"function_call","arguments":"{\"api_key\":\"K\"}"}],"metadata":{"api_key":"K"}}"#,
        r#"{"model":"m","code":"K","password":"K","token":"K","prompt_cache_key":"K","value":"K"}"#,
        r#"{"contents":[{"parts":[{"functionCall":{"name":"f","args":{"api_key":"K","headers":{"authorization":"K"}}}}]}]}"#,
        r#"{"api_key":"<API_KEY>","client_secret":"**REDACTED**","mcp_servers":[{"authorization_token":"Bearer <TOKEN>"}]}"#,
    ] {
        assert_eq!(struck("/v1/chat/completions", "application/json", body), body);
    }
}

#[test]
fn batches_sessions_and_bodies_that_are_no_json_lose_their_keys() {
    for (content_type, body) in [
        (
            "",
            r#"{"requests":[{"custom_id":"a","params":{"mcp_servers":[{"authorization_token":"KEY"}]}}]}"#,
        ),
        (
            "",
            "{\"body\":{\"tools\":[{\"authorization\":\"KEY\"}]}}\n{\"body\":{\"api_key\":\"KEY\"}}\n",
        ),
        ("", r#"{"session":{"type":"realtime","tools":[{"type":"mcp","headers":{"X":"KEY"}}]}}"#),
        (
            "",
            r#"[{"provider":"openai","headers":{"authorization":"KEY","content-type":"j"},"query":{"model":"m"}}]"#,
        ),
        ("", "\u{feff}{\"api_key\":\"KEY\",\"cut"),
        ("", r#"{"\u0061pi_key":"KEY","n":1e400,}"#),
        ("application/x-www-form-urlencoded", "model=m&api_key=KEY&x=%20"),
        ("application/x-www-form-urlencoded", "api%5Fkey=KEY"),
        (
            "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\nm\r\n--b\r\ncontent-disposition: form-data; name=\"client_secret\"\r\n\r\nKEY\r\n--b--\r\n",
        ),
        (
            "multipart/form-data; boundary=b",
            "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"batch.jsonl\"\r\n\r\n{\"body\":{\"tools\":[{\"authorization\":\"KEY\"}]}}\n{\"body\":{\"api_key\":\"KEY\"}}\r\n--b--",
        ),
    ] {
        let due = body.replace("KEY", "[key]");
        assert_eq!(struck("/v1/any", content_type, &body.replace("KEY", KEY)), due);
    }
    let grant =
        r#"{"grant_type":"refresh_token","refresh_token":"KEY","client_id":"c","code":"KEY"}"#;
    assert_eq!(
        struck("/v1/oauth/token", "application/json", &grant.replace("KEY", KEY)),
        grant.replace("KEY", "[key]")
    );
    let form = "grant_type=client_credentials&client_id=c&client_secret=KEY&assertion=KEY";
    assert_eq!(
        struck("/oauth2/token", "application/x-www-form-urlencoded", &form.replace("KEY", KEY)),
        form.replace("KEY", "[key]")
    );
}
