import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { AgentState } from '../../../src/machines/turn/agent-state.ts';
import { openSetup, until } from '../../support/session-setup.ts';
import type { SessionSetup } from '../../support/session-setup.ts';

let setup: SessionSetup;

afterEach(() => setup.close());

const script = (steps: readonly object[]): string => JSON.stringify({ format: 'wakechart-script/1', steps });

describe('the events of a run', () => {
  it('hold those of the agents that work for it, each once and in order, and fold to the state of all of them', async () => {
    setup = await openSetup();
    const { agents, sessions } = setup.runtime;
    for (const [agentId, tools, steps] of [
      [
        'lead',
        [{ agent: 'helper' }],
        [{ toolCalls: [{ name: 'helper', input: { message: 'Help.' } }] }, { text: 'Done.' }],
      ],
      ['helper', [], [{ text: 'Helped.' }]],
    ] as const) {
      await agents.create({
        agentId,
        source: {
          frontmatter: { name: agentId, provider: 'script', model: 'play.json', tools: [...tools] },
          instructions: '',
        },
      });
      await writeFile(join(setup.home, 'agents', agentId, 'play.json'), script(steps));
    }
    const { sessionId } = await sessions.create({ agentId: 'lead' });
    const heard: SessionEvent[] = [];
    const state = new AgentState({ sessionId, agentId: 'lead' });
    const subscription = sessions.runEvents$(sessionId).subscribe((event) => {
      heard.push(event);
      state.ingest(event);
    });
    await sessions.send(sessionId, { type: 'user.message', text: 'Go' });
    expect(await setup.runtime.wake(sessionId)).toMatchObject({ outcome: 'sleep', summary: 'Done.' });
    const [child] = (await sessions.list()).filter(({ parent }) => parent !== undefined);
    const { head } = await sessions.get(sessionId);
    await setup.clock.advance(100);
    const seqsOf = (id: string | undefined): number[] =>
      heard.flatMap((event) => (event.sessionId === id ? [event.seq] : []));
    await until(() => seqsOf(sessionId).length === head && seqsOf(child?.sessionId).length === child?.head);
    expect(seqsOf(sessionId)).toEqual(Array.from({ length: head }, (_, index) => index + 1));
    expect(
      [...state.subflows.values()].map(({ runId, lastAssistantMessage }) => [runId, lastAssistantMessage?.content]),
    ).toEqual([[child?.sessionId, [{ type: 'text', text: 'Helped.' }]]]);
    subscription.unsubscribe();
  });
});
