/** How a backend of turns tells the tools that it runs itself, and asks whether it may. */
import type { RunPermissionAnswer, RunPermissionRequest } from '../actors/run/agent-runtime.ts';
import type { AgentRunEvent } from '../machines/run/run-output.ts';
import { runCase } from './agent-runtime-contract-case.ts';
import type { RunCase } from './agent-runtime-contract-case.ts';
import { TEXT, expectLife, expectNumbered, expectPlain, textOf } from './agent-runtime-contract-life.ts';
import type { StartedRun } from './agent-runtime-contract-runs.ts';
import type { ContractToolUse } from './agent-runtime-contract-subject.ts';
import { expectSame, told } from './expectations.ts';

type ToolNews = Extract<AgentRunEvent, { stream: 'tool' }>['data'];

const USES: readonly ContractToolUse[] = [
  { name: 'look_up', input: { word: 'Häuser' } },
  { name: 'look_up', input: { word: 'trees' } },
];

const toolNews = (events: readonly AgentRunEvent[]): readonly ToolNews[] =>
  events.flatMap((event) => (event.stream === 'tool' ? [event.data] : []));

/**
 * Expects each tool to be requested, perhaps started, and ended, once each and in this order; returns how they ended.
 */
function expectToolLives({ events }: StartedRun): readonly string[] {
  const news = toolNews(events);
  const ids = [...new Set(news.map(({ callId }) => callId))];
  return ids.map((id) => {
    const life = news.filter(({ callId }) => callId === id);
    expectSame(
      life.map(({ phase }) => phase).filter((phase, index) => !(phase === 'started' && index === 1)),
      ['requested', 'ended'],
      `the life of the tool call ${id}, with or without its start`,
    );
    return life.flatMap((each) => (each.phase === 'ended' ? [each.outcome] : [])).join();
  });
}

/** Answers each request like this, and keeps what was asked. */
function answering(answer: RunPermissionAnswer): {
  readonly asked: RunPermissionRequest[];
  readonly requestPermission: (request: RunPermissionRequest) => Promise<RunPermissionAnswer>;
} {
  const asked: RunPermissionRequest[] = [];
  const requestPermission = (request: RunPermissionRequest): Promise<RunPermissionAnswer> => {
    asked.push(request);
    return Promise.resolve(answer);
  };
  return { asked, requestPermission };
}

const requestedIds = ({ events }: StartedRun): readonly string[] =>
  toolNews(events).flatMap((news) => (news.phase === 'requested' ? [news.callId] : []));

/** Answers with a denial when the run is stopped, as a runtime does. */
function silentUntil(
  signal: AbortSignal,
  onAsked: () => void,
): (request: RunPermissionRequest) => Promise<RunPermissionAnswer> {
  return () => {
    onAsked();
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve({ decision: 'deny', message: 'The run was stopped.' }), {
        once: true,
      }),
    );
  };
}

const toolLives: readonly RunCase[] = [
  runCase('tells each tool that it runs: requested once, then ended once', ['usesTools'], async (runs) => {
    const run = runs.start(await runs.given.usesTools(USES, TEXT));
    const result = await expectLife(run, 'end');
    expectSame(expectToolLives(run), ['completed', 'completed'], 'how the tools ended');
    const requested = toolNews(run.events).flatMap((news) =>
      news.phase === 'requested' ? [{ name: news.name, input: news.input }] : [],
    );
    expectSame(requested, USES, 'the tools that were requested');
    expectNumbered(run);
    expectPlain(result, run.events);
  }),

  runCase(
    'keeps the tools that it ran out of its payloads, and says what the model said',
    ['usesTools'],
    async (runs) => {
      const run = runs.start(await runs.given.usesTools(USES, TEXT));
      const { payloads } = await expectLife(run, 'end');
      expectSame(
        payloads.filter(({ type }) => type === 'tool_call').length,
        0,
        'how many tool calls the payloads hold',
      );
      expectSame(textOf(payloads, 'text'), TEXT, 'the text of the payloads');
    },
  ),

  runCase('ends a tool that runs when the run is stopped, and leaves nothing behind', ['hangsInTool'], async (runs) => {
    const run = runs.start(
      await runs.given.hangsInTool({ name: 'look_up', input: {} }),
      answering({ decision: 'allow' }),
    );
    await run.until(({ stream }) => stream === 'tool', 'the tool that it hangs in');
    await runs.stop(run.runId);
    await expectLife(run, 'aborted');
    expectSame(expectToolLives(run), ['cancelled'], 'how the tool ended');
    expectSame(await runs.subject.leftBehind(), [], 'what is left');
  }),
];

