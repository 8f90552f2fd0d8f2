import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { isFastEnough } from '../../scripts/in-memory.mjs';

describe('a folder for temporary files in memory', () => {
  it('is none where there is no such folder', () => {
    expect(isFastEnough(join(tmpdir(), 'nothing-there'))).toBe(false);
  });

  it('is none without room for all tests, and nothing is left of the question', () => {
    const folder = mkdtempSync(join(tmpdir(), 'room-'));
    try {
      expect(isFastEnough(folder, Number.MAX_SAFE_INTEGER)).toBe(false);
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('is the same that this run has, if it has one', () => {
    const { memory, ordinary } = inject('scratchFolders');
    expect(isFastEnough(memory)).toBe(memory !== ordinary);
    expect(readdirSync(memory).filter((name) => name.startsWith('wct-'))).toEqual([]);
  });
});
