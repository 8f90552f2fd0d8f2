/** The life of a run as its listener hears it, and what the run yields. */
import { agentRunResult } from '../machines/run/run-output.ts';
import type { AgentRunEvent, RunPayload } from '../machines/run/run-output.ts';
import type { AgentRunResult } from '../actors/run/agent-runtime.ts';
import { runCase } from './agent-runtime-contract-case.ts';
import type { RunCase } from './agent-runtime-contract-case.ts';
import type { StartedRun } from './agent-runtime-contract-runs.ts';
import { said } from './agent-runtime-contract-runs.ts';
import { expectSame, expectThat } from './expectations.ts';

export const TEXT = 'Häuser: 東京 and 🏠, "quoted",\nin two lines.';

type Phase = 'start' | 'end' | 'error' | 'aborted';

const phaseOf = (event: AgentRunEvent): Phase | undefined =>
  event.stream === 'lifecycle' ? event.data.phase : undefined;

/** Expects one start first and exactly one ending, this one, last; and nothing that comes late. */
export async function expectLife({ events, result }: StartedRun, ending: Phase): Promise<AgentRunResult> {
  const received = await result;
  await settled();
  const phases = events.flatMap((event) => phaseOf(event) ?? []);
  expectSame(phases, ['start', ending], 'the phases of the life of the run');
  expectSame([phaseOf(first(events)), phaseOf(last(events))], ['start', ending], 'its first event and its last');
  return received;
}

/** Lets whatever was put off until later happen. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

/** What was streamed, joined. */
export function streamed(events: readonly AgentRunEvent[], kind: 'text' | 'reasoning'): string {
  return events
    .flatMap((event) => (event.stream === 'assistant' && event.data.kind === kind ? [event.data.text] : []))
    .join('');
}

export function textOf(payloads: readonly RunPayload[], type: 'text' | 'reasoning'): string {
  return payloads.flatMap((payload) => (payload.type === type ? [payload.text] : [])).join('');
}

export function expectNumbered({ events, runId }: Pick<StartedRun, 'events' | 'runId'>): void {
  expectSame(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
    'the numbers of the events',
  );
  expectSame([...new Set(events.map((event) => event.runId))], [runId], 'the ids of the runs that they name');
  const odd = events
    .map(({ ts }) => ts)
    .filter((ts) => typeof ts !== 'string' || Number.isNaN(Date.parse(ts)) || new Date(ts).toISOString() !== ts);
  expectSame(odd, [], 'the times of events that are not ISO-8601 with milliseconds, in UTC');
}

/** Expects a result that can be stored, and events that can be sent. */
export function expectPlain(result: AgentRunResult, events: readonly AgentRunEvent[]): void {
  const reading = agentRunResult.safeParse(result);
  expectSame(
    reading.success ? [] : reading.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`),
    [],
    'what is wrong with the result',
  );
  for (const value of [result, events])
    expectSame(
      value,
      JSON.parse(JSON.stringify(value)),
      'what was received, against itself after it went through JSON',
    );
}

export const lifeCases: readonly RunCase[] = [
  runCase('announces one start first and one end last, and nothing afterwards', ['answers'], async (runs) => {
    const change = await runs.given.answers(TEXT);
    const { provider, model } = { ...runs.subject.setting, ...change };
    const run = runs.start(change);
    await expectLife(run, 'end');
    expectSame(first(run.events).data, { phase: 'start', provider, model }, 'what it says of itself at the start');
  }),

  runCase(
    'numbers its events from 1 on without a gap, with the id of the run and times as ISO-8601',
    ['answers'],
    async (runs) => {
      const run = runs.start(await runs.given.answers(TEXT), { runId: 'of its own: ä/1' });
      await expectLife(run, 'end');
      expectNumbered(run);
    },
  ),

  runCase('streams exactly the text that it resolves with', ['answers'], async (runs) => {
    const run = runs.start(await runs.given.answers(TEXT));
    const { payloads } = await expectLife(run, 'end');
    expectSame(textOf(payloads, 'text'), TEXT, 'the text of the payloads');
    expectSame(streamed(run.events, 'text'), TEXT, 'the text that was streamed');
  }),

  runCase('tells what the model reasoned apart from what it said', ['reasons'], async (runs) => {
    const run = runs.start(await runs.given.reasons('Let me see.', TEXT));
    const { payloads } = await expectLife(run, 'end');
    expectSame(
      [textOf(payloads, 'reasoning'), textOf(payloads, 'text')],
      ['Let me see.', TEXT],
      'the reasoning and the text of the payloads',
    );
    expectSame(
      [streamed(run.events, 'reasoning'), streamed(run.events, 'text')],
      ['Let me see.', TEXT],
      'the reasoning and the text that were streamed',
    );
  }),

  runCase('resolves with a result that is plain data, and tells plain data', ['answers'], async (runs) => {
    const run = runs.start(await runs.given.answers(TEXT));
    const result = await run.result;
    expectPlain(result, run.events);
    expectSame(result.meta?.error, undefined, 'the failure of a run that did not fail');
  }),

  runCase('says the same about what was used in its last event and in its result', ['answers'], async (runs) => {
    const run = runs.start(await runs.given.answers(TEXT));
    const { usage } = await expectLife(run, 'end');
    const { data } = last(run.events);
    expectSame('usage' in data ? data.usage : undefined, usage, 'what the last event says was used');
  }),

  runCase('takes a prompt in place of messages', ['answers'], async (runs) => {
    const run = runs.start(await runs.given.answers(TEXT), { prompt: 'Please answer.' });
    expectSame(textOf((await expectLife(run, 'end')).payloads, 'text'), TEXT, 'the text of the payloads');
  }),

  runCase(
    'gives the model its instructions and the whole conversation, in order',
    ['answers', 'heard'],
    async (runs) => {
      const change = await runs.given.answers(TEXT);
      const messages = [
        said('first of all'),
        { role: 'assistant', content: [{ type: 'text', text: 'then this' }] } as const,
        said('at last'),
      ];
      await runs.start({ ...change, instructions: 'be brief' }, { messages }).result;
      const heard = await runs.given.heard();
      const places = ['be brief', 'first of all', 'then this', 'at last'].map((text) => heard.indexOf(text));
      expectThat(
        places.every((place, index) => place > (places[index - 1] ?? -1)),
        'what the model was given to read',
        { expected: 'the instructions and the three messages, in order', received: heard },
      );
    },
  ),

  runCase('does not mind a listener that throws', ['answers'], async (runs) => {
    const refuse = (): never => {
      throw new Error('thrown by a listener of the contract');
    };
    const run = runs.start(await runs.given.answers(TEXT), { onEvent: refuse });
    const { payloads, meta } = await expectLife(run, 'end');
    expectSame([textOf(payloads, 'text'), meta?.error], [TEXT, undefined], 'the text of the payloads, and the failure');
    expectNumbered(run);
  }),
];

function first(events: readonly AgentRunEvent[]): AgentRunEvent {
  return present(events[0]);
}

function last(events: readonly AgentRunEvent[]): AgentRunEvent {
  return present(events.at(-1));
}

function present(event: AgentRunEvent | undefined): AgentRunEvent {
  if (event === undefined) throw new Error('the events of a run: expected at least one, received none');
  return event;
}
