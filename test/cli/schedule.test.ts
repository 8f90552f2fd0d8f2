import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { Stage } from './stage.ts';

let stage: Stage;
let session: string;

/** The home comes first: what stands behind `--` belongs to the command. */
const inHome = (...words: readonly string[]): string[] => ['--home', stage.home, 'schedule', ...words];

const here = (...words: readonly string[]): Promise<Ended> => runInProcess(inHome(...words));

const add = (id: string, ...words: readonly string[]): Promise<Ended> => here('add', '--id', id, ...words);

interface Shown {
  readonly id: string;
  readonly nextFireAt?: string;
  readonly definition: {
    readonly cron: string;
    readonly timezone: string;
    readonly target: object;
    readonly catchUp: unknown;
    readonly limits: object;
  };
  readonly state: { readonly status: string };
}

const shown = async (id: string): Promise<Shown> => JSON.parse((await here('show', id, '--json')).stdout) as Shown;

const file = (id: string): string => join(stage.home, 'schedules/definitions', `${id}.json`);

beforeAll(async () => {
  stage = await Stage.open();
  session = (await stage.session()).id;
});

afterAll(() => stage.close());

describe.concurrent('a schedule', () => {
  it('is added, listed, shown, paused, resumed and removed, and says that it needs a worker', async () => {
    const added = await add('report', '--cron', '30 2 * * *', '--timezone', 'Europe/Berlin', '--', 'npm', 'run', 'a b');
    expect(added).toMatchObject({ code: 0, stderr: '' });
    expect(added.stdout).toMatch(
      /^Added schedule report, next \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\nSchedules fire only while a worker runs: .* worker --home /,
    );
    const [list, show] = await Promise.all([here('list'), here('show', 'report')]);
    expect(list.stdout).toMatch(
      /^SCHEDULE\s+STATUS\s+NEXT\s+LAST\s+DOES\n[\s\S]*^report\s+active\s+\d{4}-.*runs npm run 'a b'$[\s\S]*Schedules fire only while a worker runs/m,
    );
    expect(show.stdout).toMatch(
      /^when\s+30 2 \* \* \* in Europe\/Berlin$[\s\S]*^catch-up\s+latest$[\s\S]*planned "30 2 \* \* \*" in Europe\/Berlin$/m,
    );
    expect((await here('pause', 'report')).stdout).toBe('Paused schedule report\n');
    expect((await here('list')).stdout).toMatch(/^report\s+paused\s+never/m);
    expect((await here('resume', 'report')).stdout).toMatch(/^Resumed schedule report, next /);
    expect((await here('remove', 'report')).stdout).toBe('Removed schedule report\n');
    expect(await here('show', 'report')).toMatchObject({ code: 1 });
  });

  it('is kept in a file that only its owner may read', async () => {
    await add('private', '--cron', '@daily', '--session', session, '--message', 'Hello.');
    expect((await stat(file('private'))).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file('private'), 'utf8'))).toMatchObject({
      v: 1,
      id: 'private',
      cron: '@daily',
      target: { kind: 'session', sessionId: session, text: 'Hello.' },
    });
  });

  it('takes all of its options', async () => {
    const options = [
      '--catch-up',
      'all',
      '--overlap',
      'queue',
      '--cwd',
      '/',
      '--timeout-ms',
      '5000',
      '--env',
      'TOKEN, HOME',
      '--max-runs',
      '3',
      '--until',
      '2999-01-01T00:00:00+01:00',
      '--max-failures',
      '2',
    ];
    await add('full', '--cron', '0 0 1 1 *', ...options, '--', 'true');
    expect((await shown('full')).definition).toMatchObject({
      target: { kind: 'command', command: 'true', cwd: '/', timeoutMs: 5000, env: ['TOKEN', 'HOME'] },
      catchUp: { all: 100 },
      overlap: 'queue',
      limits: { maxRuns: 3, until: '2998-12-31T23:00:00.000Z', maxFailures: 2 },
    });
  });

  it('is replaced only when that is asked for', async () => {
    await add('twice', '--cron', '0 1 * * *', '--', 'true');
    const again = await add('twice', '--cron', '0 2 * * *', '--', 'true');
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toMatch(/there is a schedule "twice" already .*\n.*--replace/);
    expect((await shown('twice')).definition.cron).toBe('0 1 * * *');
    expect((await add('twice', '--cron', '0 2 * * *', '--replace', '--', 'true')).stdout).toMatch(
      /^Replaced schedule twice/,
    );
    expect((await shown('twice')).definition.cron).toBe('0 2 * * *');
  });

  it('of the same id is added by one of many who try at the same time', async () => {
    const tries = await Promise.all(
      [1, 2, 3, 4].map(() => run(inHome('add', '--id', 'raced', '--cron', '0 1 * * *', '--', 'true'))),
    );
    expect(tries.filter(({ code }) => code === 0)).toHaveLength(1);
    expect(tries.filter(({ stderr }) => stderr.includes('SCHEDULE_EXISTS'))).toHaveLength(3);
  });

  it.each([
    // In Berlin clocks go from 02:00 to 03:00 on 29 March 2026: a job at 02:30 runs at the first instant after the gap.
    [
      'left out by a clock change fires at the first instant after it',
      '2033-03-27',
      '30 2 27 3 *',
      'Europe/Berlin',
      '2033-03-27T01:00:00.000Z',
    ],
    [
      'repeated by a clock change fires the first time',
      '2033-10-30',
      '30 2 30 10 *',
      'Europe/Berlin',
      '2033-10-30T00:30:00.000Z',
    ],
    ['is read in the time zone that is named', '2033-01-01', '0 9 1 1 *', 'Asia/Tokyo', '2033-01-01T00:00:00.000Z'],
  ])('whose time %s', async (name, day, cron, timezone, expected) => {
    const id = `zone-${name.length}`;
    await add(id, '--cron', `0 ${cron} ${day.slice(0, 4)}`, '--timezone', timezone, '--', 'true');
    expect((await shown(id)).nextFireAt).toBe(expected);
  });

  it('that is broken on the disk is listed with what is wrong, hides no other, and can be removed', async () => {
    await mkdir(join(stage.home, 'schedules/definitions'), { recursive: true });
    await writeFile(file('broken'), '{"v":1,"id":"broken"');
    await add('whole', '--cron', '0 1 * * *', '--', 'true');
    const [list, json, show] = await Promise.all([here('list'), here('list', '--json'), here('show', 'broken')]);
    expect(list.stdout).toMatch(/^broken\s+invalid\s.*is not valid/m);
    expect(list.stdout).toMatch(/^whole\s+active/m);
    const { schedules } = JSON.parse(json.stdout) as {
      readonly schedules: readonly { readonly id: string; readonly error?: { readonly code: string } }[];
    };
    expect(schedules.find(({ id }) => id === 'broken')?.error?.code).toBe('SCHEDULE_DEFINITION_INVALID');
    expect(show).toMatchObject({ code: 1 });
    expect(show.stderr).toMatch(/hint: Repair the file/);
    expect(await here('remove', 'broken')).toMatchObject({ code: 0 });
  });
});

