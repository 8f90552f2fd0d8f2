/** A home that an earlier version wrote: what is in it beside logs is read, and can be gone on with. */
import { chmod, cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runInProcess } from '../cli/in-process.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';

const WRITTEN = fileURLToPath(new URL('0.4-home', import.meta.url));

let folder: TemporaryHome;
let home: string;

beforeAll(async () => {
  folder = await temporaryHome();
  home = join(folder.path, 'home');
  await cp(WRITTEN, home, { recursive: true });
  // As it was written: a repository keeps no modes.
  await chmod(home, 0o700);
  for (const entry of await readdir(home, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
});

afterAll(() => folder.remove());

async function told(...words: readonly string[]): Promise<unknown> {
  const { code, stdout, stderr } = await runInProcess([...words, '--json', '--home', home]);
  expect({ words, code, stderr }).toEqual({ words, code: 0, stderr: '' });
  return JSON.parse(stdout) as unknown;
}

it('has its schedules as they stood, and a paused one can be resumed', async () => {
  expect(await told('schedule', 'list')).toMatchObject({
    schedules: [
      { id: 'cmd', state: { status: 'paused' }, definition: { target: { command: 'echo hello', cwd: '/' } } },
      { id: 'once', state: { status: 'active' }, definition: { timezone: 'Europe/Berlin' } },
      { id: 'tick', state: { status: 'active' }, definition: { target: { kind: 'session', text: 'tick' } } },
    ],
  });
  await told('schedule', 'resume', 'cmd');
  expect(await told('schedule', 'show', 'cmd')).toMatchObject({ state: { status: 'active' } });
});

it('has what its agent learned, its memory with the versions, its skills and its accounts', async () => {
  expect(await told('learnings', 'list', '--agent', 'clerk')).toMatchObject({
    learnings: [{ title: 'Totals count the quantity' }],
  });
  expect(await told('memory', 'versions', '--agent', 'clerk')).toMatchObject({ versions: [{ version: 1 }] });
  expect(await told('memory', 'show', '--agent', 'clerk')).toMatchObject({
    version: 1,
    text: expect.stringContaining('**Lesson**: Totals count the quantity') as unknown,
  });
  expect(await told('skills', 'list')).toMatchObject({ skills: [{ name: 'release' }] });
  expect(await told('auth', 'list')).toMatchObject({
    profiles: [{ id: 'main', provider: 'anthropic', secret: { env: 'ANTHROPIC_API_KEY' } }],
  });
});

it('is healthy for the doctor', async () => {
  expect(await told('doctor')).toMatchObject({ problems: 0 });
});
