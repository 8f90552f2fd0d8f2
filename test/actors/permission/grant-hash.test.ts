import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { grantHash } from '../../../src/actors/permission/grant-hash.ts';

const call = { tool: 'shell_run', input: { command: 'npm test', timeoutMs: 5 }, cwd: '/ws' };

describe('what a permission is bound to', () => {
  it('is a SHA-256 that anybody can compute again', async () => {
    const text = '["shell_run",{"command":"npm test","timeoutMs":5},"/ws"]';
    expect(await grantHash(call)).toBe(createHash('sha256').update(text).digest('hex'));
  });

  it('does not depend on the order of keys', async () => {
    expect(await grantHash({ cwd: '/ws', input: { timeoutMs: 5, command: 'npm test' }, tool: 'shell_run' })).toBe(await grantHash(call));
  });

  it.each([
    { ...call, tool: 'shell_exec' },
    { ...call, cwd: '/ws/' },
    { ...call, input: { command: 'npm test ', timeoutMs: 5 } },
    { ...call, input: { command: 'npm test', timeoutMs: 6 } },
    { ...call, input: { command: 'npm test' } },
    { ...call, input: { command: 'npm test', timeoutMs: '5' } },
    { ...call, input: ['npm test', 5] },
    { ...call, input: null },
  ])('is another for %j', async (other) => {
    expect(await grantHash(other)).not.toBe(await grantHash(call));
  });

  it('takes a call without input, and none that could not be stored', async () => {
    expect(await grantHash({ ...call, input: undefined })).toBe(await grantHash({ ...call, input: null }));
    await expect(grantHash({ ...call, input: { a: Number.NaN } })).rejects.toMatchObject({ code: 'NOT_JSON' });
  });
});