describe.concurrent('trying a schedule', () => {
  it('sends its message now, each time it is tried', async () => {
    const { id } = await stage.session();
    await add('try-send', '--cron', '0 1 * * *', '--session', id, '--message', 'Wake up.');
    expect((await here('run', 'try-send')).stdout).toMatch(/^Sent as event 2 of session /);
    expect(await here('run', 'try-send', '--json')).toMatchObject({ code: 0 });
    expect((await stage.eventsOf(id)).filter(({ type }) => type === 'user.message')).toHaveLength(2);
    expect((await shown('try-send')).state).toMatchObject({ status: 'active', runs: 0 });
  });

  it('runs its command in the foreground, where the schedule says, and exits as it does', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'tried-'));
    try {
      await add('try-run', '--cron', '0 1 * * *', '--cwd', folder, '--', 'pwd; exit 3');
      const ended = await run(inHome('run', 'try-run'));
      expect(ended).toMatchObject({ code: 3, stdout: `${folder}\n` });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('is refused where a variable that the command names is not there', async () => {
    await add('try-env', '--cron', '0 1 * * *', '--env', 'NOT_SET_ANYWHERE', '--', 'true');
    const ended = await here('run', 'try-env');
    expect(ended).toMatchObject({ code: 1, stdout: '' });
    expect(ended.stderr).toContain('there is no NOT_SET_ANYWHERE here');
  });
});

