import { createActor, fromPromise, toPromise } from 'xstate';
import { describe, expect, it } from 'vitest';
import { toolCallMachine } from '../../../src/machines/turn/tool-call-machine.ts';
import type { ToolCallInput, ToolCallResult } from '../../../src/machines/turn/tool-call-machine.ts';

const INPUT: ToolCallInput = { callId: 'c', name: 't', input: {} };
const executing = (execute: () => Promise<ToolCallResult>): ReturnType<typeof createActor<typeof toolCallMachine>> =>
  createActor(toolCallMachine.provide({ actors: { execute: fromPromise<ToolCallResult, ToolCallInput>(execute) } }), {
    input: INPUT,
  }).start();

describe('a tool call', () => {
  it.each(['completed', 'failed', 'cancelled'] as const)('ends as %s when its execution says so', async (outcome) => {
    const actor = executing(async () => ({ outcome, output: 'x' }));
    expect(actor.getSnapshot().value).toBe('requested');
    actor.send({ type: 'RUN' });
    expect(actor.getSnapshot().value).toEqual({ executing: 'working' });
    expect(await toPromise(actor)).toEqual({ outcome, output: 'x' });
    expect(actor.getSnapshot().value).toBe(outcome);
  });

  it('that is cancelled before it runs never runs', async () => {
    let ran = false;
    const actor = executing(async () => {
      ran = true;
      return { outcome: 'completed', output: '' };
    });
    actor.send({ type: 'CANCEL', reason: 'enough' });
    expect(await toPromise(actor)).toEqual({ outcome: 'cancelled', output: 'enough' });
    expect(ran).toBe(false);
  });

  it('that is cancelled while it runs ends when the execution does', async () => {
    let end: (result: ToolCallResult) => void = () => undefined;
    const actor = executing(
      () =>
        new Promise((resolve) => {
          end = resolve;
        }),
    );
    actor.send({ type: 'RUN' });
    actor.send({ type: 'CANCEL', reason: 'enough' });
    expect(actor.getSnapshot().value).toEqual({ executing: 'stopping' });
    end({ outcome: 'cancelled', output: 'stopped' });
    expect(await toPromise(actor)).toEqual({ outcome: 'cancelled', output: 'stopped' });
  });

  it('whose execution throws has failed', async () => {
    const actor = executing(() => Promise.reject(new Error('boom')));
    actor.send({ type: 'RUN' });
    expect(await toPromise(actor)).toEqual({ outcome: 'failed', output: 'boom' });
  });
});
