/** Which runs are active, and how several get along. */
import { runCase } from './agent-runtime-contract-case.ts';
import type { RunCase } from './agent-runtime-contract-case.ts';
import { TEXT, expectLife, expectNumbered, streamed, textOf } from './agent-runtime-contract-life.ts';
import { expectSame, expectThat } from './expectations.ts';

const wholeTexts: readonly RunCase[] = [
  runCase('is active from the call on until it has ended, and not before or afterwards', ['answers'], async (runs) => {
    const { runtime } = runs.subject;
    const change = await runs.given.answers(TEXT);
    expectSame(runtime.isRunActive('run_1'), false, 'whether it is active before the call');
    const seen = new Set<boolean>();
    const run = runs.start(change, { onEvent: () => seen.add(runtime.isRunActive('run_1')) });
    expectSame(runtime.isRunActive('run_1'), true, 'whether it is active right after the call');
    await run.result;
    expectSame(runtime.isRunActive('run_1'), false, 'whether it is active when it has resolved');
    expectSame([...seen], [true], 'whether it is active while it tells something');
  }),

  runCase('runs two at once, and mixes nothing up', ['answers'], async (runs) => {
    const changes = [await runs.given.answers('the answer of one'), await runs.given.answers('the reply of two')];
    const started = changes.map((change) => runs.start(change));
    for (const [index, run] of started.entries()) {
      const text = ['the answer of one', 'the reply of two'][index];
      const { payloads } = await expectLife(run, 'end');
      expectSame(
        [textOf(payloads, 'text'), streamed(run.events, 'text')],
        [text, text],
        `the text of run ${index + 1}, and what it streamed`,
      );
      expectNumbered(run);
    }
  }),

  runCase('takes the id of a run that has ended for another', ['answers'], async (runs) => {
    const change = await runs.given.answers(TEXT);
    for (const _ of [1, 2]) {
      const run = runs.start(change, { runId: 'again' });
      expectSame(textOf((await expectLife(run, 'end')).payloads, 'text'), TEXT, 'the text of the payloads');
      expectNumbered(run);
    }
  }),
];

export const togetherCases: readonly RunCase[] = [
  ...wholeTexts,

  runCase('stops one of two, and leaves the other alone', ['hangsAfter'], async (runs) => {
    const { runtime } = runs.subject;
    const one = runs.start(await runs.given.hangsAfter('one says this'));
    const other = runs.start(await runs.given.hangsAfter('the other says that'));
    await one.until(() => streamed(one.events, 'text') !== '', 'what one says');
    await other.until(() => streamed(other.events, 'text') !== '', 'what the other says');
    await runs.stop(one.runId);
    await expectLife(one, 'aborted');
    expectSame(
      [runtime.isRunActive(one.runId), runtime.isRunActive(other.runId)],
      [false, true],
      'which of them is active',
    );
    await runs.stop(other.runId);
    await expectLife(other, 'aborted');
  }),

  runCase(
    'refuses the id of an active run as a failure of coordination, and the active one goes on',
    ['hangs'],
    async (runs) => {
      const { runtime } = runs.subject;
      const change = await runs.given.hangs();
      const first = runs.start(change, { runId: 'mine' });
      const second = runs.start(change, { runId: 'mine' });
      const refusal = await expectLife(second, 'error');
      expectSame(refusal.meta?.error?.kind, 'coordination', 'the kind of the failure');
      expectThat(refusal.meta?.error?.message.includes('mine') === true, 'what the failure says', {
        expected: 'it to name the run',
        received: refusal.meta?.error?.message,
      });
      expectSame(runtime.isRunActive('mine'), true, 'whether the first is still active');
      await runs.stop('mine');
      await expectLife(first, 'aborted');
      expectNumbered(first);
    },
  ),
];
