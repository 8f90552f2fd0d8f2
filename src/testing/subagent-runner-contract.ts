/** What every runner of subagent jobs does. Each case wants one of its own, under which nothing runs. */
import type { SubagentJobHandle, SubagentJobStart, SubagentRunner } from '../actors/subagent/subagent-runner.ts';
import type { AgentTaskRequest } from '../machines/task/task-request.ts';
import type { BackgroundTaskRunnerEvent } from '../machines/task/task-state.ts';
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import { expectSame, expectThat, told } from './expectations.ts';

/** Requests whose jobs do as they are called, frozen as the manager hands them on. */
interface SubagentSituations {
  /** Ends with this output. */
  readonly answers: (output: string) => AgentTaskRequest | Promise<AgentTaskRequest>;
  readonly fails: () => AgentTaskRequest | Promise<AgentTaskRequest>;
  /** Goes on until it is stopped. */
  readonly hangs: () => AgentTaskRequest | Promise<AgentTaskRequest>;
  /** Asks for a permission and goes on when it is answered, with any output. */
  readonly asks?: (() => AgentTaskRequest | Promise<AgentTaskRequest>) | undefined;
  /** Ends with an output that holds the follow-up that it was sent. */
  readonly listens?: (() => AgentTaskRequest | Promise<AgentTaskRequest>) | undefined;
}

export interface SubagentRunnerUnderTest {
  readonly runner: SubagentRunner;
  readonly situations: SubagentSituations;
  /** What is left of jobs that have ended, such as processes: a line each. */
  readonly leftBehind: () => readonly string[] | Promise<readonly string[]>;
}

type Case = ContractCase<SubagentRunnerUnderTest>;

interface StartedJob {
  readonly jobId: string;
  readonly handle: SubagentJobHandle;
  readonly events: readonly BackgroundTaskRunnerEvent[];
  readonly abort: AbortController;
  /** Resolves with the event of this type, which may have been told already. */
  readonly heard: (type: BackgroundTaskRunnerEvent['type']) => Promise<BackgroundTaskRunnerEvent>;
}

async function started(
  { runner }: SubagentRunnerUnderTest,
  request: AgentTaskRequest | Promise<AgentTaskRequest>,
  jobId = 'agent_1',
): Promise<StartedJob> {
  const events: BackgroundTaskRunnerEvent[] = [];
  const listeners = new Set<() => void>();
  const emit = (event: BackgroundTaskRunnerEvent): void => {
    events.push(event);
    for (const listener of listeners) listener();
  };
  const abort = new AbortController();
  const start: SubagentJobStart = { jobId, request: Object.freeze(await request), emit, signal: abort.signal };
  const handle = await runner.start(start);
  handle.result.catch(() => undefined);
  const heard = (type: BackgroundTaskRunnerEvent['type']): Promise<BackgroundTaskRunnerEvent> =>
    told(
      new Promise((resolve) => {
        const check = (): void => {
          const found = events.find((event) => event.type === type);
          if (found !== undefined) resolve(found);
        };
        listeners.add(check);
        check();
      }),
      `the event ${type}`,
    );
  return { jobId, handle, events, abort, heard };
}

async function failureOf(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (thrown: unknown) => (thrown instanceof Error ? thrown.message : String(thrown)),
  );
}

const ends: readonly Case[] = [
  {
    name: 'answers with the output of the job, under its id',
    async run(subject) {
      const output = 'Häuser: 東京 and 🏠,\nin two lines.';
      const { handle, jobId } = await started(subject, subject.situations.answers(output));
      const result = await told(handle.result, 'the result');
      expectSame([handle.jobId, result.jobId, result.output], [jobId, jobId, output], 'the ids and the output');
      expectSame(await subject.leftBehind(), [], 'what is left');
    },
  },
  {
    name: 'fails with an error that says something',
    async run(subject) {
      const failure = await failureOf(
        started(subject, subject.situations.fails()).then(({ handle }) => told(handle.result, 'the result')),
      );
      expectThat((failure ?? '').trim() !== '', 'the failure', { expected: 'a sentence', received: failure });
      expectSame(await subject.leftBehind(), [], 'what is left');
    },
  },
  {
    name: 'keeps jobs apart that run at once',
    async run(subject) {
      const outputs = ['one', 'two', 'three'];
      const jobs = await Promise.all(
        outputs.map((output, index) => started(subject, subject.situations.answers(output), `agent_${index + 1}`)),
      );
      const results = await Promise.all(jobs.map(({ handle }) => told(handle.result, 'a result')));
      expectSame(
        results.map(({ output }) => output),
        outputs,
        'the outputs',
      );
      for (const { jobId, events } of jobs)
        expectSame(
          [...new Set(events.map(({ taskId }) => taskId))].filter((taskId) => taskId !== jobId),
          [],
          'other ids in the events of a job',
        );
    },
  },
  {
    name: 'says nothing any more when a job has ended',
    async run(subject) {
      const { handle, events } = await started(subject, subject.situations.answers('done'));
      await told(handle.result, 'the result');
      const count = events.length;
      await new Promise((resolve) => setTimeout(resolve, 20));
      expectSame(events.length, count, 'how many events there are a moment later');
    },
  },
];

