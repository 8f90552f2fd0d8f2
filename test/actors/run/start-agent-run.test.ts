import { describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { AgentRunParams, AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { RunEvents } from '../../../src/actors/run/run-events.ts';
import { startAgentRun } from '../../../src/actors/run/start-agent-run.ts';
import type { AgentRunEvent } from '../../../src/machines/run/run-output.ts';
import { unhandledDuring } from '../../support/unhandled.ts';

const clock = createSimulatedClock();
const params: AgentRunParams = { runId: 'r', sessionId: 's', provider: 'p', model: 'm', config: {}, workspaceDir: '/', agentDir: '/', modelStepsTaken: 0, prompt: 'hi' };

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
    const run = startAgentRun(talker(), { ...params, onEvent: (event) => heard.push(event) }, { onListenerError: () => undefined });
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
    const run = startAgentRun(talker(new Promise((resolve) => { go = resolve; })), params, { onListenerError: () => undefined });
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
      const run = startAgentRun(talker(), { ...params, onEvent: throwing }, { onListenerError: (error) => reported.push(error) });
      run.events$.subscribe(throwing);
      expect((await run.result).payloads).toHaveLength(1);
    });
    expect(unhandled).toEqual([]);
    expect(reported).toHaveLength(6);
  });

  it.each<[string, AgentRuntime['run']]>([
    ['throws', () => { throw new Error('boom'); }],
    ['rejects', () => Promise.reject(new Error('boom'))],
  ])('of a backend that %s has failed, and says which backend', async (_how, runIt) => {
    const run = startAgentRun({ ...talker(), run: runIt }, params, { onListenerError: () => undefined });
    expect(await run.result).toEqual({ payloads: [], meta: { error: { kind: 'unknown', message: 'the backend "talker" threw: boom' }, modelSteps: 0 } });
  });
});
