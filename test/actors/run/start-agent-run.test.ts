import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { AgentRunParams, AgentRunResult, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { RunEvents } from '../../../src/actors/run/run-events.ts';
import { startAgentRun } from '../../../src/actors/run/start-agent-run.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';
import { unhandledDuring } from '../../support/unhandled.ts';

const clock = createSimulatedClock();
const params: AgentRunParams = {
  runId: 'r',
  sessionId: 's',
  provider: 'p',
  model: 'm',
  config: {},
  workspaceDir: '/',
  agentDir: '/',
  modelStepsTaken: 0,
  prompt: 'hi',
};

/** A backend that streams one text between start and end, when it is told to. */
function talker(until: Promise<void> = Promise.resolve()): AgentRuntime {
  return {
    id: 'talker',
    async run({ runId, onEvent }) {
      const events = new RunEvents({ runId, clock, onEvent });
      events.emit({ stream: 'lifecycle', data: { phase: 'start', provider: 'p', model: 'm' } });
      await until;
      events.emit({ stream: 'assistant', data: { kind: 'text', text: 'hello' } });
      events.emit({ stream: 'lifecycle', data: { phase: 'end' } });
      events.emit({ stream: 'lifecycle', data: { phase: 'end' } });
      return { payloads: [{ type: 'text', text: 'hello' }] };
    },
    abort: async () => undefined,
    isRunActive: () => false,
  };
}
const seqs = (events: readonly AgentRunEvent[]): number[] => events.map(({ seq }) => seq);

describe('a run', () => {
  it('streams the same events to its listener, its stream and its iterator, also to those who come late', async () => {
    const heard: AgentRunEvent[] = [];
    const run = startAgentRun(
      talker(),
      { ...params, onEvent: (event) => heard.push(event) },
      { onListenerError: () => undefined },
    );
    const iterated: AgentRunEvent[] = [];
    for await (const event of run) iterated.push(event);
    await run.result;
    const streamed: AgentRunEvent[] = [];
    run.events$.subscribe((event) => streamed.push(event));
    expect(seqs(heard)).toEqual([1, 2, 3]);
    expect(iterated).toEqual(heard);
    expect(streamed).toEqual(heard);
  });

  it('hands its iterator each event as it comes, and can be left early', async () => {
    let go: () => void = () => undefined;
    const run = startAgentRun(
      talker(
        new Promise((resolve) => {
          go = resolve;
        }),
      ),
      params,
      { onListenerError: () => undefined },
    );
    for await (const event of run) {
      if (event.seq === 1) go();
      if (event.seq === 2) break;
    }
    expect((await run.result).payloads).toHaveLength(1);
  });

  it('is not hurt by listeners that throw', async () => {
    const reported: unknown[] = [];
    const throwing = (): never => {
      throw new Error('listener');
    };
    const unhandled = await unhandledDuring(async () => {
      const run = startAgentRun(
        talker(),
        { ...params, onEvent: throwing },
        { onListenerError: (error) => reported.push(error) },
      );
      run.events$.subscribe(throwing);
      expect((await run.result).payloads).toHaveLength(1);
    });
    expect(unhandled).toEqual([]);
    expect(reported).toHaveLength(6);
  });

  it.each<[string, AgentRuntime['run']]>([
    [
      'throws',
      () => {
        throw new Error('boom');
      },
    ],
    ['rejects', () => Promise.reject(new Error('boom'))],
  ])('of a backend that %s has failed, and says which backend', async (_how, runIt) => {
    const run = startAgentRun({ ...talker(), run: runIt }, params, { onListenerError: () => undefined });
    expect(await run.result).toEqual({
      payloads: [],
      meta: { error: { kind: 'unknown', message: 'the backend "talker" threw: boom' }, modelSteps: 0 },
    });
  });

  const cyclic: Record<string, unknown> = {};
  cyclic['itself'] = cyclic;
  it.each<[string, unknown, RegExp]>([
    ['nothing', undefined, /expected object, received undefined$/],
    ['an empty object', {}, /payloads: expected array, received undefined$/],
    ['a payload that is null', { payloads: [null] }, /payloads\[0\]: expected object, received null$/],
    ['a payload of no known type', { payloads: [{ type: 'smell' }] }, /payloads\[0\]/],
    [
      'a text that is none',
      { payloads: [{ type: 'text', text: 5 }] },
      /payloads\[0\]\.text: expected string, received number$/,
    ],
    [
      'a tool input that cannot be stored',
      { payloads: [{ type: 'tool_call', callId: 'c', name: 't', input: cyclic }] },
      /payloads\[0\]\.input: expected a JSON value$/,
    ],
    [
      'a failure of no known kind',
      { payloads: [], meta: { error: { kind: 'mood', message: 'no' } } },
      /meta\.error\.kind/,
    ],
    ['half a step', { payloads: [], meta: { modelSteps: 0.5 } }, /meta\.modelSteps/],
    ['usage that is no number', { payloads: [], usage: { inputTokens: Number.NaN } }, /usage\.inputTokens/],
  ])(
    'of a backend that resolves with %s has failed, and says which backend and what was expected',
    async (_what, result, pattern) => {
      const { payloads, meta } = await startAgentRun(
        { ...talker(), run: async () => result as AgentRunResult },
        params,
        { onListenerError: () => undefined },
      ).result;
      expect([payloads, meta?.modelSteps, meta?.error?.kind]).toEqual([[], 0, 'unknown']);
      expect(meta?.error?.message).toMatch(/^the backend "talker" returned what is no result of a run: /);
      expect(meta?.error?.message).toMatch(pattern);
    },
  );

  it('yields every part of a result as it came', async () => {
    const result: AgentRunResult = {
      payloads: [
        { type: 'reasoning', text: 'hm' },
        { type: 'tool_call', callId: 'c', name: 't', input: { deep: [1, null] } },
        { type: 'tool_call', callId: 'd', name: 't', input: undefined },
        { type: 'directive', directive: { any: 'thing' } },
      ],
      usage: { inputTokens: 1, cost: 0.5 },
      meta: {
        error: { kind: 'overloaded', message: 'busy', retryAfterMs: 10 },
        sessionId: 's',
        compacted: true,
        fallbackProvider: 'p',
        fallbackModel: 'm',
        modelSteps: 2,
      },
    };
    expect(
      await startAgentRun({ ...talker(), run: async () => result }, params, { onListenerError: () => undefined })
        .result,
    ).toEqual(result);
  });
});
