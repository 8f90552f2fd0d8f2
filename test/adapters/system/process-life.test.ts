/**
 * Whether a process lives that has left its name: here, in another container, on another machine, on an earlier boot.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { HostLife } from '../../../src/actors/host/host-life.ts';
import {
  isFree,
  isThisProcess,
  livenessHere,
  livenessOf,
  thisProcess,
} from '../../../src/adapters/system/process-life.ts';

const own = thisProcess();
const [boot = ''] = own.system.split('/');
const elsewhere = { ...own, system: `${boot}/pid:[1]` };
const earlier = { ...own, system: 'an-earlier-boot/pid:[1]' };

const lifeThat = (answer: boolean | undefined): HostLife => ({
  token: async () => 'own',
  isAlive: async () => answer,
  close: async () => undefined,
});

async function deadPid(): Promise<number> {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'close');
  return child.pid ?? 0;
}

describe.runIf(process.platform === 'linux')('a process that has left its name', () => {
  it('is seen while it lives, and is not taken for another of its number', () => {
    expect(isThisProcess(own)).toBe(true);
    expect(livenessHere(own)).toBe('alive');
    expect(livenessHere({ ...own, began: '1' })).toBe('gone');
    expect(isThisProcess({ ...own, began: '1' })).toBe(false);
  });

  it('is gone when nobody has its number', async () => {
    const pid = await deadPid();
    expect(isFree(pid)).toBe(true);
    expect(livenessHere({ ...own, pid })).toBe('gone');
    expect(livenessHere({ ...own, pid, began: '' })).toBe('gone');
  });

  it('is unknown where its beginning is not told and somebody has its number', () => {
    expect(livenessHere({ ...own, began: '' })).toBe('unknown');
  });

  it.each([
    ['alive', true],
    ['gone', false],
    ['unknown', undefined],
  ] as const)('is %s in another container when its token is answered with %s', async (liveness, answer) => {
    expect(livenessHere(elsewhere)).toBe('unknown');
    for (const name of [elsewhere, earlier, { ...earlier, host: hostname() }])
      expect(await livenessOf({ ...name, token: 'theirs' }, lifeThat(answer))).toBe(liveness);
  });

  it('is not asked for by its token where its pid tells', async () => {
    expect(await livenessOf({ ...own, token: 'own' }, lifeThat(false))).toBe('alive');
    expect(await livenessOf({ ...own, began: '1', token: 'own' }, lifeThat(true))).toBe('gone');
  });

  it('of which nobody can be asked is gone with an earlier boot of this machine, and else unknown', async () => {
    expect(await livenessOf(earlier, undefined)).toBe('gone');
    expect(await livenessOf({ ...earlier, host: hostname() }, undefined)).toBe('gone');
    expect(await livenessOf({ ...earlier, host: 'another-machine' }, undefined)).toBe('unknown');
    expect(await livenessOf({ ...earlier, token: 'theirs' }, undefined)).toBe('unknown');
    expect(await livenessOf(elsewhere, undefined)).toBe('unknown');
  });
});
