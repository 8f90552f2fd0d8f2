/** What `wakechart doctor` finds wrong with a home, and puts right. */
import { appendFile, chmod, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/actors/clock/system-clock.ts';
import { checkSessions } from '../../src/cli/doctor/check-sessions.ts';
import { FileEventStore } from '../../src/adapters/files/file-event-store.ts';
import { HomeLayout } from '../../src/adapters/files/layout.ts';
import { run, start, until } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { Stage, runs, sleeps } from './stage.ts';
import type { StagedSession } from './stage.ts';

let stage: Stage;
let id: string;
let folder: string;

beforeEach(async () => {
  stage = await Stage.open();
  const session = await stage.sessionToWake(
    runs('echo one'),
    sleeps('Did one.', { queuedWakes: [{ reason: 'later', delaySeconds: 3_600 }] }),
  );
  ({ id } = session);
  folder = join(session.workspace, '..');
  await stage.runtime.wake(id);
  await stage.run('doctor', '--repair');
});
afterEach(() => stage.close());

interface Report {
  readonly findings: readonly {
    readonly area: string;
    readonly severity: string;
    readonly where: string;
    readonly what: string;
    readonly remedy: string;
    readonly isRepaired: boolean;
  }[];
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
    expect((await stage.run('doctor')).stdout).toMatch(
      /^Healthy: \S+\nsandbox: off for actor-1: their commands run with all your rights\n$/,
    );
    expect((await run(['doctor', '--home', join(stage.home, 'not-there')])).code).toBe(0);
  });

  it('makes views and checkpoints again that do not agree with the log', async () => {
    await writeFile(join(folder, 'session.json'), '{}');
    await writeFile(join(folder, 'runtime/checkpoint.json'), 'torn', { mode: 0o600 });
    expect(await examine()).toMatchObject({ code: 1, problems: 2 });
    expect((await examine('--repair')).findings.every(({ isRepaired }) => isRepaired)).toBe(true);
    expect(await examine()).toMatchObject({ code: 0, findings: [] });
    expect(JSON.parse(await readFile(join(folder, 'session.json'), 'utf8'))).toMatchObject({
      state: { sessionId: id, status: 'idle' },
    });
  });

  it('says that a log is not whole, and goes on without what is missing only when told to, which the session is told', async () => {
    const log = join(folder, 'events.jsonl');
    const whole = await readFile(log, 'utf8');
    const cut = whole.split('\n\n').slice(0, -2).join('\n\n');
    for (const text of ['', `${cut}\n`]) {
      await writeFile(log, text);
      const lost = {
        code: 1,
        problems: 1,
        findings: [
          { severity: 'problem', where: log, what: expect.stringContaining('the log is not whole'), isRepaired: false },
        ],
      };
      expect(await examine('--repair')).toMatchObject(lost);
      expect(await examine()).toMatchObject(lost);
      const sent = await stage.run('session', 'send', '--session', id, '--message', 'Go on.');
      expect([sent.code, sent.stderr]).toEqual([1, expect.stringContaining('--accept-loss')]);
      expect(await readFile(log, 'utf8')).toBe(text);
    }
    expect(await examine('--repair', '--accept-loss', id)).toMatchObject({
      code: 0,
      findings: [{ where: log, isRepaired: true }],
    });
    expect(await examine()).toMatchObject({ code: 0, findings: [] });
    expect((await stage.run('session', 'events', '--session', id)).stdout).toContain('log.loss_accepted');
    expect((await stage.run('session', 'send', '--session', id, '--message', 'Go on.')).code).toBe(0);
  });

  it('says to delete a session that has lost its beginning, and that is done', async () => {
    await writeFile(join(folder, 'events.jsonl'), '');
    expect((await stage.run('doctor', '--repair', '--accept-loss', id)).code).toBe(1);
    expect(await stage.run('session', 'delete', '--session', id, '--yes')).toMatchObject({ code: 0 });
    expect(await examine()).toMatchObject({ code: 0, findings: [] });
  });

  it('takes a view and a checkpoint that another version made by its own rules for no problem', async () => {
    const view = join(folder, 'session.json');
    const stored = JSON.parse(await readFile(view, 'utf8')) as object;
    await writeFile(view, JSON.stringify({ ...stored, foldVersion: 1_000 }), { mode: 0o600 });
    await writeFile(
      join(folder, 'runtime/checkpoint.json'),
      JSON.stringify({ crc: 1, checkpoint: { foldVersion: 1_000 } }),
      { mode: 0o600 },
    );
    expect(await examine()).toMatchObject({ code: 0, findings: [] });
  });

  it('names the bytes of a log that are no record, and never rewrites them', async () => {
    const log = join(folder, 'events.jsonl');
    await appendFile(log, 'junk\n');
    await appendFile(log, '\n{"crc":"0123');
    const before = await readFile(log);
    const { findings, problems } = await examine('--repair');
    expect(problems).toBe(1);
    expect(findings).toEqual([
      expect.objectContaining({
        severity: 'problem',
        where: log,
        what: expect.stringMatching(/^5 bytes from byte \d+ on are no record/),
      }),
      expect.objectContaining({
        severity: 'note',
        where: log,
        what: '12 bytes at its end are the beginning of a write that was cut off',
      }),
    ]);
    expect(await readFile(log)).toEqual(before);
    await stage.run('session', 'send', '--session', id, '--message', 'Still here.');
    expect((await stage.run('session', 'events', '--session', id)).stdout).toContain('Still here.');
  });

  it('takes a write that was cut off for no problem, before and after somebody has gone on behind it', async () => {
    const log = join(folder, 'events.jsonl');
    await appendFile(log, '\n{"crc":"00000000","len":99,"rec');
    expect(await examine()).toMatchObject({
      code: 0,
      problems: 0,
      findings: [{ severity: 'note', what: '31 bytes at its end are the beginning of a write that was cut off' }],
    });
    await stage.run('session', 'send', '--session', id, '--message', 'On.');
    const { code, problems, findings } = await examine('--repair');
    expect({ code, problems }).toEqual({ code: 0, problems: 0 });
    expect(findings).toEqual([
      expect.objectContaining({
        severity: 'note',
        isRepaired: false,
        what: expect.stringMatching(/^32 bytes from byte \d+ on are the beginning of a write that was cut off$/),
      }),
    ]);
    expect((await stage.run('doctor')).stdout).toContain(`Healthy: ${stage.home}`);
  });

  it('leaves alone what somebody may be writing at this moment', async () => {
    const draft = join(folder, '.session.json.0192f0c1-2345-7abc-8def-0123456789ab.tmp');
    await writeFile(draft, '{', { mode: 0o600 });
    expect(await examine('--repair')).toMatchObject({ code: 0, findings: [] });
    await utimes(draft, new Date(0), new Date(0));
    expect((await examine('--repair')).findings).toEqual([
      expect.objectContaining({ severity: 'note', where: draft, isRepaired: true }),
    ]);
  });

  it('takes the sockets of processes that died for nothing', async () => {
    await killedInTheMiddle(await stage.sessionToWake(runs('echo x > started; exec sleep 300')));
    await examine('--repair');
    const { findings } = await examine();
    expect(findings.filter(({ area }) => area === 'sessions')).toEqual([]);
  });

  it('finds nothing wrong while sessions are made, sent to, woken and deleted', async () => {
    const store = new FileEventStore({ home: stage.home, clock: createSystemClock() });
    const steps = Array.from({ length: 60 }, () =>
      sleeps('Done.', { queuedWakes: [{ reason: 'again', delaySeconds: 1 }] }),
    );
    const busy = [await stage.session(...steps), await stage.session(...steps)];
    const worker = stage.runtime.startWorker({ concurrency: 2 });
    let isOver = false;
    const traffic = (async () => {
      while (!isOver) {
        for (const session of busy)
          await stage.runtime.sessions.send(session.id, { type: 'user.message', text: 'Go on.' });
        const brief = await stage.session(sleeps('Brief.'));
        await stage.runtime.sessions.delete(brief.id);
      }
    })();
    try {
      for (let checks = 0; checks < 15; checks += 1) {
        expect(
          await checkSessions({
            layout: new HomeLayout(stage.home),
            store,
            nowMs: Date.now(),
            renew: () => Promise.resolve(),
          }),
        ).toEqual([]);
      }
    } finally {
      isOver = true;
      await traffic;
      await worker.stop();
      await store.close();
    }
  });

  it('says which repair failed, and goes on with the others', async () => {
    const view = join(folder, 'session.json');
    await rm(view);
    await mkdir(join(view, 'not-empty'), { recursive: true });
    await chmod(view, 0o700);
    await chmod(join(folder, 'events.jsonl'), 0o644);
    const { code, findings } = await examine('--repair');
    expect(code).toBe(1);
    expect(findings.map(({ where, isRepaired }) => [where, isRepaired])).toEqual([
      [view, false],
      [join(folder, 'events.jsonl'), true],
    ]);
    expect(findings[0]?.remedy).toMatch(/^It could not be put right: /);
  });

  it('makes the index of what is due again', async () => {
    await rm(join(stage.home, 'activations'), { recursive: true });
    const { findings } = await examine();
    expect(findings).toEqual([
      expect.objectContaining({
        area: 'activations',
        severity: 'problem',
        what: '1 session with something to do, and not known to be due',
      }),
    ]);
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
    expect((await examine('--repair')).findings).toEqual([
      expect.objectContaining({ severity: 'note', where: leftover, isRepaired: true }),
    ]);
    await expect(stat(leftover)).rejects.toThrow('ENOENT');
  });

  it('names agents and schedules that cannot be read, and leaves them to their owner', async () => {
    await writeFile(join(stage.home, 'agents/actor-1/agent.md'), 'no frontmatter');
    await mkdir(join(stage.home, 'schedules/definitions'), { recursive: true });
    await writeFile(join(stage.home, 'schedules/definitions/broken.json'), '{');
    const { code, findings } = await examine('--repair');
    expect(code).toBe(1);
    expect(findings.map(({ area, where }) => [area, where])).toEqual([
      ['agents', 'actor-1'],
      ['schedules', 'broken'],
    ]);
  });

  it('ends processes that outlived the one that started them', async () => {
    await killedInTheMiddle(await stage.sessionToWake(runs('echo x > started; exec sleep 300')));
    const { findings } = await examine();
    expect(findings).toEqual([
      expect.objectContaining({
        area: 'processes',
        severity: 'problem',
        what: expect.stringMatching(/^processes \d+ of task .* outlived/),
      }),
    ]);
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
