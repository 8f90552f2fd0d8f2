import { describe, expect, it } from 'vitest';
import { endedProgramFailure, exitText, programNotStarted } from '../../../src/machines/run/program-end.ts';

describe('the end of a program', () => {
  it.each([
    [{ code: 3, signal: undefined }, 'it ended with exit code 3'],
    [{ code: undefined, signal: 'SIGKILL' }, 'it was ended by SIGKILL'],
    [{ code: undefined, signal: undefined }, 'it was ended by a signal'],
    [undefined, 'it closed its output and did not end'],
  ])('%j is told in words', (exit, words) => {
    expect(exitText(exit)).toBe(words);
  });
});

describe('a program that could not be started', () => {
  const thrown = (code: string): Error => Object.assign(new Error(`spawn x ${code} TOKEN=secret`), { code });

  it('says why, without what the system said of it', () => {
    expect(programNotStarted(thrown('EACCES'))).toMatchObject({
      message: 'it may not be executed',
      because: 'refused',
    });
    expect(programNotStarted(thrown('ENFILE'))).toMatchObject({
      message: 'the system has no resources left',
      because: 'no_resources',
    });
    expect(programNotStarted(thrown('EWHATEVER')).message).toBe('the system refused it');
    expect(programNotStarted('a text').message).toBe('the system refused it');
  });

  it('is known to be missing, and keeps its cause', () => {
    const cause = thrown('ENOENT');
    expect(programNotStarted(cause)).toMatchObject({ message: 'there is no such program', because: 'missing', cause });
  });
});

describe('a program that printed no message, and was content with that', () => {
  const failure = (printed: string): object => {
    const end = { exit: { code: 0, signal: undefined }, errorOutput: '', isNotUnderstood: true, name: undefined };
    return endedProgramFailure({ ...end, printed }, 0);
  };

  it('is not understood', () => {
    expect(failure('hello, type help')).toMatchObject({ kind: 'format', isNotUnderstood: true });
  });

  it.each([
    ['Rate limit exceeded, try again later', 'rate_limit'],
    ['Error: connect ECONNREFUSED 127.0.0.1:80', 'server_error'],
    ['Not logged in', 'auth'],
  ])('is taken at its word where that says what failed: %s', (printed, kind) => {
    expect(failure(printed)).toMatchObject({ kind });
    expect(failure(printed)).not.toHaveProperty('isNotUnderstood');
  });
});
