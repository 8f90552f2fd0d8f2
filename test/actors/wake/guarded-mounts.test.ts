import { describe, expect, it } from 'vitest';
import { guardedPlace } from '../../../src/actors/wake/guarded-places.ts';

describe('the guard of the home', () => {
  it('does not ask for what a mount gives, and does for the same place under its own path', async () => {
    const guard = { protects: () => Promise.resolve(true), isFolder: () => Promise.resolve(true) };
    const call = { reading: undefined, workspaceDirectory: '/ws' };
    expect(await guardedPlace(guard, { ...call, subject: { kind: 'path', path: '/runtime/notes.md', mount: '/runtime', access: 'write' } })).toBeUndefined();
    expect(await guardedPlace(guard, { ...call, subject: { kind: 'path', path: '/home-of-it/sessions/s/runtime/checkpoint.json', access: 'write' } })).toContain('lies in the home');
  });
});
