/** How failures are told that nobody has put into words: what the system refuses is not taken for a defect of ours. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../src/machines/errors.ts';
import { exitCodeOf, failureText } from '../../src/cli/failure.ts';
import { stylesFor } from '../../src/cli/terminal/styles.ts';

const styles = stylesFor({ isTerminal: false, environment: {} });

function thrownBy(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('expected it to throw');
}

describe('an error of the system', () => {
  it.skipIf(!existsSync('/dev/full'))('that a disk is full says so, and what to do', () => {
    const error = thrownBy(() => writeFileSync('/dev/full', 'x'));
    expect(failureText(error, { styles })).toBe(
      'error: a file could not be read or written: ENOSPC: no space left on device, write [STORAGE_FAILED]\n  hint: The disk is full. Free some space, then try again.\n',
    );
    expect(exitCodeOf(error)).toBe(1);
  });

  it.each(['EACCES', 'EPERM', 'EROFS', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'EFBIG'])('%s is none of ours', (code) => {
    const text = failureText(Object.assign(new Error(`${code}: it says`), { code, syscall: 'open', errno: -1 }), {
      styles,
    });
    expect(text).toContain('[STORAGE_FAILED]');
    expect(text).not.toContain('defect');
  });

  it('that a file is not there which has to be is a defect, like everything that nobody expected', () => {
    for (const error of [
      thrownBy(() => readFileSync('/nowhere/at/all')),
      new TypeError('x is no function'),
      Object.assign(new Error('EACCES'), { code: 'EACCES' }),
      'text',
    ]) {
      expect(failureText(error, { styles })).toContain('This is a defect of Wakechart');
    }
  });
});

it('what a person has ended is told without advice: nothing is to be done', () => {
  const error = new RuntimeError('TASK_CANCELLED', 'a person cancelled it', { category: 'runner' });
  expect(failureText(error, { styles })).not.toContain('hint:');
});
