/**
 * The stories whose logs are kept, one after another for each version: run once by that version, with the real store, then never again.
 * A later version that can do more adds stories of its own; these stay as they are.
 */
import { createIdSource } from '../../src/actors/session/id-source.ts';
import { SessionJournal } from '../../src/actors/session/session-journal.ts';
import { FileEventStore } from '../../src/adapters/files/file-event-store.ts';
import { openHouse, until } from '../support/session-house.ts';
import type { SessionHouse } from '../support/session-house.ts';

export interface Scenario {
  readonly name: string;
  /** Plays the story and answers with the session whose log is to be kept, at the moment it is to be kept. */
  play(house: SessionHouse, keep: (sessionId: string) => Promise<void>): Promise<void>;
}

export const openOnFiles = (): Promise<SessionHouse> => openHouse({ store: ({ home, clock }) => new FileEventStore({ home, clock }) });

const shell = { name: 'shell_run', input: { command: 'true' } };
const question = { name: 'ask_human', input: { question: 'Which one?', choices: ['red', 'blue'] } };

export const SCENARIOS: readonly Scenario[] = [
  {
    name: '0.2-deliveries-and-requests',
    async play(house, keep) {
      const { sessions } = house.runtime;
      const steps = [
        { text: 'Working.', reasoning: 'First the command.', toolCalls: [shell, question] },
        { text: 'Done.', usage: { inputTokens: 20, outputTokens: 10 }, directive: { outcome: 'sleep', summary: 'Done.', queuedWakes: [{ reason: 'recheck', delaySeconds: 60 }] } },
        { text: 'Slow.', toolCalls: [shell] },
      ];
      const id = await house.session(steps, { message: 'Go', agent: { permission: 'ask' } });
      await sessions.send(id, { type: 'user.define_outcome', title: 'All tests are green', criteria: ['none is skipped'] });
      await house.runtime.wake(id);
      const [permission, asked] = (await sessions.get(id)).pendingActions;
      await sessions.send(id, { type: 'user.tool_confirmation', requestId: permission?.requestId ?? '', toolName: 'shell_run', allowed: false, note: 'not today' });
      await sessions.send(id, { type: 'user.answer', requestId: asked?.requestId ?? '', response: 'blue' });
      await sessions.send(id, { type: 'user.message', text: 'Quickly' }, { delivery: 'steer', idempotencyKey: 'quickly' });
      await house.runtime.wake(id);
      await sessions.send(id, { type: 'user.message', text: 'One more' });
      await house.runtime.wake(id);
      await sessions.send(id, { type: 'user.message', text: 'Stop that' }, { delivery: 'interrupt' });
      await keep(id);
    },
  },
  {
    name: '0.2-died-after-an-interruption',
    async play(house, keep) {
      const id = await house.session([{ text: 'Working.', toolCalls: [shell, shell] }], { message: 'Go' });
      const waking = house.runtime.wake(id).catch(() => undefined);
      await until(() => house.processes.works.length === 2);
      // Its process cannot write any more; somebody else interrupts it.
      await house.store.close();
      const { home, clock } = house;
      const store = new FileEventStore({ home, clock });
      await (await SessionJournal.open(id, { store, clock, ids: createIdSource({ clock }) })).append([{ type: 'user.interrupt', data: { reason: 'enough' } }]);
      await store.close();
      await keep(id);
      for (const work of house.processes.works) work.resolve({});
      await waking;
    },
  },
  {
    name: '0.2-parked',
    async play(house, keep) {
      const id = await house.session([{ error: { kind: 'rate_limit', message: 'slow down', retryAfterMs: 60_000 } }], { message: 'Go', script: { onEnd: 'repeat-last' } });
      for (let failures = 0; failures < 5; failures += 1) await house.runtime.wake(id);
      await keep(id);
    },
  },
  {
    name: '0.2-child',
    async play(house, keep) {
      const parentSessionId = await house.session([{ text: 'Helped.' }]);
      const { sessionId } = await house.runtime.sessions.create({ agentId: 'player', title: 'Helper', parentSessionId });
      await house.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Help' });
      await house.runtime.wake(sessionId);
      await keep(sessionId);
    },
  },
  {
    name: '0.2-parent',
    async play(house, keep) {
      const parentSessionId = await house.session([{ text: 'Helped.' }]);
      const { sessionId } = await house.runtime.sessions.create({ agentId: 'player', title: 'Helper', parentSessionId });
      await house.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Help' });
      await house.runtime.wake(sessionId);
      await keep(parentSessionId);
    },
  },
  {
    name: '0.2-fork',
    async play(house, keep) {
      const id = await house.session([{ text: 'Asking.', toolCalls: [question] }], { message: 'Go' });
      await house.runtime.wake(id);
      await keep((await house.runtime.sessions.fork(id, { title: 'Another way' })).sessionId);
    },
  },
];
