/**
 * Through the embedded backend and through a whole wake, beside a bare call of the AI SDK to the same server on
 * loopback: how long until the first word is heard, and how many words in a second reach whoever follows.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';
import { createEmbeddedAgentRuntime, createNodeRuntime, createSystemClock } from 'wakechart/node';
import { AgentRuntimeRegistry, executeAgentRun } from 'wakechart/ports';
import type { Runtime } from 'wakechart/ports';
import { interleave, median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';
import { startStreamingServer } from './streaming-server.ts';
import type { StreamingServer } from './streaming-server.ts';

const ROUNDS = 40;
const STREAM_ROUNDS = 9;
const FEW = 'say-20';
const MANY_WORDS = 20_000;
const MANY = `say-${MANY_WORDS}`;

interface Heard {
  readonly firstMs: number;
  readonly allMs: number;
}

type Ask = (model: string) => Promise<Heard>;

function bareSdk({ baseUrl }: StreamingServer): Ask {
  const provider = createOpenAICompatible({ name: 'loopback', baseURL: baseUrl, apiKey: 'none' });
  return (model) =>
    heard(async (onWord) => {
      const { textStream } = streamText({ model: provider(model), prompt: 'Hello.', maxRetries: 0 });
      for await (const _ of textStream) onWord();
    });
}

function embedded({ baseUrl }: StreamingServer): Ask {
  const clock = createSystemClock();
  const registry = new AgentRuntimeRegistry([createEmbeddedAgentRuntime({ clock })]);
  const config = {
    providers: { loopback: { backend: 'embedded', api: 'openai-chat', baseUrl, needsKey: false } },
  } as const;
  return (model) =>
    heard(async (onWord) => {
      const request = {
        runId: 'run',
        sessionId: 'session',
        config,
        workspaceDir: tmpdir(),
        agentDir: tmpdir(),
        modelStepsTaken: 0,
        prompt: 'Hello.',
      };
      const onEvent = ({ stream }: { readonly stream: string }): void => {
        if (stream === 'assistant') onWord();
      };
      await executeAgentRun({
        request,
        models: [{ provider: 'loopback', model }],
        registry,
        clock,
        onEvent,
        onListenerError: () => undefined,
      }).result;
    });
}

/** From the message that is sent to the first word that whoever wakes the session hears. */
function wholeWake(runtime: Runtime): Ask {
  return async (model) => {
    const { sessionId: id } = await runtime.sessions.create({ agentId: model });
    await runtime.sessions.send(id, { type: 'user.message', text: 'Hello.' });
    return heard(async (onWord) => {
      const { outcome } = await runtime.wake(id, {
        onRunEvent({ stream }) {
          if (stream === 'assistant') onWord();
        },
      });
      if (outcome !== 'sleep') throw new Error(`the wake ended as ${outcome}`);
    });
  };
}

async function heard(ask: (onWord: () => void) => Promise<void>): Promise<Heard> {
  const startedMs = performance.now();
  let firstMs: number | undefined;
  await ask(() => {
    firstMs ??= performance.now() - startedMs;
  });
  if (firstMs === undefined) throw new Error('nothing was said');
  return { firstMs, allMs: performance.now() - startedMs };
}

async function homeWithAgents({ baseUrl }: StreamingServer): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'bench-runs-'));
  await writeFile(
    join(home, 'providers.yaml'),
    `loopback:\n  backend: embedded\n  api: openai-chat\n  baseUrl: ${baseUrl}\n  needsKey: false\n`,
  );
  for (const model of [FEW, MANY]) {
    await mkdir(join(home, 'agents', model), { recursive: true });
    await writeFile(
      join(home, 'agents', model, 'agent.md'),
      `---\nname: ${model}\nprovider: loopback\nmodel: ${model}\n---\nTalk.\n`,
    );
  }
  return home;
}

export async function run(): Promise<BenchRow[]> {
  const server = await startStreamingServer();
  const home = await homeWithAgents(server);
  const runtime = await createNodeRuntime({ home });
  try {
    const [sdk, ours, wake] = [bareSdk(server), embedded(server), wholeWake(runtime)];
    const rows: BenchRow[] = [];
    for (const [name, ask, most] of [
      ['first word, embedded backend', ours, 1.1],
      ['first word, a whole wake', wake, 3],
    ] as const) {
      const { a, b } = await interleave(
        ROUNDS,
        async () => (await ask(FEW)).firstMs,
        async () => (await sdk(FEW)).firstMs,
      );
      const ratio = median(a) / median(b);
      rows.push({
        name,
        unit: 'ms',
        value: median(a),
        spread: spread(a),
        peer: 'streamText of the AI SDK',
        peerValue: median(b),
        ratio,
        target: `<= ${most} x`,
        met: ratio <= most,
      });
    }
    for (const [name, ask, least] of [
      ['words to a listener, embedded backend', ours, 1],
      ['words to a listener, a whole wake', wake, 0.9],
    ] as const) {
      const perSecond = async (which: Ask): Promise<number> => (MANY_WORDS / (await which(MANY)).allMs) * 1_000;
      const { a, b } = await interleave(
        STREAM_ROUNDS,
        () => perSecond(ask),
        () => perSecond(sdk),
      );
      const ratio = median(a) / median(b);
      rows.push({
        name,
        unit: 'words/s',
        value: median(a),
        spread: spread(a),
        peer: 'streamText of the AI SDK',
        peerValue: median(b),
        ratio,
        target: `>= ${least} x`,
        met: ratio >= least,
      });
    }
    return rows;
  } finally {
    await runtime.shutdown();
    server.close();
    await rm(home, { recursive: true, force: true });
  }
}
