import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { descriptorLimit } from '../../../src/adapters/system/descriptor-limit.ts';

const HEAD = 'Limit                     Soft Limit           Hard Limit           Units     ';

it('is the soft limit of the process, and what every system allows where none is told', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'wakechart-limits-'));
  const limits = join(folder, 'limits');
  const told = async (line: string): Promise<number> => {
    await writeFile(limits, `${HEAD}\n${line}\n`);
    return descriptorLimit(limits);
  };
  try {
    expect(await told('Max open files            4096                 1048576              files     ')).toBe(4_096);
    expect(await told('Max open files            unlimited            unlimited            files     ')).toBe(Infinity);
    expect(await told('Max processes             1                    1                    processes ')).toBe(1_024);
    expect(descriptorLimit(join(folder, 'none'))).toBe(1_024);
    if (process.platform === 'linux') expect(descriptorLimit()).toBeGreaterThan(0);
  } finally {
    await rm(folder, { recursive: true });
  }
});
