/** Copies of what strangers hand in: theirs to change, ours to keep. */
import { messageOf } from './errors.ts';

/**
 * A deeply frozen copy. What cannot be copied (a function, a handle) becomes a note that says so: losing it must not
 * cost the rest.
 */
export function plainCopy(value: unknown): unknown {
  try {
    return deepFrozen(structuredClone(value));
  } catch (error) {
    return Object.freeze({ notPlainData: messageOf(error) });
  }
}

/** `value` with everything below it frozen. Parts that are frozen already are taken to be frozen all the way down. */
export function deepFrozen<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFrozen(inner);
  return value;
}
