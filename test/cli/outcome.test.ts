/** Outcomes from the command line: defined, graded, evaluated, read again. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Stage, runs, sleeps } from './stage.ts';

let stage: Stage;

beforeAll(async () => {
  stage = await Stage.open();
});

afterAll(() => stage.close());

const json = async (...words: readonly string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await stage.run(...words, '--json')).stdout) as Record<string, unknown>;

describe('outcome define', () => {
  it('stores the outcome with its criteria and its check, and says how to go on', async () => {
    const { id } = await stage.session();
    const { code, stdout } = await stage.run(
      'outcome',
      'define',
      '--session',
      id,
      '--title',
      'It works.',
      '--detail',
      'All of it.',
      '--criterion',
      'npm test exits with 0',
      '--criterion',
      'It reads well.',
      '--check',
      'test -e made',
      '--check-seconds',
      '5',
    );
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^Stored as event 2\.\nWhen the session has worked on it: .*outcome evaluate --session/),
    ]);
    expect((await stage.runtime.sessions.status(id)).outcome).toMatchObject({
      title: 'It works.',
      detail: 'All of it.',
      criteria: ['npm test exits with 0', 'It reads well.'],
      check: { command: 'test -e made', timeoutSeconds: 5 },
      by: 'person',
    });
  });

  it.each([
    [['--title', '']],
    [['--title', 'x', '--check-seconds', '5']],
    [['--title', 'x', '--check', 'true', '--check-seconds', '0']],
    [['--title', 'x', '--check', 'true', '--check-seconds', '3601']],
    [['--title', 'x', '--check', 'x'.repeat(2_001)]],
    [['--title', 'x'.repeat(201)]],
    [['--title', 'x', '--criterion', 'x'.repeat(501)]],
    [[]],
  ])('with %j is wrong usage, and stores nothing', async (words) => {
    const { id } = await stage.session();
    expect((await stage.run('outcome', 'define', '--session', id, ...words)).code).toBe(2);
    expect((await stage.runtime.sessions.status(id)).head).toBe(1);
  });
});

describe('outcome grade and history', () => {
  it('tell where a session stands that was never evaluated, and change nothing', async () => {
    const { id } = await stage.sessionToWake(runs('true'), sleeps('Done.'));
    expect((await stage.run('outcome', 'grade', '--session', id)).stdout).toContain(
      'missing_outcome  No outcome is defined',
    );
    await stage.run('outcome', 'define', '--session', id, '--title', 'It works.');
    await stage.runtime.wake(id);
    const { head } = await stage.runtime.sessions.status(id);
    const { stdout } = await stage.run('outcome', 'grade', '--session', id);
    expect(stdout).toMatch(
      /^grade +done_candidate {2}The session rests[^\n]*\noutcome +It works\. \(set by a person\)\npromotion +refused: the outcome has not been evaluated\n$/,
    );
    expect(await json('outcome', 'grade', '--session', id)).toMatchObject({
      sessionId: id,
      grade: 'done_candidate',
      outcome: { title: 'It works.' },
      mayPromote: false,
    });
    expect((await stage.run('outcome', 'history', '--session', id)).stdout).toMatch(
      /^Not evaluated yet\. Evaluate it: /,
    );
    expect(await json('outcome', 'history', '--session', id)).toEqual({
      sessionId: id,
      entries: [],
      trend: 'same',
      fromSeq: 1,
    });
    expect((await stage.runtime.sessions.status(id)).head).toBe(head);
  });

  it('refuse sessions that are not there, and limits that are none', async () => {
    expect(await stage.run('outcome', 'grade', '--session', '0192f0c1-2345-7abc-8def-0123456789ab')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('SESSION_NOT_FOUND') as string,
    });
    const { id } = await stage.session();
    expect((await stage.run('outcome', 'history', '--session', id, '--limit', '0')).code).toBe(2);
  });
});

describe('outcome evaluate', () => {
  it('exits with 0 when the outcome is reached, and with 1 when it is not', async () => {
    const { id } = await stage.sessionToWake(runs('touch made'), sleeps('Done.'));
    const undefinedYet = await stage.run('outcome', 'evaluate', '--session', id);
    expect([undefinedYet.code, undefinedYet.stdout]).toEqual([
      1,
      expect.stringMatching(/^not_ready {2}No outcome is defined[^\n]*\nSay what it is to achieve: /),
    ]);
    await stage.run('outcome', 'define', '--session', id, '--title', 'It is made.', '--check', 'test -e made');
    await stage.runtime.wake(id);
    const reached = await stage.run('outcome', 'evaluate', '--session', id);
    expect([reached.code, reached.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^pass {2}The check of the outcome, `test -e made`, exited with 0\.\n {2}\+ the check[^\n]*\n {2}· shell_run "touch made" exited with 0 \(event \d+\)\nChecked everything up to event \d+\.\n$/,
      ),
    ]);
    expect((await stage.run('outcome', 'grade', '--session', id)).stdout).toContain(
      'promotion  allowed until something is changed',
    );
    expect((await stage.run('outcome', 'history', '--session', id)).stdout).toMatch(
      /EVENT +AT +VERDICT +BECAUSE\n(?:.*pass.*\n)+2 evaluations, trend: same\.\n$/,
    );
    await stage.run('outcome', 'define', '--session', id, '--title', 'It is gone.', '--check', 'test ! -e made');
    expect(await json('outcome', 'evaluate', '--session', id)).toMatchObject({
      sessionId: id,
      verdict: 'not_ready',
      grade: 'in_progress',
    });
    expect((await stage.run('outcome', 'evaluate', '--session', id)).code).toBe(1);
  });
});
