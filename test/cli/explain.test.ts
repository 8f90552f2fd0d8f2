import { describe, expect, it } from 'vitest';
import { runInProcess } from './in-process.ts';

describe('explain', () => {
  it('says of an error what the page about errors says, as plain text', async () => {
    const { code, stdout, stderr } = await runInProcess(['explain', '[schedule_never_fires]']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^SCHEDULE_NEVER_FIRES\n\nvalidation, recoverable\. Raised by schedules\.\n\n- /);
    expect(stdout).not.toMatch(/[`\\]|\*\*/);
    expect(stdout).not.toContain('SCHEDULE_NOT_FOUND');
  });

  it('prints a document for programs', async () => {
    const { stdout } = await runInProcess(['explain', 'SESSION_NOT_FOUND', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      code: 'SESSION_NOT_FOUND',
      text: expect.stringContaining('not_found') as string,
    });
  });

  it('says which code was probably meant', async () => {
    const { code, stdout, stderr } = await runInProcess(['explain', 'SESION_NOT_FOUND']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('[ERROR_UNKNOWN]\n  hint: Did you mean SESSION_NOT_FOUND? ');
    expect(stderr).not.toContain('more:');
  });

  it('is not named by wrong usage', async () => {
    const failed = await runInProcess(['explain', 'NO_SUCH_THING', '--store', 'nonsense']);
    expect(failed.code).toBe(2);
    expect(failed.stderr).not.toContain('more:');
  });
});
