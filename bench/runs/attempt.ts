/**
 * What it costs to have a run over candidates decide, account and tell, beside the call of the backend alone: for one
 * attempt, and for a second one after a failure.
 */
import { createSystemClock } from 'wakechart/node';
import { AgentRuntimeRegistry, executeAgentRun } from 'wakechart/ports';
import type { AgentRunParams, AgentRuntime } from 'wakechart/ports';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';

const RUNS = 3_000;
const ROUNDS = 7;
const MOST_MICROSECONDS = 500;

const clock = createSystemClock();

const REQUEST = {
  runId: 'run',
  sessionId: 'session',
  config: {},
  workspaceDir: '/',
  agentDir: '/',
  modelStepsTaken: 0,
  prompt: 'Hello.',
} as const;

function backend(id: string, result: () => Awaited<ReturnType<AgentRuntime['run']>>): AgentRuntime {
  return { id, run: async () => result(), abort: async () => undefined, isRunActive: () => false };
}

const good = backend('good', () => ({ payloads: [{ type: 'text', text: 'Hello.' }] }));
const bad = backend('bad', () => ({ payloads: [], meta: { error: { kind: 'auth', message: 'no' } } }));
const registry = new AgentRuntimeRegistry([good, bad]);

const GOOD = { provider: 'good', model: 'm' };
const BAD = { provider: 'bad', model: 'm' };

async function microsecondsPer(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now();
  for (let count = 0; count < RUNS; count += 1) await work();
  return ((performance.now() - startedMs) / RUNS) * 1_000;
}

export async function run(): Promise<BenchRow[]> {
  const params: AgentRunParams = { ...REQUEST, ...GOOD };
  const bare = (): Promise<number> => microsecondsPer(() => good.run(params));
  const over = (models: readonly (typeof GOOD)[]) => (): Promise<number> =>
    microsecondsPer(
      () => executeAgentRun({ request: REQUEST, models, registry, clock, onListenerError: () => undefined }).result,
    );
  const one = await interleave(ROUNDS, over([GOOD]), bare);
  const two = await interleave(ROUNDS, over([BAD, GOOD]), over([GOOD]));
  const added = median(one.a) - median(one.b);
  const second = median(two.a) - median(two.b);
  return [
    {
      name: 'a run over candidates, one attempt',
      unit: 'us added',
      value: added,
      spread: spread(one.a),
      peer: 'the backend alone',
      peerValue: median(one.b),
      target: `< ${MOST_MICROSECONDS} us`,
      met: added < MOST_MICROSECONDS,
    },
    {
      name: 'each attempt after a failure',
      unit: 'us added',
      value: second,
      spread: spread(two.a),
      target: `< ${MOST_MICROSECONDS} us`,
      met: second < MOST_MICROSECONDS,
    },
  ];
}
