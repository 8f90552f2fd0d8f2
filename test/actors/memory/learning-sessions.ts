/** Sessions of one agent that learns, as whole wakes over real stores. */
import { z } from 'zod';
import { AgentMemory } from '../../../src/actors/memory/agent-memory.ts';
import { createMemoryHookSource } from '../../../src/actors/memory/memory-hook-source.ts';
import { stageDigest } from '../../../src/actors/memory/shared-files-stage.ts';
import type { Tool } from '../../../src/actors/turn/tool.ts';
import type { MemoryFiles } from '../../../src/adapters/shared-files/memory-files.ts';
import { openMemorySetup } from '../../support/memory-setup.ts';
import type { MemorySetup } from '../../support/memory-setup.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';

export const AGENT = 'writer';

/** Says of the outcome what it is told to say, as an evaluation does. */
const evaluationOver = (stores: MemoryFiles): Tool<{ verdict: 'pass' | 'fail' }> => ({
  definition: {
    name: 'judge',
    description: 'Judges.',
    inputSchema: z.strictObject({ verdict: z.enum(['pass', 'fail']) }),
    ownership: 'custom',
    permissionPolicy: 'always_allow',
    readOnly: false,
    destructive: false,
    effects: ['writes_session'],
    interruptBehavior: 'finish',
  },
  async run({ verdict }, { wake, workspaceDirectory }) {
    const digest = await stageDigest(await stores.stage.read(workspaceDirectory));
    await wake?.append([
      {
        type: 'outcome.evaluated',
        data: {
          verdict,
          because: 'so it is',
          evidence: [],
          throughSeq: wake.state().head,
          evaluators: ['log'],
          stageDigest: digest,
        },
      },
    ]);
    return 'judged';
  },
});

const touch: Tool<Record<string, never>> = {
  definition: {
    name: 'touch',
    description: 'Changes something.',
    inputSchema: z.strictObject({}),
    ownership: 'custom',
    permissionPolicy: 'always_allow',
    readOnly: false,
    destructive: false,
    interruptBehavior: 'finish',
  },
  run: async () => 'touched',
};

export const call = (name: string, input: unknown): Said => ({ calls: [{ name, input }] });

export interface LearningSessions extends AsyncDisposable {
  readonly files: MemorySetup;
  readonly stores: MemoryFiles;
  readonly setup: TurnSetup;
  /** The instructions of every step so far. */
  readonly read: readonly string[];
  /** A session that goes through these steps, with a message in it, and an outcome unless told otherwise. */
  session(steps: readonly Said[], options?: { readonly outcome?: boolean }): Promise<string>;
  memoryText(): Promise<string>;
  say(sessionId: string, text?: string): Promise<unknown>;
}

export async function openLearningSessions(): Promise<LearningSessions> {
  const read: string[] = [];
  const files = await openMemorySetup();
  const stores = files.open();
  const setup = await openTurnSetup({
    tools: [evaluationOver(stores), touch] as readonly Tool[],
    memory: new AgentMemory(stores),
    hookSources: [(services) => createMemoryHookSource(stores, services)],
  });
  return {
    files,
    stores,
    setup,
    read,
    async session(steps, { outcome = true } = {}) {
      let next = 0;
      await setup.agent(
        AGENT,
        ({ instructions }) => {
          read.push(instructions ?? '');
          next += 1;
          return steps[next - 1] ?? { text: 'Nothing more.' };
        },
        { tools: ['memory', 'resources', 'judge', 'touch'] },
      );
      const { sessionId } = await setup.runtime.sessions.create({ agentId: AGENT });
      if (outcome)
        await setup.runtime.sessions.send(sessionId, { type: 'user.define_outcome', title: 'The tests pass.' });
      await setup.runtime.sessions.send(sessionId, { type: 'user.message', text: 'Go' });
      return sessionId;
    },
    memoryText: async () => (await new AgentMemory(stores).read(AGENT)).text,
    say: (sessionId, text = 'Again') => setup.runtime.sessions.send(sessionId, { type: 'user.message', text }),
    async [Symbol.asyncDispose]() {
      await setup[Symbol.asyncDispose]();
      await files.dispose();
    },
  };
}