export const turnCases: readonly RunCase[] = [
  ...toolLives,

  runCase(
    'asks for permission once for each tool, by the id and the name of its events',
    ['usesToolsIfAllowed'],
    async (runs) => {
      const person = answering({ decision: 'allow' });
      const run = runs.start(await runs.given.usesToolsIfAllowed(USES, TEXT), person);
      await expectLife(run, 'end');
      expectSame(expectToolLives(run), ['completed', 'completed'], 'how the tools ended');
      expectSame(
        person.asked.map(({ callId }) => callId),
        requestedIds(run),
        'the calls for which it asked',
      );
      expectSame(
        person.asked.map(({ name, input }) => ({ name, input })),
        USES,
        'what it asked for',
      );
    },
  ),

  runCase('does not run what is denied, says so, and goes on', ['usesToolsIfAllowed'], async (runs) => {
    const run = runs.start(
      await runs.given.usesToolsIfAllowed(USES, TEXT),
      answering({ decision: 'deny', message: 'Not today.' }),
    );
    const { payloads, meta } = await expectLife(run, 'end');
    expectSame(expectToolLives(run), ['denied', 'denied'], 'how the tools ended');
    expectSame([textOf(payloads, 'text'), meta?.error], [TEXT, undefined], 'the text of the payloads, and the failure');
  }),

  runCase('runs nothing that needs permission when no person can be asked', ['usesToolsIfAllowed'], async (runs) => {
    const run = runs.start(await runs.given.usesToolsIfAllowed(USES, TEXT));
    await expectLife(run, 'end');
    expectSame(
      expectToolLives(run).filter((outcome) => outcome === 'completed'),
      [],
      'the tools that ran',
    );
  }),

  runCase(
    'does not run a tool when it cannot be found out whether it may, and comes to an end',
    ['usesToolsIfAllowed'],
    async (runs) => {
      const requestPermission = (): Promise<never> => Promise.reject(new Error('no person can be reached'));
      const run = runs.start(await runs.given.usesToolsIfAllowed(USES, TEXT), { requestPermission });
      await run.result;
      expectSame(
        expectToolLives(run).filter((outcome) => outcome === 'completed'),
        [],
        'the tools that ran',
      );
      expectSame(runs.subject.runtime.isRunActive(run.runId), false, 'whether it is active');
      expectSame(await runs.subject.leftBehind(), [], 'what is left');
    },
  ),

  runCase(
    'stopped while a person is asked for permission, runs nothing and leaves nothing behind',
    ['usesToolsIfAllowed'],
    async (runs) => {
      const controller = new AbortController();
      const change = await runs.given.usesToolsIfAllowed(USES, TEXT);
      let tellAsked: () => void = () => undefined;
      const asked = new Promise<void>((resolve) => {
        tellAsked = resolve;
      });
      const run = runs.start(change, {
        abortSignal: controller.signal,
        requestPermission: silentUntil(controller.signal, () => tellAsked()),
      });
      await told(Promise.race([asked, run.result]), 'the question whether a tool may run');
      controller.abort('stopped by the contract');
      await expectLife(run, 'aborted');
      expectSame(
        expectToolLives(run).filter((outcome) => outcome === 'completed'),
        [],
        'the tools that ran',
      );
      expectSame(await runs.subject.leftBehind(), [], 'what is left');
    },
  ),
];
