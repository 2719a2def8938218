// Anthropic's SDK for Node.
import Anthropic from "@anthropic-ai/sdk";
import * as scenes from "./scenes.mjs";

const client = new Anthropic({ apiKey: scenes.KEY, maxRetries: 4 });
const asked = (content) => ({ model: "m", max_tokens: 100, messages: [{ role: "user", content }] });
const place = { type: "object", properties: { place: { type: "string" } } };
const declared = ["weather", "wind"].map((name) => ({ name, input_schema: place }));

const ask = async (question, options) => (await client.messages.create(asked(question), options)).content[0].text;

async function tools() {
  const request = { ...asked(scenes.WEATHER), tools: declared };
  const { content } = await client.messages.create(request);
  const calls = content.filter((block) => block.type === "tool_use");
  const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: JSON.stringify(call.input) }));
  request.messages.push({ role: "assistant", content }, { role: "user", content: results });
  return [content, (await client.messages.create(request)).content];
}

const stream = (question) => scenes.parts(client.messages.stream(asked(question)), (event) => event.delta?.text ?? event.type);

await scenes.play({
  ask,
  tools,
  stream,
  thinking: async () => {
    const thinking = { type: "enabled", budget_tokens: 1024 };
    return (await client.messages.create({ ...asked(scenes.COLOUR), max_tokens: 2000, thinking })).content;
  },
  counted: () => client.messages.countTokens({ model: "m", messages: asked(scenes.COLOUR).messages }),
  late: () => ask("LATE=800 Name a star.", { timeout: scenes.LIMIT }),
  left: async () => {
    const stream = client.messages.stream(asked("SLOW BIG=200 Tell a saga."));
    const seen = [];
    for await (const event of stream) if (seen.push(event.delta?.text ?? event.type) === 9) break;
    return seen;
  },
  timeout: () => ask(scenes.NEVER, { timeout: scenes.LIMIT, maxRetries: 0 }),
  refused: () => client.messages.create({ model: "m", messages: asked(scenes.COLOUR).messages }),
});
