/** A run that is stopped, or whose provider falls silent, ends soon, keeps what was said, and leaves no connection. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { answers, answersWithPause, hangs, hangsAfter } from '../../support/http-models/behaviors.ts';
import type { Behavior } from '../../support/http-models/model-server.ts';
import { APIS, EmbeddedSetup, KEY } from './embedded-setup.ts';

let clock: SimulatedClock;
let setup: EmbeddedSetup;

beforeEach(async () => {
  clock = createSimulatedClock();
  setup = await EmbeddedSetup.open({ clock });
});

afterEach(async () => {
  expect(clock.pendingTimers).toBe(0);
  await setup.close();
});

describe.each(APIS)('a run over %s', (api) => {
  it('that is stopped in mid-stream keeps what was said, without what was asked for', async () => {
    const run = setup.ask(
      api,
      hangsAfter([{ reasoning: 'Hm.' }, { text: 'So far.' }, { tool: 'read', callId: 'call_a', input: '{}' }]),
    );
    await run.told('So far.'.length);
    await setup.runtime.abort('run_1');
    expect(await run.result).toEqual({
      payloads: [
        { type: 'reasoning', text: 'Hm.' },
        { type: 'text', text: 'So far.' },
      ],
      meta: { error: { kind: 'aborted', message: 'aborted by the caller' } },
    });
    expect(await setup.server.request.ended).toBe('cut');
  });

  it('that is stopped before the provider answers is aborted with the reason that was given', async () => {
    const controller = new AbortController();
    const run = setup.ask(api, hangs, { abortSignal: controller.signal });
    await setup.server.asked(1);
    controller.abort(new Error('the user pressed Escape'));
    expect((await run.result).meta?.error).toEqual({ kind: 'aborted', message: 'the user pressed Escape' });
    expect(await setup.server.request.ended).toBe('cut');
  });

  it('whose provider says nothing for too long has timed out', async () => {
    const run = setup.ask(api, hangs, { settings: { idleTimeoutMs: 60_000 } });
    await setup.server.asked(1);
    await clock.advance(59_000);
    expect(setup.runtime.isRunActive('run_1')).toBe(true);
    await clock.advance(1_000);
    expect((await run.result).meta?.error).toEqual({
      kind: 'timeout',
      message: 'the provider "fixture" said nothing for 60000 ms',
    });
    expect(await setup.server.request.ended).toBe('cut');
  });

  it('whose provider falls silent has timed out, counted from the last byte, and keeps what was said', async () => {
    const run = setup.ask(api, hangsAfter([{ text: 'So far.' }]), { settings: { idleTimeoutMs: 60_000 } });
    await clock.advance(50_000);
    await run.told('So far.'.length);
    await clock.advance(59_000);
    expect(setup.runtime.isRunActive('run_1')).toBe(true);
    await clock.advance(2_000);
    expect(await run.result).toMatchObject({
      payloads: [{ type: 'text', text: 'So far.' }],
      meta: { error: { kind: 'timeout' } },
    });
    expect(await setup.server.request.ended).toBe('cut');
  });

  it.each([
    ['comments', ': still here\n\n', 60_000],
    ['pings', 'event: ping\ndata: {"type": "ping"}\n\n', 600_000],
  ])('whose provider sends nothing but %s has timed out in the end', async (_, sign, limitMs) => {
    let send = (): void => undefined;
    const signs: Behavior = ({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      send = () => void response.write(sign);
    };
    const run = setup.ask(api, signs, { settings: { idleTimeoutMs: 60_000 } });
    let error: unknown;
    void run.result.then(({ meta }) => (error = meta?.error));
    await setup.server.asked(1);
    await settle();
    for (let waitedMs = 0; waitedMs < limitMs + 60_000 && error === undefined; waitedMs += 20_000) {
      // The last of them may still be counted for one limit more.
      if (waitedMs < limitMs) expect(setup.runtime.isRunActive('run_1')).toBe(true);
      send();
      await settle();
      await clock.advance(20_000);
    }
    expect((await run.result).meta?.error).toEqual({
      kind: 'timeout',
      message: 'the provider "fixture" said nothing for 60000 ms',
    });
  });

  it('is complete though the connection stays open after the end of the answer', async () => {
    const staysOpen: Behavior = ({ protocol, request, response }) => {
      const said = [{ text: 'Done.' }] as const;
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(
        [...protocol.opening(request.model), ...protocol.saying(said[0], 0), ...protocol.closing({}, said)].join(''),
      );
    };
    const run = setup.ask(api, staysOpen, { settings: { idleTimeoutMs: 60_000 } });
    await run.told('Done.'.length);
    await clock.advance(61_000);
    const { payloads } = await run.result;
    expect(payloads).toEqual([{ type: 'text', text: 'Done.' }]);
    expect(await setup.server.request.ended).toBe('cut');
  });

  it('uses the connections of the runs before it', async () => {
    for (let step = 0; step < 10; step += 1) await setup.ask(api, answers([{ text: 'Yes.' }])).result;
    // Two take turns: one is not free yet at the moment at which its answer has been read.
    expect(setup.server.accepted).toBeLessThan(5);
  });

  it('tells nobody the key that a model repeats, however it is torn', async () => {
    const pieces = [`It is ${KEY.slice(0, 2)}`, KEY.slice(2, 9), `${KEY.slice(9)}.`, ` Again: ${KEY}`];
    const run = setup.ask(
      api,
      answers([
        { reasoning: pieces },
        { text: pieces },
        { tool: 'note', callId: 'call_a', input: JSON.stringify({ key: KEY, [KEY]: [KEY] }) },
      ]),
    );
    const { payloads } = await run.result;
    expect(JSON.stringify([payloads, run.events])).not.toContain(KEY.slice(3));
    expect(run.text).toBe('It is [redacted]. Again: [redacted]');
    expect(payloads.at(-1)).toMatchObject({ input: { key: '[redacted]', '[redacted]': ['[redacted]'] } });
  });

  it('goes on when the caller aborts only after the end', async () => {
    const controller = new AbortController();
    let release = (): void => undefined;
    const run = setup.ask(
      api,
      answersWithPause([{ text: 'One.' }], new Promise<void>((resolve) => (release = resolve)), [{ text: 'Two.' }]),
      { abortSignal: controller.signal },
    );
    await run.told(4);
    release();
    await run.result;
    controller.abort();
    expect(run.text).toBe('One.Two.');
    expect(setup.runtime.isRunActive('run_1')).toBe(false);
  });
});

/** Bytes of a real connection take a moment that no clock knows of. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