describe.concurrent('what is wrong with a schedule', () => {
  it.each([
    [
      'an expression',
      ['--cron', '99 * * * *', '--', 'true'],
      /cannot read the cron expression "99 \* \* \* \*"[\s\S]*hint: Examples:/,
    ],
    [
      'a time zone',
      ['--cron', '0 1 * * *', '--timezone', 'Mars/Olympus', '--', 'true'],
      /there is no time zone "Mars\/Olympus"[\s\S]*IANA name/,
    ],
    ['a date that has passed', ['--cron', '2020-01-01T00:00:00', '--', 'true'], /has no time after/],
    [
      'an end before the first time',
      ['--cron', '0 0 1 1 * 2999', '--until', '2030-01-01T00:00:00Z', '--', 'true'],
      /cannot read|after its end/,
    ],
    [
      'an end without a time zone',
      ['--cron', '0 1 * * *', '--until', '2030-01-01', '--', 'true'],
      /expected a time after --until/,
    ],
    ['nothing to do', ['--cron', '0 1 * * *'], /expected either --session with --message, or a command after --/],
    [
      'two things to do',
      ['--cron', '0 1 * * *', '--session', 'x', '--message', 'y', '--', 'true'],
      /expected either --session/,
    ],
    ['a session without a message', ['--cron', '0 1 * * *', '--session', 'x'], /expected --message with --session/],
    [
      'a message for a command',
      ['--cron', '0 1 * * *', '--message', 'y', '--', 'true'],
      /--message goes with --session/,
    ],
    ['an empty command', ['--cron', '0 1 * * *', '--', ' '], /a command that is not empty/],
    [
      'a variable with a value',
      ['--cron', '0 1 * * *', '--env', 'TOKEN=secret', '--', 'true'],
      /the name of a variable, without a value/,
    ],
    [
      'an unknown policy',
      ['--cron', '0 1 * * *', '--catch-up', 'some', '--', 'true'],
      /Allowed choices are latest, all, skip/,
    ],
  ])('%s is told as wrong usage, and nothing is kept', async (_, words, message) => {
    const ended = await add('wrong', ...words);
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(message);
    expect(ended.stderr).not.toMatch(/\n\s+at /);
    expect((await here('list')).stdout).not.toMatch(/^wrong\s/m);
  });

  it.each(['Upper', '../escape', '', '-dash', 'a'.repeat(65), 'a b'])('the id %j cannot be one', async (id) => {
    expect(await here('add', `--id=${id}`, '--cron', '0 1 * * *', '--', 'true')).toMatchObject({ code: 2 });
    expect((await here('show', '--', id)).code).toBe(2);
  });

  it('a session that is not there, or has ended, is told before anything is kept', async () => {
    const ended = await stage.session();
    await stage.runtime.sessions.terminate(ended.id);
    const [missing, malformed, terminated] = await Promise.all([
      add('lost', '--cron', '0 1 * * *', '--session', '0192f0c1-2345-7abc-8def-0123456789ab', '--message', 'x'),
      add('lost', '--cron', '0 1 * * *', '--session', 'nobody', '--message', 'x'),
      add('lost', '--cron', '0 1 * * *', '--session', ended.id, '--message', 'x'),
    ]);
    expect(missing).toMatchObject({ code: 1 });
    expect(missing.stderr).toMatch(/there is no session "0192f0c1/);
    expect(malformed).toMatchObject({ code: 2 });
    expect(terminated.stderr).toContain('is terminated');
    expect(await here('show', 'lost')).toMatchObject({ code: 1 });
  });

  it('an unknown schedule is answered with those that there are', async () => {
    await add('morning', '--cron', '0 9 * * *', '--', 'true');
    for (const command of ['show', 'pause', 'resume', 'remove', 'run']) {
      const ended = await here(command, 'mornng');
      expect(ended).toMatchObject({ code: 1, stdout: '' });
      expect(ended.stderr).toMatch(/there is no schedule "mornng"[\s\S]*Did you mean "morning"\?/);
    }
  });

  it('a home without schedules says how to add one', async () => {
    const home = await mkdtemp(join(tmpdir(), 'empty-home-'));
    try {
      expect((await runInProcess(['schedule', 'list', '--home', home])).stdout).toMatch(
        /^No schedules in .* yet\. Add one: .* schedule add --help/,
      );
      expect((await runInProcess(['schedule', 'pause', 'any', '--home', home])).stderr).toMatch(
        /There are no schedules in .* yet/,
      );
    } finally {
      await rm(home, { recursive: true });
    }
  });
});
