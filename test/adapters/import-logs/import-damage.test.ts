/** Logs of other runtimes that are torn, doubled, empty or no logs at all, brought over into a real home. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assembleTranscript } from '../../../src/machines/turn/transcript.ts';
import { openboaSession, put, runOf, uniqueId } from './foreign-home.ts';
import { ImportSetup, only } from './import-setup.ts';

let setup: ImportSetup;

beforeAll(async () => {
  setup = await ImportSetup.open();
});

afterAll(() => setup.close());

describe('a damaged log', () => {
  const message = (text: string): object => ({ type: 'message', message: { role: 'user', content: text } });

  it.each([
    [
      'a torn end',
      (log: string) => `${log}{"runId":"r","type":"mess`,
      { line: 3, what: 'the last line is only the beginning of a record', repaired: false },
    ],
    [
      'a damaged line in the middle',
      (log: string) => log.replace('\n', '\n\0\0\0 garbage\n'),
      { line: 2, what: 'the line is no record', repaired: false },
    ],
    [
      'a record on the half of another',
      (log: string) => log.replace('\n', '\n{"type":"message","mess'),
      { line: 2, what: 'the line is no record; what follows in it is', repaired: false },
    ],
    [
      'records without a line end',
      (log: string) => `${log.trimEnd().replaceAll('\n', '')}\n`,
      { line: 1, what: 'records without a line end between them were parted', repaired: true },
    ],
    [
      'line ends of Windows',
      (log: string) => log.replaceAll('\n', '\r\n'),
      { line: 0, what: '2 lines end with a carriage return, which was left out', repaired: true },
    ],
    [
      'a byte order mark',
      (log: string) => `\uFEFF${log}`,
      { line: 0, what: 'it begins with a byte order mark, which was left out', repaired: true },
    ],
    [
      'a record that is too long',
      (log: string) => `${log}${'x'.repeat(9 * 1024 * 1024)}\n`,
      { line: 3, what: 'the line is longer than a record may be', repaired: false },
    ],
  ] as const)('with %s is brought over, and the place is named', async (name, spoil, damage) => {
    const run = `r-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
    const spoilt = spoil(runOf(run, message('still here')));
    const home = await setup.rowboatHome(spoilt, run);
    const report = only(await setup.import({ from: 'rowboat', path: home }));
    expect(report).toMatchObject({ status: 'imported', damaged: 1, damage: [damage] });
    expect(JSON.stringify(assembleTranscript(await setup.eventsOf(report.sessionId ?? '')))).toContain('still here');
    expect(await readFile(join(home, 'runs', `${run}.jsonl`), 'utf8')).toBe(spoilt);
  });

  it('has records once that stand there twice, and texts twice that somebody said twice', async () => {
    const twice = { id: uniqueId(7), ...message('once') };
    const home = await setup.rowboatHome(runOf('r-dup', twice, twice, message('again'), message('again')), 'r-dup');
    const report = only(await setup.import({ from: 'rowboat', path: home }));
    expect(report).toMatchObject({ repeated: 1, unread: 3 });
  });

  it('that is empty is no session', async () => {
    expect(only(await setup.import({ from: 'rowboat', path: await setup.rowboatHome('', 'r-empty') }))).toMatchObject({
      status: 'failed',
      code: 'IMPORT_EMPTY',
    });
  });

  it.each([
    [
      'another file',
      'root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/:/bin/sh\n',
      'found none: 0 unknown and 2 damaged',
    ],
    ['bytes', '\u0000\u0001\u0002 \ufffd', 'found none: 0 unknown and 1 damaged'],
    ['records of something else', '{"a":1}\n[1,2]\n', 'found none: 1 unknown and 1 damaged'],
  ])('that is no log at all (%s) is not copied to where agents can read it', async (_what, content, complaint) => {
    const before = (await setup.runtime.sessions.list()).length;
    for (const dryRun of [true, false]) {
      const report = only(
        await setup.import({
          from: 'rowboat',
          path: await setup.rowboatHome(content, 'r-strange'),
          agentId: 'alpha',
          dryRun,
        }),
      );
      expect(report).toMatchObject({
        status: 'failed',
        code: 'IMPORT_NOT_UNDERSTOOD',
        because: expect.stringContaining(complaint) as string,
        hint: expect.stringContaining('--from openboa') as string,
      });
    }
    expect(await setup.runtime.sessions.list()).toHaveLength(before);
  });

  it('names what is no file where a log was expected, and brings the others', async () => {
    const home = await setup.rowboatHome(runOf('r-whole', message('x')), 'r-whole');
    await mkdir(join(home, 'runs', 'folder.jsonl'));
    execFileSync('mkfifo', [join(home, 'runs', 'pipe.jsonl')]);
    expect(await setup.import({ from: 'rowboat', path: home })).toMatchObject({
      sessions: [{ status: 'imported' }],
      passedOver: [
        {
          path: join('runs', 'pipe.jsonl'),
          because: 'a pipe, a socket or a device, which is not opened',
          isTrouble: false,
        },
        {
          path: join('runs', 'folder.jsonl'),
          because: 'a folder, where the log of a run was expected',
          isTrouble: true,
        },
      ],
    });
  });

  it('is not followed out of the place that was named', async () => {
    const home = await setup.rowboatHome(runOf('r-fine', message('x')), 'r-fine');
    const secret = await put(join(setup.place(), 'secret.jsonl'), runOf('r-secret', message('SECRET')));
    await symlink(secret, join(home, 'runs', 'link.jsonl'));
    const outcome = await setup.import({ from: 'rowboat', path: home });
    expect(outcome).toMatchObject({
      sessions: [{ status: 'imported' }],
      passedOver: [{ path: join('runs', 'link.jsonl'), isTrouble: false }],
    });
    const folder = await openboaSession(setup.place(), { session: uniqueId(8) });
    await rm(join(folder, 'runtime'), { recursive: true });
    await symlink(join(secret, '..'), join(folder, 'runtime'));
    await rm(join(folder, 'events.jsonl'));
    await symlink(secret, join(folder, 'events.jsonl'));
    expect(only(await setup.import({ from: 'openboa', path: folder }))).toMatchObject({
      status: 'failed',
      code: 'IMPORT_UNREADABLE',
    });
  });

  it('of Wakechart itself is refused', async () => {
    const { sessionId } = await setup.runtime.sessions.create({ agentId: 'alpha' });
    const path = setup.layout.session({ agentId: 'alpha', sessionId });
    expect(only(await setup.import({ from: 'openboa', path }))).toMatchObject({
      status: 'failed',
      code: 'IMPORT_OURS',
    });
  });
});
