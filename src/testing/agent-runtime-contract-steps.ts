/** How a backend of steps asks for tools: the wake runs them, and calls again. */
import { runCase } from './agent-runtime-contract-case.ts';
import type { RunCase } from './agent-runtime-contract-case.ts';
import { TEXT, expectLife, expectPlain, textOf } from './agent-runtime-contract-life.ts';
import type { ContractToolUse } from './agent-runtime-contract-subject.ts';
import { expectSame } from './expectations.ts';

/** Two calls of one tool, and one of another: ids have to tell them apart. */
const USES: readonly ContractToolUse[] = [
  { name: 'look_up', input: { word: 'Häuser', times: 2, deep: { list: [1, null, 'x'] } } },
  { name: 'look_up', input: { word: 'Häuser', times: 2, deep: { list: [1, null, 'x'] } } },
  { name: 'note_down', input: {} },
];

const TOOLS = ['look_up', 'note_down'].map((name) => ({
  name,
  description: `Does what ${name} says.`,
  inputSchema: { type: 'object', additionalProperties: true },
}));

export const stepCases: readonly RunCase[] = [
  runCase(
    'asks for tools in its payloads, each call with an id of its own and what it is given',
    ['asksForTools'],
    async (runs) => {
      const change = await runs.given.asksForTools(TEXT, USES);
      const run = runs.start({ ...change, tools: change.tools ?? TOOLS });
      const result = await expectLife(run, 'end');
      const calls = result.payloads.flatMap((payload) => (payload.type === 'tool_call' ? [payload] : []));
      expectSame(
        calls.map(({ name, input }) => ({ name, input })),
        USES,
        'the calls that it asks for',
      );
      expectSame(new Set(calls.map(({ callId }) => callId)).size, USES.length, 'how many ids there are');
      expectSame(calls.filter(({ callId }) => callId === '').length, 0, 'how many ids are empty');
      expectSame(textOf(result.payloads, 'text'), TEXT, 'what it says besides');
      expectPlain(result, run.events);
    },
  ),

  runCase(
    'tells each tool that it asks for as it does in its payloads, and no more of it',
    ['asksForTools'],
    async (runs) => {
      const change = await runs.given.asksForTools(TEXT, USES);
      const run = runs.start({ ...change, tools: change.tools ?? TOOLS });
      const { payloads } = await expectLife(run, 'end');
      const calls = payloads.flatMap((payload) =>
        payload.type === 'tool_call'
          ? [{ phase: 'requested', callId: payload.callId, name: payload.name, input: payload.input }]
          : [],
      );
      expectSame(
        run.events.flatMap(({ stream, data }) => (stream === 'tool' ? [data] : [])),
        calls,
        'the tools that it tells',
      );
    },
  ),
];
