/**
 * Exports with edits anywhere: one is brought back as it was, or refused with the reason, and then nothing was made.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeError } from '../../src/machines/errors.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { Runtime } from '../../src/runtime.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { damage, damaged } from './damaged-logs.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 60);

let home: TemporaryHome;
let runtime: Runtime;
let sessionId: string;
let lines: string[];

beforeAll(async () => {
  home = await temporaryHome();
  runtime = await createNodeRuntime({ home: home.path });
  await runtime.agents.create({
    agentId: 'player',
    source: { frontmatter: { name: 'Player', provider: 'script', model: 'play.json' }, instructions: '' },
  });
  const steps = [
    { text: 'One.', toolCalls: [{ name: 'shell_run', input: { command: 'echo one' } }] },
    { text: 'Two ☕.' },
  ];
  await writeFile(join(home.path, 'agents/player/play.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
  ({ sessionId } = await runtime.sessions.create({ agentId: 'player' }));
  await runtime.sessions.send(sessionId, { type: 'user.message', text: 'Begin.' });
  await runtime.wake(sessionId);
  lines = await exported();
  await runtime.sessions.delete(sessionId);
});
afterAll(async () => {
  await runtime.shutdown();
  await home.remove();
});

async function exported(): Promise<string[]> {
  const all: string[] = [];
  for await (const line of runtime.sessions.export(sessionId)) all.push(line);
  return all;
}

/**
 * Lines without the time of the export, without the hash that depends on it, and without the mark that it was brought
 * in.
 */
const contentOf = (all: readonly string[]): readonly string[] =>
  all.slice(1, -1).map((line) => line.replace(/,?"importedThroughSeq":\d+/, ''));

type LineEdit = { readonly kind: 'drop' | 'double' | 'swap' | 'empty'; readonly line: number };

const lineEdit: fc.Arbitrary<LineEdit> = fc.record({
  kind: fc.constantFrom('drop', 'double', 'swap', 'empty'),
  line: fc.nat(40),
});

function edited(all: readonly string[], { kind, line }: LineEdit): string[] {
  const at = line % all.length;
  const here = all.slice(at, at + 1);
  const [before, after] = [all.slice(0, at), all.slice(at + 1)];
  switch (kind) {
    case 'drop':
      return [...before, ...after];
    case 'double':
      return [...before, ...here, ...here, ...after];
    case 'swap':
      return [...before, ...after.slice(0, 1), ...here, ...after.slice(1)];
    case 'empty':
      return [...before, '\n', ...after];
  }
}

/** Whatever becomes of it, it says so. A session that was made is taken away again. */
async function tryToImport(given: readonly string[]): Promise<void> {
  try {
    await runtime.sessions.import(given, { isTrusted: true });
  } catch (error) {
    expect(RuntimeError.is(error) && error.code, `refused with ${String(error)}`).toBe('SESSION_EXPORT_INVALID');
    expect(await runtime.sessions.list()).toEqual([]);
    return;
  }
  expect(contentOf(await exported())).toEqual(contentOf(lines));
  await runtime.sessions.delete(sessionId);
}

describe('an export that was edited', () => {
  it('anywhere in its bytes is the same session or refused', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { maxLength: 2 }), async (damages) => {
        const text = damages.reduce(damaged, Buffer.from(lines.join(''))).toString();
        await tryToImport(text.split(/(?<=\n)/));
      }),
      { numRuns: RUNS },
    );
  });

  it('line by line is the same session or refused', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(lineEdit, { maxLength: 3 }), async (edits) => tryToImport(edits.reduce(edited, lines))),
      { numRuns: RUNS },
    );
  });
});
