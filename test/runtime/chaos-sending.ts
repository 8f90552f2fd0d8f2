/** Sends until a store refuses, and checks whether what it had acknowledged is there. */
import { expect } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import type { Runtime } from '../../src/runtime.ts';
import type { Place } from '../support/store-under-test.ts';

/** Refusals in a row after which the disk counts as full to the brim. */
export const ENOUGH_REFUSALS = 5;

export interface Sent {
  readonly eventId: string;
  readonly text: string;
}

/** Sends until nothing goes any more. @returns what was acknowledged, and why the last one was not */
export async function sendUntilFull(runtime: Runtime, sessionId: string, size: string, sent: Sent[]): Promise<unknown> {
  let refusals = 0;
  for (let count = 0; ; count += 1) {
    const text = `message ${sent.length} ${count} ${size}`;
    try {
      const { eventId } = await runtime.sessions.send(sessionId, { type: 'user.message', text });
      sent.push({ eventId, text });
      refusals = 0;
    } catch (error) {
      refusals += 1;
      if (refusals === ENOUGH_REFUSALS) return error;
    }
  }
}

export async function expectInLogOnce(place: Place, sessionId: string, sent: readonly Sent[]): Promise<void> {
  await using reader = await createNodeRuntime({ ...place, reconcileOnStart: false });
  const texts = new Map<string, string[]>();
  for await (const event of reader.sessions.events(sessionId)) {
    if (event.type === 'user.message') texts.set(event.id, [...(texts.get(event.id) ?? []), event.data.text]);
  }
  for (const { eventId, text } of sent) expect(texts.get(eventId), `message ${eventId}`).toEqual([text]);
}
