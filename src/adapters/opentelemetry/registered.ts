/** Whether the program has registered a provider: asked for each event, without loading the interface. */

/** Where the interface keeps what was registered, whichever copy of it did so. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

export function isRegistered(signal: 'trace' | 'metrics'): boolean {
  const registered: unknown = Reflect.get(globalThis, REGISTERED);
  return typeof registered === 'object' && registered !== null && Reflect.get(registered, signal) !== undefined;
}
