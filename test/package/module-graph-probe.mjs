// @ts-check
/**
 * Loads a module for real and prints everything that came with it, as JSON: `{ "files": [absolute paths], "builtins":
 * [names] }`. Usage: node module-graph-probe.mjs FILE
 */
import Module, { isBuiltin } from 'node:module';
import { argv, stdout } from 'node:process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';

/** @type {Set<string>} */
const loaded = new Set();
const { port1: received, port2: port } = new MessageChannel();

/**
 * @typedef {object} CommonJsLoader
 * @property {(request: string, ...rest: unknown[]) => unknown} _load
 * @property {(request: string, ...rest: unknown[]) => string} _resolveFilename
 */

// Hooks for `import` do not see what a CommonJS package requires: on Node 20 that goes through here alone.
const commonJs = /** @type {CommonJsLoader} */ (/** @type {unknown} */ (Module));
const load = commonJs._load;
/** @type {CommonJsLoader['_load']} */
const recordAndLoad = (request, ...rest) => {
  const isPartOfNode = isBuiltin(request);
  loaded.add(
    isPartOfNode
      ? `node:${request.replace(/^node:/, '')}`
      : pathToFileURL(commonJs._resolveFilename(request, ...rest)).href,
  );
  return load.call(Module, request, ...rest);
};
commonJs._load = recordAndLoad;

Module.register('./module-graph-hooks.mjs', { parentURL: import.meta.url, data: { port }, transferList: [port] });

await import(pathToFileURL(argv[2] ?? '').href);
for (let next = receiveMessageOnPort(received); next !== undefined; next = receiveMessageOnPort(received))
  loaded.add(String(next.message));
received.close();

const urls = [...loaded].toSorted();
stdout.write(
  JSON.stringify({
    files: urls.filter((url) => url.startsWith('file:')).map((url) => fileURLToPath(url)),
    builtins: urls.filter((url) => url.startsWith('node:')),
  }),
);
