/** Tools that somebody outside runs: the call waits for the result to be sent, which is checked and counts once. */
import { afterEach, describe, expect, it } from 'vitest';
import type { ToolAttachmentInput } from '../../../src/machines/agent/tool-attachment.ts';
import { MAX_TOOL_RESULT_CHARACTERS } from '../../../src/machines/session/limits.ts';
import type { OutputStore } from '../../../src/actors/turn/output-store.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup, TurnSetupOptions } from '../../support/turn-setup.ts';

let setup: TurnSetup;
let id: string;
afterEach(() => setup[Symbol.asyncDispose]());

const DEPLOY = {
  custom: 'deploy',
  description: 'Deploys.',
  input: { type: 'object' as const, properties: { to: { type: 'string' } }, required: ['to'] },
} satisfies ToolAttachmentInput;

async function open(
  steps: readonly Said[],
  { permission, ...options }: TurnSetupOptions & { readonly permission?: 'always_ask' } = {},
): Promise<void> {
  setup = await openTurnSetup(options);
  await setup.agent('worker', steps, { tools: [{ ...DEPLOY, ...(permission === undefined ? {} : { permission }) }] });
  id = await setup.start('worker');
}

const deploy = (input: unknown = { to: 'production' }): Said => ({ calls: [{ name: 'deploy', input }] });
const send = async (output: unknown, toolName = 'deploy'): Promise<unknown> => {
  const [requestId = ''] = await setup.requests(id);
  return setup.runtime.sessions.send(id, {
    type: 'user.custom_tool_result',
    requestId,
    toolName,
    output: output as string,
  });
};

describe('a tool that somebody outside runs', () => {
  it('is asked for with its input, and what is sent is the result of the call', async () => {
    await open([deploy(), { text: 'Deployed.' }]);
    expect(await setup.runtime.wake(id)).toMatchObject({
      outcome: 'requires_action',
      stopReason: 'requires_action',
      summary: 'Waits for an answer: a result of deploy',
    });
    const [use] = await setup.dataOf(id, 'agent.tool_use');
    expect(await setup.dataOf(id, 'agent.custom_tool_use')).toMatchObject([
      { name: 'deploy', input: { to: 'production' }, callId: use?.callId },
    ]);
    expect(await setup.due()).toEqual([]);
    await send({ url: 'https://example.org', ok: true });
    expect(await setup.due()).toEqual([id]);
    expect(await setup.runtime.wake(id, { isAutonomous: true })).toMatchObject({
      outcome: 'sleep',
      summary: 'Deployed.',
    });
    expect(await setup.results(id)).toEqual([
      { outcome: 'completed', output: { url: 'https://example.org', ok: true } },
    ]);
    expect(setup.asked.at(-1)?.read).toContain('https://example.org');
  });

  it('is not asked for when its input is not what its schema says', async () => {
    await open([deploy({ to: 7 }), { text: 'Sorry.' }]);
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Sorry.' });
    expect(await setup.dataOf(id, 'agent.custom_tool_use')).toEqual([]);
    expect((await setup.results(id))[0]?.outcome).toBe('failed');
  });

  it('that always asks is allowed first, then asked for; neither answer does for the other', async () => {
    await open([deploy(), { text: 'Deployed.' }], { permission: 'always_ask' });
    await setup.runtime.wake(id);
    expect(await codeOf(send('x'))).toBe('REQUEST_KIND_MISMATCH');
    await setup.confirm(id, { toolName: 'deploy' });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'requires_action' });
    expect(await codeOf(setup.confirm(id, { toolName: 'deploy' }))).toBe('REQUEST_KIND_MISMATCH');
    expect(await setup.dataOf(id, 'permission.resolved')).toMatchObject([{ decision: 'allowed' }]);
    await send('done');
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep', summary: 'Deployed.' });
    expect(await setup.state(id)).toMatchObject({ pending: [], pendingActions: [], openToolCalls: [] });
  });

  it('that is denied is never asked for', async () => {
    await open([deploy(), { text: 'A pity.' }], { permission: 'always_ask' });
    await setup.runtime.wake(id);
    await setup.confirm(id, { toolName: 'deploy', allowed: false });
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
    expect(await setup.dataOf(id, 'agent.custom_tool_use')).toEqual([]);
  });

  it('is taken back by an interruption, and the result that comes then is refused', async () => {
    await open([deploy(), { text: 'x' }]);
    await setup.runtime.wake(id);
    const [requestId = ''] = await setup.requests(id);
    await setup.runtime.sessions.interrupt(id);
    expect(
      await codeOf(
        setup.runtime.sessions.send(id, { type: 'user.custom_tool_result', requestId, toolName: 'deploy', output: 1 }),
      ),
    ).toBe('REQUEST_NOT_PENDING');
    expect((await setup.results(id))[0]?.outcome).toBe('cancelled');
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a function', () => 1],
    ['a big integer', 1n],
  ])('takes no %s for a result', async (_what, output) => {
    await open([deploy(), { text: 'x' }]);
    await setup.runtime.wake(id);
    expect(await codeOf(send(output))).toBe('SESSION_REQUEST_INVALID');
    expect(await setup.requests(id)).toHaveLength(1);
  });

  it('takes a result as deep as it comes, or refuses it in words', async () => {
    await open([deploy(), { text: 'x' }]);
    await setup.runtime.wake(id);
    let deep: unknown = 1;
    for (let level = 0; level < 20_000; level += 1) deep = [deep];
    expect(['SESSION_REQUEST_INVALID', 'it succeeded']).toContain(await codeOf(send(deep)));
    await codeOf(send('shallow'));
    expect(await setup.runtime.wake(id)).toMatchObject({ outcome: 'sleep' });
  });

  it('has a result that is too long cut, and the whole kept where the agent can read it', async () => {
    const kept: string[] = [];
    const outputs: OutputStore = {
      keep: async ({ text, callId }) => {
        kept.push(text);
        return `outputs/${callId}.txt`;
      },
    };
    await open([deploy(), { text: 'x' }], { outputs });
    await setup.runtime.wake(id);
    const whole = 'long '.repeat(MAX_TOOL_RESULT_CHARACTERS);
    await send(whole);
    await setup.runtime.wake(id);
    const [result] = await setup.dataOf(id, 'agent.tool_result');
    expect(kept).toEqual([whole]);
    expect(result?.kept).toEqual({ path: `outputs/${result?.callId}.txt`, characters: whole.length });
    expect(String(result?.output)).toContain(result?.kept?.path ?? 'no path');
  });
});
