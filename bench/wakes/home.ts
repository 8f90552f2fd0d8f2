/** A home with one agent that plays a script, for the benches of wakes. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNodeRuntime } from 'wakechart/node';
import type { Runtime } from 'wakechart/ports';

interface Step {
  readonly text?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly input: object }[];
}

const FORMAT = 'wakechart-script/1';

/** A wake that says one word and calls nothing. */
export const EMPTY_WAKE: readonly Step[] = [{ text: 'Heard.' }];

/** Wakes of two model steps each: three calls of a tool, and a word. */
export function wakesWithCalls(wakes: number): readonly Step[] {
  const check = { name: 'glob', input: { pattern: '*.md' } };
  return Array.from({ length: wakes }, (): readonly Step[] => [
    { toolCalls: [check, check, check] },
    { text: 'Checked.' },
  ]).flat();
}

export interface BenchHome {
  readonly home: string;
  readonly runtime: Runtime;
  dispose(): Promise<void>;
}

export async function openHome(steps: readonly Step[]): Promise<BenchHome> {
  const home = await mkdtemp(join(tmpdir(), 'bench-wakes-'));
  const runtime = await createNodeRuntime({ home });
  await runtime.agents.create({
    agentId: 'echo',
    source: { frontmatter: { name: 'Echo', provider: 'script', model: 'echo.json' }, instructions: '' },
  });
  await writeFile(join(home, 'agents/echo/echo.json'), JSON.stringify({ format: FORMAT, steps, onEnd: 'repeat-last' }));
  return {
    home,
    runtime,
    async dispose() {
      await runtime.shutdown();
      await rm(home, { recursive: true, force: true });
    },
  };
}
