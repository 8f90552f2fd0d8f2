import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ScriptFiles } from '../../../src/adapters/script/script-files.ts';
import { codeOf } from '../../contracts/event-store.contract.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(() => home.remove());

const LONG_AGO = new Date(0);
/** Writes a script of one step; rested files look as if nobody had touched them for years. */
async function write(name: string, text: string, { isRested = true }: { readonly isRested?: boolean } = {}): Promise<string> {
  const path = join(home.path, name);
  await writeFile(path, JSON.stringify({ format: 'wakechart-script/1', steps: [{ text }] }));
  if (isRested) await utimes(path, LONG_AGO, LONG_AGO);
  return path;
}

describe('a script file', () => {
  it('that rests is read once', async () => {
    const files = new ScriptFiles();
    const path = await write('a.json', 'one');
    expect(await files.load(path, 'a.json')).toBe(await files.load(path, 'a.json'));
  });

  it('that has just been written is read again, since another change might not show', async () => {
    const files = new ScriptFiles();
    for (const text of ['one', 'two', 'six']) {
      const path = await write('a.json', text, { isRested: false });
      expect((await files.load(path, 'a.json')).steps).toEqual([{ text }]);
    }
  });

  it('that changed is read again', async () => {
    const files = new ScriptFiles();
    const path = await write('a.json', 'one');
    await files.load(path, 'a.json');
    await write('a.json', 'longer');
    expect((await files.load(path, 'a.json')).steps).toEqual([{ text: 'longer' }]);
    await writeFile(path, '{');
    expect(await codeOf(files.load(path, 'a.json'))).toBe('SCRIPT_INVALID');
    await rm(path);
    await expect(files.load(path, 'a.json')).rejects.toThrow(/ENOENT/);
  });

  it('is forgotten when many others were read since', async () => {
    const files = new ScriptFiles();
    const path = await write('a.json', 'one');
    const first = await files.load(path, 'a.json');
    for (let other = 0; other < 7; other += 1) await files.load(await write(`${other}.json`, 'x'), 'x');
    expect(await files.load(path, 'a.json')).toBe(first);
    for (let other = 0; other < 8; other += 1) await files.load(await write(`${other}.json`, 'x'), 'x');
    expect(await files.load(path, 'a.json')).not.toBe(first);
  });
});
