/** Learnings as files: torn records, what is rendered, and a rebuild from logs. */
import { appendFile, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMemorySetup } from '../../support/memory-setup.ts';
import type { MemorySetup } from '../../support/memory-setup.ts';
import type { CapturedLearning } from '../../../src/machines/memory/learning.ts';

const AGENT = 'writer';

let setup: MemorySetup;
let file: string;
beforeEach(async () => {
  setup = await openMemorySetup();
  file = join(setup.agentDirectory(AGENT), 'learnings', 'learnings.jsonl');
});
afterEach(() => setup.dispose());

const learning = (learningId: string): CapturedLearning => ({
  learningId,
  kind: 'lesson',
  title: `Title ${learningId}`,
  detail: 'Do it.',
  sessionId: 's',
  seq: 1,
  at: '2026-01-01T00:00:00.000Z',
});
const ids = async (): Promise<string[]> =>
  (await setup.open().learnings.list(AGENT)).map(({ learningId }) => learningId).toSorted();

describe('the file of learnings', () => {
  it('loses a record that was torn, and none that comes after', async () => {
    const store = setup.open().learnings;
    await store.keep(AGENT, learning('a'));
    await store.keep(AGENT, learning('b'));
    const { length } = await readFile(file);
    await truncate(file, length - 20);
    await setup.open().learnings.keep(AGENT, learning('c'));
    expect(await ids()).toEqual(['a', 'c']);
    expect(await store.examine(AGENT)).toEqual({ learnings: 2, damagedLines: 1 });
    expect(await store.keep(AGENT, learning('b'))).toEqual({ as: 'new' });
    expect(await ids()).toEqual(['a', 'b', 'c']);
  });

  it('is read past whatever somebody has put between its records', async () => {
    const store = setup.open().learnings;
    await store.keep(AGENT, learning('a'));
    const line = (await readFile(file, 'utf8')).trim();
    await appendFile(
      file,
      `\n\n[]\n{"sum":"0123456789abcdef","record":{"type":"captured"}}\n${line.replace('Do it', 'Do evil').replace('"a"', '"z"')}\n`,
    );
    await store.keep(AGENT, learning('b'));
    expect(await ids()).toEqual(['a', 'b']);
    expect((await store.examine(AGENT)).damagedLines).toBe(3);
  });

  it('is rendered for reading after each change', async () => {
    const { learnings } = setup.open();
    await learnings.keep(AGENT, learning('a'));
    await learnings.keep(AGENT, learning('b'));
    await learnings.forget(AGENT, 'a');
    const text = await readFile(join(setup.agentDirectory(AGENT), 'learnings', 'learnings.md'), 'utf8');
    expect(text).toContain('- **lesson**: Title b\n  Do it.\n');
    expect(text).not.toContain('Title a');
  });

  it('that is no text at all is rebuilt whole', async () => {
    const { learnings } = setup.open();
    await learnings.keep(AGENT, learning('a'));
    await writeFile(file, Buffer.from([0, 1, 2, 255, 10, 13, 0]));
    await learnings.rebuild(
      AGENT,
      (async function* () {
        yield learning('a');
      })(),
    );
    expect(await ids()).toEqual(['a']);
    expect((await learnings.examine(AGENT)).damagedLines).toBe(0);
  });
});
