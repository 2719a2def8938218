// The AI SDK with its provider for Google, which reads its base URL from no variable.
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { play } from "./ai_scenes.mjs";
import { KEY } from "./scenes.mjs";

const google = createGoogleGenerativeAI({ apiKey: KEY, baseURL: `${process.env.GOOGLE_GEMINI_BASE_URL}/v1beta` });
await play(google("m"), { temperature: 3 });
