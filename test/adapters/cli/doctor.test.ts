/** What `wakechart doctor` finds wrong with a home, and puts right. */
import { appendFile, chmod, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { run, start, until } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { Stage, runs, sleeps } from './stage.ts';
import type { StagedSession } from './stage.ts';

let stage: Stage;
let id: string;
let folder: string;

beforeEach(async () => {
  stage = await Stage.open();
  const session = await stage.sessionToWake(runs('echo one'), sleeps('Did one.', { queuedWakes: [{ reason: 'later', delaySeconds: 3_600 }] }));
  ({ id } = session);
  folder = join(session.workspace, '..');
  await stage.runtime.wake(id);
  await stage.run('doctor', '--repair');
});
afterEach(() => stage.close());

interface Report {
  readonly findings: readonly { readonly area: string; readonly severity: string; readonly where: string; readonly what: string; readonly isRepaired: boolean }[];
  readonly problems: number;
}

const examine = async (...words: readonly string[]): Promise<Report & { readonly code: number | null }> => {
  const { code, stdout, stderr } = await stage.run('doctor', '--json', ...words);
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as Report) };
};

describe('the doctor', () => {
  it('finds nothing wrong with a home in order, nor with none at all', async () => {
    expect(await examine()).toMatchObject({ code: 0, findings: [], problems: 0 });
    expect((await stage.run('doctor')).stdout).toBe(`Healthy: ${stage.home}\n`);
    expect((await run(['doctor', '--home', join(stage.home, 'not-there')])).code).toBe(0);
  });

  it('makes views and checkpoints again that do not agree with the log', async () => {
    await writeFile(join(folder, 'session.json'), '{}');
    await writeFile(join(folder, 'runtime/checkpoint.json'), 'torn', { mode: 0o600 });
    expect(await examine()).toMatchObject({ code: 1, problems: 2 });
    expect((await examine('--repair')).findings.every(({ isRepaired }) => isRepaired)).toBe(true);
    expect(await examine()).toMatchObject({ code: 0, findings: [] });
    expect(JSON.parse(await readFile(join(folder, 'session.json'), 'utf8'))).toMatchObject({ state: { sessionId: id, status: 'idle' } });
  });

  it('names the bytes of a log that are no record, and never rewrites them', async () => {
    const log = join(folder, 'events.jsonl');
    await appendFile(log, 'junk\n');
    await appendFile(log, '\n{"crc":"torn');
    const before = await readFile(log);
    const { findings, problems } = await examine('--repair');
    expect(problems).toBe(1);
    expect(findings).toEqual([
      expect.objectContaining({ severity: 'problem', where: log, what: expect.stringMatching(/^5 bytes from byte \d+ on are no record/) }),
      expect.objectContaining({ severity: 'note', where: log, what: 'it ends with 12 bytes that are no whole record' }),
    ]);
    expect(await readFile(log)).toEqual(before);
    await stage.run('session', 'send', '--session', id, '--message', 'Still here.');
    expect((await stage.run('session', 'events', '--session', id)).stdout).toContain('Still here.');
  });

  it('makes the index of what is due again', async () => {
    await rm(join(stage.home, 'activations'), { recursive: true });
    const { findings } = await examine();
    expect(findings).toEqual([expect.objectContaining({ area: 'activations', severity: 'problem', what: '1 sessions have something to do and are not known to be due' })]);
    await examine('--repair');
    expect(await examine()).toMatchObject({ code: 0, findings: [] });
  });

  it('takes from others what they may not read', async () => {
    await chmod(join(folder, 'events.jsonl'), 0o644);
    await chmod(stage.home, 0o755);
    expect(await examine()).toMatchObject({ code: 1, problems: 2 });
    await examine('--repair');
    expect((await stat(join(folder, 'events.jsonl'))).mode & 0o777).toBe(0o600);
    expect((await stat(stage.home)).mode & 0o777).toBe(0o700);
  });

  it('removes what a crash left half-made, when nobody can be at it any more', async () => {
    const leftover = join(folder, '../.new-left');
    await mkdir(leftover);
    expect(await examine()).toMatchObject({ code: 0, findings: [] });
    await utimes(leftover, new Date(0), new Date(0));
    expect((await examine('--repair')).findings).toEqual([expect.objectContaining({ severity: 'note', where: leftover, isRepaired: true })]);
    await expect(stat(leftover)).rejects.toThrow('ENOENT');
  });

  it('names agents and schedules that cannot be read, and leaves them to their owner', async () => {
    await writeFile(join(stage.home, 'agents/actor-1/agent.md'), 'no frontmatter');
    await mkdir(join(stage.home, 'schedules/definitions'), { recursive: true });
    await writeFile(join(stage.home, 'schedules/definitions/broken.json'), '{');
    const { code, findings } = await examine('--repair');
    expect(code).toBe(1);
    expect(findings.map(({ area, where }) => [area, where])).toEqual([['agents', 'actor-1'], ['schedules', 'broken']]);
  });

  it('ends processes that outlived the one that started them', async () => {
    await killedInTheMiddle(await stage.sessionToWake(runs('echo x > started; exec sleep 300')));
    const { findings } = await examine();
    expect(findings).toEqual([expect.objectContaining({ area: 'processes', severity: 'problem', what: expect.stringMatching(/^processes \d+ of task .* outlived/) })]);
    await examine('--repair');
    expect((await examine()).findings.filter(({ area }) => area === 'processes')).toEqual([]);
  });
});

/** A wake in a process of its own that is killed while a command of it runs. */
async function killedInTheMiddle({ id: sessionId, workspace }: StagedSession): Promise<Ended> {
  const waking = start(['wake', '--session', sessionId, '--home', stage.home]);
  await until('the command', async () => (await readFile(join(workspace, 'started'), 'utf8').catch(() => '')) !== '');
  waking.process.kill('SIGKILL');
  return waking.ended;
}
