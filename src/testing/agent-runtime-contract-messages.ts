/** What a backend says of itself, and how it takes messages while a run is active. */
import { runCase } from './agent-runtime-contract-case.ts';
import type { RunCase } from './agent-runtime-contract-case.ts';
import { TEXT, expectLife, streamed, textOf } from './agent-runtime-contract-life.ts';
import type { AgentRuntimeContractOptions } from './agent-runtime-contract-subject.ts';
import { expectSame, expectThat, told } from './expectations.ts';

const MESSAGE = 'by the way: blue';

/** Cases that hold the subject against what is declared of it. */
export function declaredCases({
  runs: declared,
  failures,
  cannot = {},
}: AgentRuntimeContractOptions): readonly RunCase[] {
  return [
    runCase('is what is declared of it', [], async ({ subject: { runtime, situations } }) => {
      expectThat(typeof runtime.id === 'string' && runtime.id !== '', 'its id', {
        expected: 'a name',
        received: runtime.id,
      });
      expectSame(runtime.runs ?? 'step', declared, 'what one run is');
      const offered = Object.entries(situations).flatMap(([situation, offer]) =>
        offer !== undefined && Object.hasOwn(cannot, situation) ? [situation] : [],
      );
      expectSame(offered, [], 'the situations that it offers though `cannot` says it cannot');
      expectSame(
        failures.length > 0,
        cannot.fails === undefined,
        'whether there are kinds of failures that it can bring about, and whether it can fail',
      );
      if (runtime.messageIntake === 'running')
        expectSame(typeof runtime.queueMessage, 'function', 'that by which an active run is given a message to read');
    }),
  ];
}

export const messageCases: readonly RunCase[] = [
  runCase('takes no message for a run that it does not know or that has ended', ['answers'], async (runs) => {
    const { runtime } = runs.subject;
    const run = runs.start(await runs.given.answers(TEXT));
    await run.result;
    const taken = await told(
      Promise.all(['nobody', run.runId].map(async (runId) => runtime.queueMessage?.(runId, MESSAGE) ?? false)),
      'whether the messages were taken',
    );
    expectSame(taken, [false, false], 'whether the messages were taken');
  }),

  runCase('takes a message while it is active, and the model reads it', ['awaitsMessage'], async (runs) => {
    const { runtime } = runs.subject;
    const run = runs.start(await runs.given.awaitsMessage(TEXT));
    await run.until(() => streamed(run.events, 'text') === TEXT, 'the text before it waits');
    const taken = told(Promise.resolve(runtime.queueMessage?.(run.runId, MESSAGE)), 'whether the message was taken');
    expectSame(await taken, true, 'whether the message was taken');
    const text = textOf((await expectLife(run, 'end')).payloads, 'text');
    expectThat(text.includes(MESSAGE), 'the answer', {
      expected: `one that holds the message ${JSON.stringify(MESSAGE)}`,
      received: text,
    });
  }),
];
