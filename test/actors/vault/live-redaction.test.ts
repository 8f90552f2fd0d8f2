/** What is streamed to whoever watches: without secrets, in pieces of any length, with dense numbers. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redactedListener } from '../../../src/actors/vault/live-redaction.ts';
import { NO_SECRETS } from '../../../src/actors/environment/session-secrets.ts';
import type { AgentRunEvent, AgentRunEventBody } from '../../../src/machines/run/run-output.ts';
import { secretsWith } from '../../support/vault-setup.ts';

const SECRET = 'sk-live-4242Ωß😀secret';

function events(bodies: readonly AgentRunEventBody[]): AgentRunEvent[] {
  return bodies.map((body, index) => ({ ...body, runId: 'r', seq: index + 1, ts: '2026-01-01T00:00:00.000Z' }));
}

async function heardOf(bodies: readonly AgentRunEventBody[]): Promise<readonly AgentRunEvent[]> {
  const heard: AgentRunEvent[] = [];
  const listener = redactedListener(await secretsWith({ v: { key: { value: SECRET } } }), (event) => heard.push(event));
  for (const event of events(bodies)) listener?.(event);
  return heard;
}

const END: AgentRunEventBody = { stream: 'lifecycle', data: { phase: 'end' } };

describe('what a run streams', () => {
  it('says the same but for the secret, wherever its pieces begin and end', async () => {
    const text = `before ${SECRET} between ${JSON.stringify(SECRET)} after sk-live`;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 12 }), { maxLength: 40 }), async (lengths) => {
        const pieces: string[] = [];
        let at = 0;
        for (const length of lengths) pieces.push(text.slice(at, (at += length)));
        pieces.push(text.slice(at));
        const heard = await heardOf([
          ...pieces.map((piece): AgentRunEventBody => ({ stream: 'assistant', data: { kind: 'text', text: piece } })),
          END,
        ]);
        const said = heard.flatMap((event) => (event.stream === 'assistant' ? [event.data.text] : [])).join('');
        expect(said).not.toContain(SECRET.slice(3));
        expect(said.replaceAll(/(?:sk-|sk|s)?\[redacted v\/key\]/g, '#')).toBe('before # between "#" after sk-live');
        expect(heard.map(({ seq }) => seq)).toEqual(heard.map((_, index) => index + 1));
        expect(heard.at(-1)).toMatchObject(END);
      }),
    );
  });

  it('tells tools and failures without it, by the ids that they have', async () => {
    const heard = await heardOf([
      { stream: 'tool', data: { phase: 'requested', callId: SECRET, name: 'run', input: { a: [SECRET] } } },
      { stream: 'tool', data: { phase: 'started', callId: 'c' } },
      { stream: 'tool', data: { phase: 'ended', callId: 'c', outcome: 'failed', output: SECRET } },
      { stream: 'lifecycle', data: { phase: 'error', error: { kind: 'unknown', message: `bad key ${SECRET}` } } },
    ]);
    expect(heard.map(({ data }) => data)).toEqual([
      { phase: 'requested', callId: SECRET, name: 'run', input: { a: ['[redacted v/key]'] } },
      { phase: 'started', callId: 'c' },
      { phase: 'ended', callId: 'c', outcome: 'failed', output: '[redacted v/key]' },
      { phase: 'error', error: { kind: 'unknown', message: 'bad key [redacted v/key]' } },
    ]);
  });

  it('goes straight to its listener where there are no secrets', () => {
    const listener = (): void => undefined;
    expect(redactedListener(NO_SECRETS, listener)).toBe(listener);
    expect(redactedListener(undefined, listener)).toBe(listener);
    expect(redactedListener(NO_SECRETS, undefined)).toBeUndefined();
  });
});
