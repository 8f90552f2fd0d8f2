/** How a run is stopped: soon, once, with what it has said, and with nothing left. */
import { runCase } from './agent-runtime-contract-case.ts';
import type { RunCase } from './agent-runtime-contract-case.ts';
import {
  TEXT,
  expectLife,
  expectNumbered,
  expectPlain,
  settled,
  streamed,
  textOf,
} from './agent-runtime-contract-life.ts';
import type { RunsOfCase, StartedRun } from './agent-runtime-contract-runs.ts';
import type { RunSetting } from './agent-runtime-contract-subject.ts';
import { expectSame } from './expectations.ts';

/** The two ways to stop a run. */
const WAYS = ['its signal', 'its id'] as const;

interface StoppableRun extends StartedRun {
  stop(): Promise<void>;
}

function startStoppable(runs: RunsOfCase, change: Partial<RunSetting>, way: (typeof WAYS)[number]): StoppableRun {
  const controller = new AbortController();
  const run = runs.start(change, { abortSignal: controller.signal });
  const stop = async (): Promise<void> => {
    if (way === 'its signal') controller.abort('stopped by the contract');
    else await runs.stop(run.runId);
  };
  return { ...run, stop };
}

async function expectStopped(runs: RunsOfCase, run: StartedRun, text: string): Promise<void> {
  const result = await expectLife(run, 'aborted');
  expectSame(result.meta?.error?.kind, 'aborted', 'the kind of the failure');
  expectSame(
    [textOf(result.payloads, 'text'), streamed(run.events, 'text')],
    [text, text],
    'the text that is kept, and the text that was streamed',
  );
  expectNumbered(run);
  expectPlain(result, run.events);
  expectSame(runs.subject.runtime.isRunActive(run.runId), false, 'whether it is active');
  expectSame(await runs.subject.leftBehind(), [], 'what is left');
}

const isText =
  (text: string) =>
  ({ events }: StartedRun) =>
  (): boolean =>
    streamed(events, 'text') === text;

const byEitherWay: readonly RunCase[] = WAYS.flatMap((way) => [
  runCase(`stopped by ${way} right after the call, is aborted and leaves nothing behind`, ['hangs'], async (runs) => {
    const run = startStoppable(runs, await runs.given.hangs(), way);
    await run.stop();
    await expectStopped(runs, run, '');
  }),

  runCase(
    `stopped by ${way} before the model says anything, is aborted and leaves nothing behind`,
    ['hangs'],
    async (runs) => {
      const run = startStoppable(runs, await runs.given.hangs(), way);
      await run.until(({ stream }) => stream === 'lifecycle', 'its start');
      await settled();
      await run.stop();
      await expectStopped(runs, run, '');
    },
  ),

  runCase(
    `stopped by ${way} in the middle of a stream, keeps what was said and leaves nothing behind`,
    ['hangsAfter'],
    async (runs) => {
      const run = startStoppable(runs, await runs.given.hangsAfter(TEXT), way);
      await run.until(isText(TEXT)(run), 'the text before it hangs');
      expectSame(runs.subject.runtime.isRunActive(run.runId), true, 'whether it is active while it hangs');
      await run.stop();
      await expectStopped(runs, run, TEXT);
    },
  ),
]);

export const stoppingCases: readonly RunCase[] = [
  runCase('stopped before it starts, says nothing and is aborted', ['answers'], async (runs) => {
    const run = runs.start(await runs.given.answers(TEXT), {
      abortSignal: AbortSignal.abort('stopped by the contract'),
    });
    await expectStopped(runs, run, '');
  }),

  ...byEitherWay,

  runCase('stopped by its signal and twice by its id, is aborted once', ['hangs'], async (runs) => {
    const run = startStoppable(runs, await runs.given.hangs(), 'its signal');
    await run.stop();
    await Promise.all([runs.stop(run.runId), runs.stop(run.runId)]);
    await expectStopped(runs, run, '');
  }),

  runCase('takes the stop of a run that it does not know or that has ended for nothing', ['answers'], async (runs) => {
    await runs.stop('nobody');
    const controller = new AbortController();
    const run = runs.start(await runs.given.answers(TEXT), { abortSignal: controller.signal });
    await run.result;
    controller.abort('too late');
    await runs.stop(run.runId);
    expectSame(textOf((await expectLife(run, 'end')).payloads, 'text'), TEXT, 'the text of the payloads');
  }),

  runCase('leaves nothing behind when it has answered', ['answers'], async (runs) => {
    await runs.start(await runs.given.answers(TEXT)).result;
    expectSame(await runs.subject.leftBehind(), [], 'what is left');
  }),
];
