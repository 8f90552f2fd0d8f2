import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeEach, expect, it, vi } from 'vitest';
import type { AgentRuntime } from '../../src/ports.ts';
import type { AgentRuntimeUnderTest, RunSetting } from '../../src/testing.ts';
import { describeAgentRuntime } from '../contracts/agent-runtime.contract.ts';
import { checkout, codeBlocks, readPage } from '../docs/pages.ts';

/** Of the page, where it is there; what it is to show otherwise. */
const PAGE = 'docs/backends.md';

const CODE = `import { createAgentRuntime } from 'wakechart';

/** Says its instructions, word by word; ill it fails, sleepy it says no more until it is stopped. */
export const parrot = createAgentRuntime({
  id: 'parrot',
  async answer({ instructions, model }, { say, signal }) {
    if (model === 'ill') return { meta: { error: { kind: 'overloaded', message: 'The parrot is ill.' } } };
    for (const word of instructions.split(/(?<=\\s)/)) say(word);
    if (model === 'sleepy') await new Promise((wake) => signal.addEventListener('abort', wake));
  },
});
`;

const folder = mkdtempSync(join(tmpdir(), 'parrot-'));
// Where a listener that throws is told of by default.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => undefined));
afterAll(() => vi.restoreAllMocks());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function codeOfPage(): string | undefined {
  if (!existsSync(join(checkout, PAGE))) return undefined;
  return codeBlocks(readPage(PAGE)).find(
    ({ info, code }) => info.startsWith('js') && code.includes('createAgentRuntime({'),
  )?.code;
}

const shown = codeOfPage() ?? CODE;

async function parrotOf(code: string): Promise<AgentRuntime> {
  const file = join(folder, 'parrot.mjs');
  const built = pathToFileURL(join(checkout, 'dist/actors/run/create-agent-runtime.js')).href;
  await writeFile(file, code.replace("from 'wakechart'", `from '${built}'`));
  const { parrot } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { readonly parrot: AgentRuntime };
  return parrot;
}

async function openParrot(): Promise<AgentRuntimeUnderTest> {
  const asked = (model: string, instructions: string): Promise<Partial<RunSetting>> =>
    Promise.resolve({ model, instructions });
  return {
    runtime: await parrotOf(shown),
    setting: {
      sessionId: 's',
      provider: 'parrot',
      model: 'awake',
      config: {},
      workspaceDir: folder,
      agentDir: folder,
      modelStepsTaken: 0,
    },
    situations: {
      answers: (text) => asked('awake', text),
      fails: () => asked('ill', ''),
      hangs: () => asked('sleepy', ''),
      hangsAfter: (text) => asked('sleepy', text),
    },
    leftBehind: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  };
}

describeAgentRuntime('a backend of ten lines', openParrot, {
  runs: 'step',
  failures: ['overloaded'],
  cannot: {
    reasons: 'it does not think',
    asksForTools: 'it has no hands',
    awaitsMessage: 'it does not listen',
    tells: 'it knows no secrets',
    heard: 'it does not listen',
  },
  skips: 6,
});

it('a backend of ten lines has ten lines, without its import and its comment', () => {
  const lines = shown.split('\n').filter((line) => line.trim() !== '' && !/^(?:import|\/\*\*)/.test(line));
  expect(lines.length).toBeLessThanOrEqual(10);
});
