/** How a backend that keeps sessions of its own goes on with one, and what it does when that is gone. */
import type { AgentRunResult } from '../actors/run/agent-runtime.ts';
import { runCase } from './agent-runtime-contract-case.ts';
import type { RunCase } from './agent-runtime-contract-case.ts';
import { TEXT, expectLife, textOf } from './agent-runtime-contract-life.ts';
import { said } from './agent-runtime-contract-runs.ts';
import type { RunsOfCase } from './agent-runtime-contract-runs.ts';
import type { RunSetting } from './agent-runtime-contract-subject.ts';
import { expectSame, expectThat } from './expectations.ts';

const BEFORE = 'what was said at first';
const SINCE = 'what came since';

/** A conversation of which the session has seen everything but the last message. */
const CONVERSATION = [
  said(BEFORE),
  { role: 'assistant', content: [{ type: 'text', text: TEXT }] } as const,
  said(SINCE),
] as const;

async function firstSession(runs: RunsOfCase, change: Partial<RunSetting>): Promise<string> {
  const { meta } = await runs.start(change, { messages: CONVERSATION.slice(0, 1) }).result;
  const sessionId = meta?.sessionId;
  expectThat(typeof sessionId === 'string' && sessionId !== '', 'the session that a run names', {
    expected: 'an id by which it can be resumed',
    received: sessionId,
  });
  return String(sessionId);
}

async function resume(runs: RunsOfCase, change: Partial<RunSetting>, sessionId: string): Promise<AgentRunResult> {
  const run = runs.start(change, {
    messages: CONVERSATION,
    resume: { sessionId, generation: 1, newMessages: CONVERSATION.slice(2) },
  });
  const result = await expectLife(run, 'end');
  expectSame(
    [textOf(result.payloads, 'text'), result.meta?.error],
    [TEXT, undefined],
    'the text of the payloads, and the failure',
  );
  return result;
}

export const sessionCases: readonly RunCase[] = [
  runCase('resumed, gives the model only what came since', ['answers', 'heard', 'losesSession'], async (runs) => {
    const change = await runs.given.answers(TEXT);
    const sessionId = await firstSession(runs, change);
    const { meta } = await resume(runs, change, sessionId);
    expectSame(meta?.reseeded, undefined, 'why it began a new session');
    expectThat(typeof meta?.sessionId === 'string' && meta.sessionId !== '', 'the session that it names', {
      expected: 'an id by which it can be resumed again',
      received: meta?.sessionId,
    });
    const heard = await runs.given.heard();
    expectSame(
      [heard.includes(BEFORE), heard.includes(SINCE)],
      [false, true],
      `whether the model was given what was said before and what came since, in ${JSON.stringify(heard)}`,
    );
  }),

  runCase(
    'whose session is gone, begins a new one with the whole conversation, and says so',
    ['answers', 'heard', 'losesSession'],
    async (runs) => {
      const change = await runs.given.answers(TEXT);
      const sessionId = await firstSession(runs, change);
      await runs.given.losesSession(sessionId);
      const { meta } = await resume(runs, change, sessionId);
      expectThat((meta?.reseeded ?? '').trim() !== '', 'why it began a new session', {
        expected: 'a sentence',
        received: meta?.reseeded,
      });
      expectThat(meta?.sessionId !== undefined && meta.sessionId !== sessionId, 'the session that it names', {
        expected: `another than ${sessionId}`,
        received: meta?.sessionId,
      });
      const heard = await runs.given.heard();
      expectSame(
        [heard.includes(BEFORE), heard.includes(SINCE)],
        [true, true],
        `whether the model was given what was said before and what came since, in ${JSON.stringify(heard)}`,
      );
      expectSame(await runs.subject.leftBehind(), [], 'what is left');
    },
  ),
];
