// @ts-check
/** Tells the probe, through the port it hands over, where every import leads. Runs in the loader's own thread. */

/** @type {import('node:worker_threads').MessagePort | undefined} */
let probe;

/** @param {{ port: import('node:worker_threads').MessagePort }} data */
export function initialize({ port }) {
  probe = port;
}

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, nextResolve) {
  const resolved = await nextResolve(specifier, context);
  // Posted before the import goes on, so all are there when the import is done.
  probe?.postMessage(resolved.url);
  return resolved;
}
