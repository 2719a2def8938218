// The AI SDK with its provider for OpenAI: responses, then chat completions.
import { createOpenAI } from "@ai-sdk/openai";
import { play } from "./ai_scenes.mjs";
import { KEY } from "./scenes.mjs";

const openai = createOpenAI({ apiKey: KEY });
await play(openai("gpt-4.1"), { maxOutputTokens: 1 });
await play(openai.chat("gpt-4.1"), { temperature: 3 });
