// The AI SDK with its provider for Anthropic.
import { createAnthropic } from "@ai-sdk/anthropic";
import { play } from "./ai_scenes.mjs";
import { KEY } from "./scenes.mjs";

const anthropic = createAnthropic({ apiKey: KEY });
const thinking = { type: "enabled", budgetTokens: 10 };
await play(anthropic("m"), { providerOptions: { anthropic: { thinking } } });
