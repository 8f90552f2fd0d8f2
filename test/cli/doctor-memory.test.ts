/** What `wakechart doctor` makes of what agents know, and of vaults. */
import { appendFile, chmod, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Stage, sleeps } from './stage.ts';

const report = z.object({
  findings: z.array(
    z.object({
      area: z.string(),
      severity: z.string(),
      where: z.string(),
      what: z.string(),
      remedy: z.string(),
      isRepaired: z.boolean(),
    }),
  ),
});

let stage: Stage;
let id: string;
let agentId: string;
let agentFolder: string;

beforeEach(async () => {
  stage = await Stage.open();
  const learnings = [
    { kind: 'lesson' as const, title: 'Build first.', detail: 'The tests need dist.', promoteToMemory: true },
  ];
  ({ id } = await stage.sessionToWake(sleeps('Learned.', { learnings })));
  await stage.runtime.wake(id);
  ({ agentId } = await stage.runtime.sessions.status(id));
  agentFolder = join(stage.home, 'agents', agentId);
});
afterEach(() => stage.close());

const examine = async (...words: readonly string[]): Promise<z.output<typeof report>['findings']> => {
  const { findings } = report.parse(JSON.parse((await stage.run('doctor', '--json', ...words)).stdout));
  return findings.filter(({ area }) => area === 'memory' || area === 'vaults');
};

describe('the doctor', () => {
  it('finds nothing wrong with what a wake has kept', async () => {
    expect(await examine()).toEqual([]);
  });

  it('makes learnings whose records are damaged anew of the logs', async () => {
    const file = join(agentFolder, 'learnings/learnings.jsonl');
    const before = await readFile(file, 'utf8');
    await writeFile(file, 'damaged\n');
    expect(await examine()).toMatchObject([
      { area: 'memory', severity: 'problem', where: agentId, what: expect.stringContaining('1 record') as string },
    ]);
    expect(await examine('--repair')).toMatchObject([{ isRepaired: true }]);
    expect(await readFile(file, 'utf8')).toBe(before);
    expect(await examine()).toEqual([]);
  });

  it('leaves damaged learnings alone while a log cannot be read that may hold them', async () => {
    const file = join(agentFolder, 'learnings/learnings.jsonl');
    await appendFile(file, 'damaged\n');
    const before = await readFile(file, 'utf8');
    const events = join(agentFolder, 'sessions', id, 'events.jsonl');
    await rm(events);
    await symlink('events.jsonl', events);
    expect(await examine('--repair')).toMatchObject([
      { isRepaired: false, remedy: expect.stringContaining('wakechart learnings rebuild') as string },
    ]);
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('tells of a memory whose section somebody has broken', async () => {
    await mkdir(join(agentFolder, 'substrate'), { recursive: true });
    await writeFile(join(agentFolder, 'substrate/MEMORY.md'), '# Mine\n<!-- wakechart:memory:begin -->\nno end\n');
    expect(await examine()).toMatchObject([{ area: 'memory', severity: 'problem', where: agentId }]);
  });

  it('takes an index that cannot be read for a note, and removes it on demand', async () => {
    const index = join(agentFolder, 'retrieval');
    await rm(index, { recursive: true, force: true });
    await mkdir(join(index, `${id}.part`), { recursive: true });
    expect(await examine()).toMatchObject([
      { severity: 'note', where: index, what: expect.stringMatching(/^1 file /) as string },
    ]);
    expect(await examine('--repair')).toMatchObject([{ isRepaired: true }]);
    expect(await examine()).toEqual([]);
    await writeFile(index, 'no folder');
    expect(await examine('--repair')).toMatchObject([{ severity: 'note', where: index, isRepaired: true }]);
    expect(await examine()).toEqual([]);
  });

  it('tells of vaults that others may read or nobody can, and nothing of what is in them', async () => {
    const folder = join(stage.home, 'vaults');
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, 'open.yaml'), 'secrets: {}\n', { mode: 0o600 });
    await chmod(join(folder, 'open.yaml'), 0o644);
    await writeFile(join(folder, 'torn.yaml'), 'swordfish: [', { mode: 0o600 });
    const found = await examine();
    expect(found).toMatchObject([
      { severity: 'problem', where: 'open' },
      { severity: 'problem', where: 'torn' },
    ]);
    expect(JSON.stringify(found)).not.toContain('swordfish');
  });
});

describe('the status of a session', () => {
  const status = async (): Promise<string> => (await stage.run('session', 'status', '--session', id)).stdout;

  it('says what it is to achieve, how that was judged, and what it has learned that waits for it', async () => {
    expect(await status()).toMatch(
      /^learned +1 learning for the memory, waiting: the session has no outcome that could be reached$/m,
    );
    await stage.run('session', 'define-outcome', '--session', id, '--title', 'Green.');
    expect(await status()).toMatch(
      /^outcome +Green\.\nevaluated +not yet\nlearned +1 learning for the memory, waiting: the outcome has not been evaluated$/m,
    );
  });
});
