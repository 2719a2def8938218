use serde_json::{Map, Value, json};

use super::{Conversation, conversation};

fn read(dialect: &str, body: Value) -> Conversation {
    conversation(dialect, body.as_object().unwrap()).unwrap()
}

/// One conversation with a tool, in the words of each API.
#[test]
fn a_conversation_with_a_tool_is_the_same_from_each_api() {
    let schema = json!({"type": "object"});
    let due = vec![
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "user", "content": "Weather?"}),
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "w", "arguments": "{\"x\":1}"}}]}),
        json!({"role": "tool", "tool_call_id": "c", "content": "rain"}),
    ];
    let tool = json!({"type": "function", "function": {"name": "w", "description": "d", "parameters": schema}});
    let chats = [
        read(
            "openai.chat",
            json!({"messages": [
            {"role": "developer", "content": "Be brief."}, due[1], due[2], due[3]], "tools": [tool]}),
        ),
        read(
            "anthropic.messages",
            json!({"system": [{"type": "text", "text": "Be brief."}], "messages": [
            {"role": "user", "content": "Weather?"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "w", "input": {"x": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "rain"}]}],
            "tools": [{"name": "w", "description": "d", "input_schema": schema}]}),
        ),
        read(
            "openai.responses",
            json!({"instructions": "Be brief.", "messages": [
            {"role": "user", "content": "Weather?"},
            {"type": "function_call", "call_id": "c", "name": "w", "arguments": "{\"x\":1}"},
            {"type": "function_call_output", "call_id": "c", "output": "rain"}],
            "tools": [{"type": "function", "name": "w", "description": "d", "parameters": schema}]}),
        ),
        read(
            "cohere.chat",
            json!({"messages": [due[0], {"role": "user", "content": [{"type": "text", "text": "Weather?"}]}, due[2],
            {"role": "tool", "tool_call_id": "c", "content": [{"type": "document", "document": {"data": "rain"}}]}],
            "tools": [tool]}),
        ),
        read(
            "bedrock.converse",
            json!({"system": [{"text": "Be brief."}], "messages": [
            {"role": "user", "content": [{"text": "Weather?"}, {"cachePoint": {"type": "default"}}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "w", "input": {"x": 1}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": [{"text": "rain"}]}}]}],
            "toolConfig": {"tools": [{"toolSpec": {"name": "w", "description": "d", "inputSchema": {"json": schema}}}]}}),
        ),
        read(
            "ollama",
            json!({"messages": [due[0], due[1],
            {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "w", "arguments": {"x": 1}}}]},
            {"role": "tool", "tool_call_id": "c", "content": "rain"}], "tools": [tool]}),
        ),
    ];
    for chat in chats {
        assert_eq!((&chat.messages, &chat.tools, chat.lost.len()), (&due, &vec![tool.clone()], 0));
    }
    let gemini = read(
        "gemini.content",
        json!({"systemInstruction": {"parts": [{"text": "Be brief."}]}, "messages": [
        {"role": "user", "parts": [{"text": "Weather?"}]},
        {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "w", "args": {"x": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"id": "c", "name": "w", "response": {"a": 1}}}]}],
        "tools": [{"functionDeclarations": [{"name": "w", "description": "d", "parameters": schema}]}]}),
    );
    assert_eq!((&gemini.messages[..3], &gemini.tools), (&due[..3], &vec![tool]));
    assert_eq!(gemini.messages[3]["content"], "{\"a\":1}");
    // Calls have no ids, and are named by their tools.
    let cohere = read(
        "cohere.chat_v1",
        json!({"preamble": "Be brief.", "chat_history": [{"role": "USER", "message": "Weather?"},
        {"role": "CHATBOT", "message": "", "tool_calls": [{"name": "w", "parameters": {"x": 1}}]}],
        "messages": [{"role": "user", "content": ""}],
        "tool_results": [{"call": {"name": "w", "parameters": {"x": 1}}, "outputs": ["rain"]}],
        "tools": [{"name": "w", "description": "d", "parameter_definitions": {
            "x": {"type": "int", "required": true}}}]}),
    );
    let mut called = due.clone();
    called[2]["tool_calls"][0]["id"] = "w".into();
    called[3]["tool_call_id"] = "w".into();
    assert_eq!(cohere.messages, called);
    assert_eq!(
        cohere.tools[0]["function"]["parameters"],
        json!({"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]})
    );
}

#[test]
fn what_has_no_place_is_listed() {
    let chat = read(
        "anthropic.messages",
        json!({"messages": [{"role": "user", "content": [
        {"type": "text", "text": "Look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "document", "source": {}}]}], "tools": [{"type": "web_search", "name": "s"}]}),
    );
    assert_eq!(chat.lost, ["document in a message", "a tool of the provider"]);
    assert_eq!(chat.messages[0]["content"][1]["image_url"]["url"], "data:image/png;base64,AAAA");
    assert!(conversation("http", &Map::new()).is_none());
}
