// Catches what the tests ask models with `fetch` and `node:http`, for clients whose base URL is written into the program.

import http from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";

/** Names the call that a request belongs to. */
const CALL = "x-retold-call";

/**
 * Sends these requests to retold, each with the test that it belongs to. Returns the function that ends it.
 *
 * @param {{url: string, token: string, bases: string[], hosts: string[], paths: string[]}} greeting
 * @param {() => string | undefined} test
 */
export function catchRequests({ url: ours, token, bases, hosts, paths }, test) {
  const here = new URL(ours);
  const before = { fetch: globalThis.fetch, http: http.request, https: https.request, get: http.get, gets: https.get };
  const ofHosts = hosts.map((host) => fits(host));
  const ofPaths = paths.map((path) => fits(`*${path}`));

  const isTaken = (method, url) => {
    if (url.host === here.host) return true;
    if (ofHosts.some((host) => host.test(url.hostname))) return true;
    if (bases.some((base) => url.href.startsWith(`${base.replace(/\/$/, "")}/`))) return true;
    return method.toUpperCase() === "POST" && ofPaths.some((path) => path.test(url.pathname));
  };
  /** What retold is told about a request for a server, whose program may have named its call. */
  const told = (url, call) => ({
    // The variables that lead here have all of that in them.
    ...(url.host !== here.host && { "x-retold-token": token, "x-retold-origin": url.origin }),
    ...(test() && { [CALL]: [Buffer.from(test()).toString("latin1"), ...(call ? [call] : [])].join("/") }),
  });

  globalThis.fetch = async (input, init = {}) => {
    const given = input instanceof Request ? input : undefined;
    const url = new URL(given?.url ?? input);
    if (!isTaken(init.method ?? given?.method ?? "GET", url)) return before.fetch(input, init);
    const headers = new Headers(init.headers ?? given?.headers);
    for (const [name, value] of Object.entries(told(url, headers.get(CALL)))) headers.set(name, value);
    const target = new URL(url.pathname + url.search, ours);
    // Its own way to the server is not that to retold.
    const options = { ...init, headers, dispatcher: undefined };
    const response = await before.fetch(given ? new Request(target, given) : target, options);
    return Object.defineProperty(response, "url", { value: url.href });
  };

  const caught = (plain, scheme) =>
    function request(...args) {
      const callback = typeof args.at(-1) === "function" ? args.pop() : undefined;
      const options = Object.assign({}, ...args.map((arg) => (typeof arg === "object" && !(arg instanceof URL) ? arg : {})));
      const url = urlOf(args[0], options, scheme);
      if (options.socketPath || !isTaken(options.method ?? "GET", url)) return plain(...args, ...(callback ? [callback] : []));
      const { hostname, port } = here;
      const ours = { protocol: "http:", hostname, host: hostname, port, path: url.pathname + url.search };
      // Its own way to another server is not that to retold.
      const own = url.host === here.host ? {} : { agent: undefined, createConnection: undefined };
      const given = headersOf(options.headers);
      const headers = { ...given, ...told(url, given[CALL]) };
      delete headers.host;
      return before.http({ ...options, ...ours, ...own, headers }, callback);
    };
  const getting = (request) =>
    function get(...args) {
      const asked = request(...args);
      asked.end();
      return asked;
    };
  http.request = caught(before.http, "http:");
  https.request = caught(before.https, "https:");
  http.get = getting(http.request);
  https.get = getting(https.request);
  syncBuiltinESMExports();

  return () => {
    globalThis.fetch = before.fetch;
    Object.assign(http, { request: before.http, get: before.get });
    Object.assign(https, { request: before.https, get: before.gets });
    syncBuiltinESMExports();
  };
}

/** A pattern in which `*` stands for any text. */
function fits(pattern) {
  const parts = pattern.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".*")}$`);
}

function urlOf(first, options, scheme) {
  const url = new URL(typeof first === "string" || first instanceof URL ? first : `${options.protocol ?? scheme}//localhost`);
  const host = options.hostname ?? options.host;
  if (host) url.hostname = host.includes(":") && !host.startsWith("[") ? host.replace(/:\d+$/, "") : host;
  if (options.port) url.port = options.port;
  return options.path ? new URL(options.path, url) : url;
}

/** Headers as an object, with names in lower case; Node also takes a list of names and values, or of pairs. */
function headersOf(given = {}) {
  const flat = Array.isArray(given) ? given.flat() : undefined;
  const pairs = flat ? flat.flatMap((name, at) => (at % 2 ? [] : [[name, flat[at + 1]]])) : Object.entries(given);
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}
