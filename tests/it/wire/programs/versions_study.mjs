// SDKs for Node that disagree on whether a base URL ends with /v1: those of the AI SDK, and the providers' own.
import { anthropic } from "@ai-sdk/anthropic";
import { openai } from "@ai-sdk/openai";
import { GoogleGenAI } from "@google/genai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import Together from "together-ai";

const prompt = "Name a colour.";
const messages = [{ role: "user", content: prompt }];
for (const model of [anthropic("m"), openai("m"), openai.chat("m")]) {
  for (let n = 0; n < 2; n++) console.log((await generateText({ model, prompt, maxRetries: 5 })).text);
}
for await (const text of streamText({ model: anthropic("m"), prompt, maxRetries: 5 }).textStream) console.log(text);
const clients = [new OpenAI({ maxRetries: 5 }), new Together({ maxRetries: 5 })];
for (const client of clients) {
  console.log((await client.chat.completions.create({ model: "m", messages })).choices[0].message.content);
}
console.log((await new GoogleGenAI({}).models.generateContent({ model: "m", contents: prompt })).text);
