import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ParsedFiles } from '../../../src/adapters/system/parsed-files.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

interface Said {
  readonly text: string;
}

let home: TemporaryHome;
let files: ParsedFiles<Said>;
beforeEach(async () => {
  home = await temporaryHome();
  files = new ParsedFiles(8);
});
afterEach(() => home.remove());

const LONG_AGO = new Date(0);
const parse = (text: string): Said => JSON.parse(text) as Said;
const load = (path: string): Said => files.load(path, parse);

/** Rested files look as if they had not been touched for years. */
async function write(
  name: string,
  text: string,
  { isRested = true }: { readonly isRested?: boolean } = {},
): Promise<string> {
  const path = join(home.path, name);
  await writeFile(path, JSON.stringify({ text }));
  if (isRested) await utimes(path, LONG_AGO, LONG_AGO);
  return path;
}

describe('a file that people write', () => {
  it('is parsed once while it rests', async () => {
    const path = await write('a.json', 'one');
    expect(load(path)).toBe(load(path));
  });

  it('is read again when it has just been written, since another change might not show', async () => {
    for (const text of ['one', 'two', 'six'])
      expect(load(await write('a.json', text, { isRested: false }))).toEqual({ text });
  });

  it('is read again when it has changed, broke or is gone', async () => {
    const path = await write('a.json', 'one');
    load(path);
    await write('a.json', 'longer');
    expect(load(path)).toEqual({ text: 'longer' });
    await writeFile(path, '{');
    expect(() => load(path)).toThrow(SyntaxError);
    await rm(path);
    expect(() => load(path)).toThrow(/ENOENT/);
  });

  it('is forgotten when many others were read since', async () => {
    const path = await write('a.json', 'one');
    const first = load(path);
    for (let other = 0; other < 7; other += 1) load(await write(`${other}.json`, 'x'));
    expect(load(path)).toBe(first);
    for (let other = 0; other < 8; other += 1) load(await write(`${other}.json`, 'x'));
    expect(load(path)).not.toBe(first);
  });
});
