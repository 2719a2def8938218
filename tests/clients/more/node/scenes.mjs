// What all of these programs do, so that each of them only says how its client asks: see ../python/scenes.py.

export const KEY = process.env.STUDY_KEY ?? "none";
export const COLOUR = "Name a colour.";
export const WEATHER = "How is the weather in Oslo? PARALLEL";
export const STORY = "Tell a story. KEEPALIVE SLOW";
export const BUSY = "E429x1 Name a fish.";
export const BROKEN = "E500x1 Name a bird.";
export const COMPRESSED = "GZIP Name a tree.";
export const CUT = "CUT-IN Tell a legend.";
export const WRONG = "ERROR-INSIDE Tell a lie.";
export const CUT_BETWEEN = "CUT-BETWEEN Tell a myth.";
// An answer that does not come, one that is cut, one after blank lines, and two without the right content type.
const ODD = ["HANG-UP Name a cloud.", "CUT-IN Name a river.", "KEEPALIVE Name a lake.", "NO-TYPE Name a hill."];
ODD.push("WRONG-TYPE Name a dale.");
export const NEVER = "DELAY=1500 Name a stone.";
export const LIMIT = 400; // milliseconds that a client waits for NEVER

// 16 questions at the same time, four of them equal; equal ones may change places.
export async function atOnce(ask) {
  const questions = [...Array.from({ length: 12 }, (_, number) => `Question ${number}`), ...Array(4).fill("Draw a card.")];
  return (await Promise.all(questions.map(async (question) => `${question} ${await ask(question)}`))).sort();
}

// Prints what a scene returns, or how it failed: the name of the error and its status.
export async function show(name, scene) {
  try {
    console.log(`${name}: ${JSON.stringify(await scene())}`);
  } catch (error) {
    console.log(`${name}: ${error.name} ${error.status ?? error.statusCode ?? ""} ${said(error)}`);
  }
}

// The API's own words, without what a client puts around them.
function said(error) {
  const body = error.responseBody ?? error.body ?? error.error ?? "";
  return typeof body === "string" ? body : JSON.stringify(body);
}

// All parts of a stream, also those before it breaks.
export async function parts(stream, shown) {
  const all = [];
  try {
    for await (const part of stream) all.push(shown(part));
  } catch (error) {
    all.push(`${error.name} ${error.status ?? ""}`);
  }
  return all;
}

// The scenes that all clients play. Those that a client cannot play are left out.
export async function play({ ask, tools, stream, ...more }) {
  await show("plain", async () => [await ask(COLOUR), await ask(COLOUR)]);
  if (tools) await show("tools", tools);
  await show("stream", () => stream(STORY));
  await show("cut stream", () => stream(CUT));
  await show("cut between events", () => stream(CUT_BETWEEN));
  for (const question of ODD) await show(question.split(" ")[0], () => ask(question));
  await show("error in a stream", () => stream(WRONG));
  await show("at once", () => atOnce(ask));
  await show("busy", () => ask(BUSY));
  await show("broken", () => ask(BROKEN));
  await show("compressed", () => ask(COMPRESSED));
  for (const [name, scene] of Object.entries(more)) await show(name, scene);
}