const stops: readonly Case[] = [
  {
    name: 'stops a job, and leaves nothing of it',
    async run(subject) {
      const { handle } = await started(subject, subject.situations.hangs());
      await told(Promise.resolve(handle.cancel('enough')), 'the end of the stop');
      expectSame(await subject.leftBehind(), [], 'what is left');
      await told(failureOf(handle.result), 'the end of its result');
    },
  },
  {
    name: 'stops a job once, however often and whenever it is asked to',
    async run(subject) {
      const { handle } = await started(subject, subject.situations.hangs());
      await told(
        Promise.all([handle.cancel('enough'), handle.cancel(), handle.cancel('again')]),
        'the end of the stops',
      );
      await told(Promise.resolve(handle.cancel()), 'the end of a later stop');
      const done = await started(subject, subject.situations.answers('done'), 'agent_2');
      await told(done.handle.result, 'the result');
      await told(Promise.resolve(done.handle.cancel()), 'the end of a stop after the end');
      expectSame((await done.handle.result).output, 'done', 'the output');
      expectSame(await subject.leftBehind(), [], 'what is left');
    },
  },
  {
    name: 'comes to an end when its signal is aborted and it is stopped right after its start',
    async run(subject) {
      const { handle, abort } = await started(subject, subject.situations.hangs());
      abort.abort('enough');
      await told(Promise.resolve(handle.cancel('enough')), 'the end of the stop');
      expectSame(await subject.leftBehind(), [], 'what is left');
    },
  },
];

const talks: readonly Case[] = [
  {
    name: 'hands on the answer to a permission request',
    async run(subject) {
      const { asks } = subject.situations;
      if (asks === undefined) return;
      const { handle, heard } = await started(subject, asks());
      const request = await heard('background_task_permission_request');
      expectThat(handle.answerPermission !== undefined, 'answerPermission', {
        expected: 'a method',
        received: undefined,
      });
      if (request.type === 'background_task_permission_request')
        await handle.answerPermission?.(request.requestId, true);
      await told(handle.result, 'the result');
      expectSame(await subject.leftBehind(), [], 'what is left');
    },
  },
  {
    name: 'hands on a follow-up',
    async run(subject) {
      const { listens } = subject.situations;
      if (listens === undefined) return;
      const { handle } = await started(subject, listens());
      expectThat(handle.send !== undefined, 'send', { expected: 'a method', received: undefined });
      await handle.send?.('And mind the gap.');
      const { output } = await told(handle.result, 'the result');
      expectThat(output.includes('And mind the gap.'), 'the output', {
        expected: 'to hold the follow-up',
        received: output,
      });
    },
  },
  {
    name: 'pages through its log, if it keeps one',
    async run(subject) {
      const { handle } = await started(subject, subject.situations.answers('done'));
      await told(handle.result, 'the result');
      const page = await handle.readLog?.({ offset: 0 });
      expectThat(page === undefined || Array.isArray(page.lines), 'the page', { expected: 'lines', received: page });
      const beyond = await handle.readLog?.({ offset: 1_000_000 });
      expectSame(beyond?.lines ?? [], [], 'the lines beyond the end');
    },
  },
];

export const subagentRunnerContract: readonly ContractCase<SubagentRunnerUnderTest>[] = named('a runner of subagents', [
  ...ends,
  ...stops,
  ...talks,
]);
