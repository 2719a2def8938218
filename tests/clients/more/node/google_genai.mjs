// Google's SDK for Node.
import { GoogleGenAI, Type } from "@google/genai";
import * as scenes from "./scenes.mjs";

const retryOptions = { attempts: 4, initialDelay: 0.01, maxDelay: 0.02 };
const client = new GoogleGenAI({ apiKey: scenes.KEY, httpOptions: { retryOptions } });
const place = { type: Type.OBJECT, properties: { place: { type: Type.STRING } } };
const functionDeclarations = ["weather", "wind"].map((name) => ({ name, parameters: place }));

const ask = async (contents, config) => (await client.models.generateContent({ model: "m", contents, config })).text;

async function tools() {
  const contents = [{ role: "user", parts: [{ text: scenes.WEATHER }] }];
  const request = { model: "m", contents, config: { tools: [{ functionDeclarations }] } };
  const answer = await client.models.generateContent(request);
  const parts = answer.functionCalls.map(({ name, args }) => ({ functionResponse: { name, response: { output: args } } }));
  contents.push(answer.candidates[0].content, { role: "user", parts });
  return [answer.functionCalls, (await client.models.generateContent(request)).text];
}

async function stream(contents) {
  return scenes.parts(await client.models.generateContentStream({ model: "m", contents }), (part) => part.text);
}

await scenes.play({
  ask,
  tools,
  stream,
  embedded: async () => (await client.models.embedContent({ model: "m", contents: ["a", "b"] })).embeddings,
  // Not the whole answer: it has the headers, and a replay sends none of those that say when and by whom it was sent.
  counted: async () => (await client.models.countTokens({ model: "m", contents: scenes.COLOUR })).totalTokens,
  timeout: () => ask(scenes.NEVER, { httpOptions: { timeout: scenes.LIMIT, retryOptions: { attempts: 1 } } }),
  refused: () => ask([{ role: "assistant", parts: [{ text: scenes.COLOUR }] }]),
});
