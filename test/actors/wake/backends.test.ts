/**
 * Wakes whose backend runs tools of its own: what it does is in the log as it comes, and nothing is done that is not
 * allowed there.
 */
import { afterEach, describe, expect, it } from 'vitest';
import type { RunPermissionAnswer } from '../../../src/actors/run/agent-runtime.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import {
  answered,
  ask,
  ends,
  openAskingBackend,
  openBackendSetup,
  requests,
  starts,
} from '../../support/backend-setup.ts';
import type { BackendSetup, BackendSetupOptions } from '../../support/backend-setup.ts';
import { until } from '../../support/session-setup.ts';
import type { Act } from '../../support/told-runtime.ts';

let open: BackendSetup;
let ran: string[];
let answers: RunPermissionAnswer[];
afterEach(() => open.setup[Symbol.asyncDispose]());

async function stage(acts: readonly Act[], options?: BackendSetupOptions): Promise<void> {
  open = await openBackendSetup(acts, options);
}

async function stageAsking(...wanted: Parameters<typeof openAskingBackend>): Promise<void> {
  ({ open, ran, answers } = await openAskingBackend(...wanted));
}

const TELLS = {
  requests,
  starts,
  ends,
  nameless: (tell: Parameters<typeof requests>[0], id: string) => requests(tell, id, ''),
};

/** Tells these, and answers. */
function does(...steps: readonly (readonly [keyof typeof TELLS, string])[]): Act {
  return (_params, tell) => {
    for (const [step, id] of steps) TELLS[step](tell, id);
    return answered('x');
  };
}

