import { describe, expect, it } from 'vitest';
import { readFile } from 'node:fs/promises';
import { VERDICT_RULES } from '../../../src/machines/outcome/outcome-verdict.ts';
import type { SessionEventDraft } from '../../../src/machines/session/session-event.ts';
import { call, evaluated, passedCheck, runs, wanted, writes } from './told-work.ts';

const work = writes('src/a.js');
const verdictOf = (
  drafts: readonly SessionEventDraft[],
  words?: Parameters<typeof evaluated>[1],
): readonly [string, string] => {
  const { verdict, because } = evaluated(drafts, words).evaluation;
  return [verdict, because];
};

describe('an outcome', () => {
  it('is reached when all tests passed after the last change that the log shows', () => {
    const { evaluation } = evaluated([
      wanted(),
      ...runs('npm test', 1, 'tests 3\nfail 1'),
      ...work,
      ...runs('git status', 0, ''),
      ...runs('npm test 2>&1'),
      ...runs('grep -n x src/a.js', 1, ''),
    ]);
    expect(evaluation).toMatchObject({
      verdict: 'pass',
      because: '`npm test 2>&1` exited with 0 after the last change.',
    });
    expect(evaluation.evidence[0]).toEqual({
      kind: 'exit_code',
      speaks: 'for',
      text: 'npm test 2>&1 exited with 0 after the last change',
      seq: 17 - 6 + 3,
    });
  });

  it('is not reached when the same tests failed later, and a part of them that failed is made good by all of them', () => {
    expect(verdictOf([wanted(), ...work, ...runs('npm test'), ...runs('npm test', 1)])[0]).toBe('fail');
    expect(verdictOf([wanted(), ...work, ...runs('npm test -- one', 1), ...runs('npm test')])[0]).toBe('pass');
    expect(verdictOf([wanted(), ...work, ...runs('npm test -- one', 1), ...runs('pytest')])[0]).toBe('fail');
  });

  it('whose criteria are exit codes is reached when they hold, and only then', () => {
    const outcome = wanted({ criteria: ['npm run lint exits with 0', 'node old.js exits with 2'] });
    const lint = runs('npm run lint', 0, '');
    // Commands that nobody knows may change something, so the last of them stands alone.
    expect(verdictOf([outcome, ...lint])).toEqual([
      'uncertain',
      expect.stringContaining('"npm run lint exits with 0"'),
    ]);
    expect(verdictOf([wanted({ criteria: ['npm test exits with 0'] }), ...work, ...runs('npm test')])).toEqual([
      'pass',
      'After the last change "npm test exits with 0" held.',
    ]);
    expect(verdictOf([wanted({ criteria: ['npm test exits with 0'] }), ...work, ...runs('npm test', 3)])).toEqual([
      'fail',
      '"npm test exits with 0" does not hold: it exited with 3.',
    ]);
    expect(
      verdictOf([
        wanted({ criteria: ['grep -c debugger src/a.js exits with 1'] }),
        ...work,
        ...runs('grep -c debugger src/a.js', 1, '0'),
      ])[0],
    ).toBe('pass');
  });

  it('with criteria in words needs a check of its own or a judge, and says which of them nothing covers', () => {
    const outcome = wanted({ criteria: ['npm test exits with 0', 'the docs are up to date'] });
    const done = [outcome, ...work, ...runs('npm test')];
    expect(verdictOf(done)).toEqual(['uncertain', 'Nothing shows whether "the docs are up to date".']);
    expect(verdictOf(done, { checks: [passedCheck('environment')] })[0]).toBe('uncertain');
    expect(verdictOf(done, { checks: [passedCheck()] })[0]).toBe('pass');
    expect(verdictOf(done, { judgement: { verdict: 'pass', because: 'The log shows it.' } })).toEqual([
      'pass',
      'The judge says yes: The log shows it.',
    ]);
  });

  it('fails when any check does, whatever else speaks for it', () => {
    const done = [wanted(), ...work, ...runs('npm test')];
    const judgement = { verdict: 'pass', because: 'Fine.' } as const;
    for (const [ended, verdict] of [
      [{ kind: 'exited', exitCode: 1 }, 'fail'],
      [{ kind: 'exited', exitCode: null }, 'fail'],
      [{ kind: 'exited', exitCode: null, isTimeUp: true }, 'fail'],
      [{ kind: 'not_run', because: 'there is no sandbox' }, 'uncertain'],
    ] as const) {
      expect(
        verdictOf(done, { checks: [passedCheck(), { of: 'environment', command: 'check', ended }], judgement })[0],
      ).toBe(verdict);
    }
    expect(verdictOf(done, { checks: [passedCheck()], judgement: { verdict: 'fail', because: 'No.' } })[0]).toBe(
      'fail',
    );
    expect(
      verdictOf(done, { checks: [passedCheck()], judgement: { verdict: 'uncertain', because: 'Who knows.' } })[0],
    ).toBe('uncertain');
  });

  it('does not pass while nobody knows what a call did, or when something happened meanwhile', () => {
    const lost = call({ name: 'shell_run', input: { command: 'make deploy' }, outcome: 'unknown' });
    expect(verdictOf([wanted(), ...lost], { checks: [passedCheck()] })[0]).toBe('uncertain');
    expect(verdictOf([wanted(), ...lost, ...runs('make deploy')], { checks: [passedCheck()] })[0]).toBe('pass');
    expect(verdictOf([wanted(), ...work], { checks: [passedCheck()], disturbance: 'Somebody wrote.' })).toEqual([
      'uncertain',
      'Somebody wrote.',
    ]);
  });

  it('does not pass by its log alone while a call has failed, and a check of people outweighs that', () => {
    const done = [
      wanted(),
      ...call({ name: 'edit', input: { path: 'src/a.js' }, outcome: 'failed', output: 'not found' }),
      ...runs('npm test'),
    ];
    expect(verdictOf(done)[0]).toBe('uncertain');
    expect(verdictOf(done, { checks: [passedCheck()] })[0]).toBe('pass');
    expect(
      verdictOf([
        ...done.slice(0, 4),
        ...call({ name: 'edit', input: { path: 'src/a.js' }, output: { path: 'src/a.js' } }),
        ...runs('npm test'),
      ])[0],
    ).toBe('pass');
  });

  it('that the agent has set itself takes a check of the environment or a judge', () => {
    const own: SessionEventDraft = { type: 'outcome.defined', data: { title: 'The tests pass.' } };
    const done = [own, ...work, ...runs('npm test')];
    expect(verdictOf(done)).toEqual(['uncertain', expect.stringContaining('has said itself')]);
    expect(verdictOf(done, { checks: [passedCheck('environment')] })[0]).toBe('pass');
  });

  it('is not judged before the session rests and has done something', () => {
    expect(verdictOf([wanted()])).toEqual(['not_ready', 'Nothing has been done since the outcome was defined.']);
    expect(verdictOf([wanted(), ...work], { checks: [passedCheck()] })[0]).toBe('pass');
  });

  it('is weighed by rules of which each stands in the documentation, in their order', async () => {
    const docs = await readFile(new URL('../../../docs/outcomes.md', import.meta.url), 'utf8');
    const rows = [...docs.matchAll(/^\| \d+ \| ([^|]+) \| `(\w+)` \|/gm)].map(([, name, verdict]) => ({
      name,
      verdict,
    }));
    expect(rows).toEqual(VERDICT_RULES);
  });
});
