// Cohere's SDK for Node, which reads its base URL from no variable.
import { CohereClientV2 } from "cohere-ai";
import * as scenes from "./scenes.mjs";

const client = new CohereClientV2({ token: scenes.KEY, environment: process.env.CO_BASE_URL });
const messages = (content) => [{ role: "user", content }];
const parameters = { type: "object", properties: { place: { type: "string" } } };
const declared = ["weather", "wind"].map((name) => ({ type: "function", function: { name, parameters } }));

const ask = async (question, options) =>
  (await client.chat({ model: "m", messages: messages(question) }, options)).message.content[0].text;

async function tools() {
  const request = { model: "m", messages: messages(scenes.WEATHER), tools: declared };
  const { message } = await client.chat(request);
  request.messages.push({ role: "assistant", toolCalls: message.toolCalls, toolPlan: message.toolPlan });
  for (const call of message.toolCalls) {
    request.messages.push({ role: "tool", toolCallId: call.id, content: call.function.arguments });
  }
  return [message, (await client.chat(request)).message];
}

async function stream(question) {
  const events = await client.chatStream({ model: "m", messages: messages(question) });
  return scenes.parts(events, (event) => event.delta?.message?.content?.text ?? event.type);
}

await scenes.play({
  ask,
  tools,
  stream,
  embedded: () => client.embed({ model: "m", inputType: "search_query", embeddingTypes: ["float"], texts: ["a", "b"] }),
  ranked: () => client.rerank({ model: "m", query: "a", documents: ["a", "b"] }),
  timeout: () => ask(scenes.NEVER, { timeoutInSeconds: scenes.LIMIT / 1000, maxRetries: 0 }),
  refused: () => client.embed({ model: "m", inputType: "search_query", embeddingTypes: ["float"], texts: Array(97).fill("a") }),
});