describe('tools of a backend', () => {
  it("are in the log as they come, in order, and are nobody else's to run", async () => {
    await stage([
      (_params, tell) => {
        requests(tell, '1');
        starts(tell, '1');
        requests(tell, '2', 'Read', { path: 'a' });
        ends(tell, '2', 'two');
        ends(tell, '1', 'one', 'failed');
        return answered('Done.');
      },
    ]);
    expect(await open.wake()).toMatchObject({ outcome: 'sleep', summary: 'Done.', modelSteps: 1 });
    expect(await open.story()).toEqual([
      'use Bash by backend',
      'started',
      'use Read by backend',
      'completed',
      'failed',
      'says Done.',
    ]);
    expect(await open.setup.results(open.id)).toEqual([
      { outcome: 'completed', output: 'two' },
      { outcome: 'failed', output: 'one' },
    ]);
    expect(await open.setup.state(open.id)).toMatchObject({
      openToolCalls: [],
      openSpanId: undefined,
      unansweredResults: 0,
    });
  });

  it('stand after what the model said before them, and nothing is said twice', async () => {
    const says = (tell: Parameters<Act>[1], text: string): void =>
      tell({ stream: 'assistant', data: { kind: 'text', text } });
    await stage([
      (_params, tell) => {
        says(tell, 'I check ');
        says(tell, 'first.');
        requests(tell, '1');
        ends(tell, '1');
        says(tell, 'All is well.');
        return {
          payloads: [
            { type: 'text', text: 'I check first.' },
            { type: 'text', text: 'All is well.' },
          ],
          meta: { modelSteps: 1 },
        };
      },
    ]);
    expect(await open.wake()).toMatchObject({ outcome: 'sleep', summary: 'All is well.' });
    expect(await open.story()).toEqual([
      'says I check first.',
      'use Bash by backend',
      'completed',
      'says All is well.',
    ]);
  });

  it('are in the log before the backend goes on, as far as it lets the log keep up', async () => {
    let during: string[] = [];
    await stage([
      async (_params, tell) => {
        requests(tell, '1');
        await until(async () => (await open.story()).length === 1);
        during = await open.story();
        ends(tell, '1');
        return answered('Done.');
      },
    ]);
    await open.wake();
    expect(during).toEqual(['use Bash by backend']);
  });

  it.each<[string, Act, string[]]>([
    [
      'without an end are closed as unknown',
      does(['requests', '1'], ['starts', '1']),
      ['use Bash by backend', 'started', 'unknown', 'says x'],
    ],
    ['that end without a beginning are nothing', does(['ends', 'nobody'], ['starts', 'nobody']), ['says x']],
    [
      'told twice while they are open are one call',
      does(['requests', '1'], ['requests', '1'], ['ends', '1'], ['ends', '1']),
      ['use Bash by backend', 'completed', 'says x'],
    ],
    [
      'told again under an id whose call has ended are another call',
      does(['requests', '1'], ['ends', '1'], ['requests', '1'], ['ends', '1']),
      ['use Bash by backend', 'completed', 'use Bash by backend', 'completed', 'says x'],
    ],
    [
      'without a name have one',
      does(['nameless', '1'], ['ends', '1']),
      ['use unnamed by backend', 'completed', 'says x'],
    ],
  ])('%s', async (_what, act, expected) => {
    await stage([act]);
    expect(await open.wake()).toMatchObject({ outcome: 'sleep' });
    expect(await open.story()).toEqual(expected);
  });

  it('may be given what no JSON can hold, and as much as they like', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    await stage([
      (_params, tell) => {
        requests(tell, '1', 'Odd', circular);
        ends(tell, '1', 10n);
        requests(tell, '2', 'Long'.repeat(100), { text: 'x'.repeat(300_000) });
        ends(tell, '2', 'y'.repeat(300_000));
        return answered('x');
      },
    ]);
    expect(await open.wake()).toMatchObject({ outcome: 'sleep' });
    const uses = await open.setup.dataOf(open.id, 'agent.tool_use');
    expect(uses[0]).toMatchObject({ input: '[object that is no JSON]' });
    expect([uses[1]?.name.length, JSON.stringify(uses[1]?.input).length < 201_000]).toEqual([200, true]);
    const [odd, long] = await open.setup.results(open.id);
    expect([odd?.output, String(long?.output).length]).toEqual(['[bigint that is no JSON]', 30_000]);
  });

  it('are not heard of after the step: what comes late opens nothing', async () => {
    let late = (): void => undefined;
    let lateAnswer: Promise<RunPermissionAnswer> | undefined;
    await stage([
      (params, tell) => {
        late = () => {
          requests(tell, 'late');
          lateAnswer = ask(params, { callId: 'later', name: 'Bash', input: {} });
        };
        return answered('x');
      },
    ]);
    await open.wake();
    const before = await open.story();
    late();
    expect(await lateAnswer).toMatchObject({ decision: 'deny' });
    expect(await open.story()).toEqual(before);
    expect(await open.setup.state(open.id)).toMatchObject({ openToolCalls: [], status: 'idle' });
  });
});

describe('a log that cannot be written', () => {
  it('stops the backend at once, and the wake fails with what the store says', async () => {
    const store = new HookedStore();
    let wasStopped = false;
    await stage(
      [
        async ({ abortSignal }, tell) => {
          requests(tell, '1');
          await new Promise<void>((resolve) => abortSignal?.addEventListener('abort', () => resolve(), { once: true }));
          wasStopped = true;
          return { payloads: [], meta: { error: { kind: 'aborted', message: 'stopped' } } };
        },
      ],
      { store },
    );
    store.before('agent.tool_use', () => Promise.reject(new Error('disk full')));
    const { outcome, error } = (await open.wake()) as { outcome: string; error?: { code: string } };
    expect([wasStopped, outcome, error?.code]).toEqual([true, 'failed', 'BACKEND_CALL_LOST']);
  });

  it.each(['permission.requested', 'permission.resolved', 'agent.tool_started'] as const)(
    'at %s lets nothing run',
    async (type) => {
      const store = new HookedStore();
      await stageAsking({}, { store });
      store.before(type, () => Promise.reject(new Error('disk full')));
      const waking = open.wake();
      await until(async () => answers.length > 0 || (await open.isAsked()));
      if (answers.length === 0) await open.confirm();
      await waking;
      expect([ran, answers]).toMatchObject([[], [{ decision: 'deny' }]]);
    },
  );
});
