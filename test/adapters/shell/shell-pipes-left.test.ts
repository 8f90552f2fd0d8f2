/** What a process leaves that is killed while it makes pipes, and who removes it. */
import { spawnSync } from 'node:child_process';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { closePipe, takeNamedPipes } from '../../../src/adapters/shell/named-pipes.ts';

it('folders of processes that are gone are removed with the next pipes that are made, and no others', async () => {
  const { pid: gone } = spawnSync('true');
  const folders = [
    `wakechart-pipes-${gone}-left`,
    `wakechart-pipes-${process.pid}-mine`,
    'wakechart-pipes-of-somebody',
  ];
  for (const name of folders) await mkdir(join(tmpdir(), name));
  for (const pipe of (await takeNamedPipes(1)) ?? []) closePipe(pipe);
  const left = (await readdir(tmpdir())).filter((name) => folders.includes(name));
  for (const name of left) await rm(join(tmpdir(), name), { recursive: true });
  expect(left.toSorted()).toEqual(folders.slice(1).toSorted());
});
