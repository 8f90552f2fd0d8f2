import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeRuntime } from '../../src/node.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import { start } from './command-line.ts';
import type { RunningCommand } from './command-line.ts';
import { runInProcess } from './in-process.ts';
import { Stage, sleeps } from './stage.ts';

const BACKUP = fileURLToPath(new URL('../../deploy/backup-home.sh', import.meta.url));
const call = promisify(execFile);

let stage: Stage;
let worker: RunningCommand | undefined;

beforeEach(async () => {
  stage = await Stage.open();
});
afterEach(async () => {
  worker?.process.kill('SIGKILL');
  await worker?.ended;
  await stage.close();
});

describe('a home that is copied while a worker and a client are at it', () => {
  it('is whole elsewhere: the doctor finds nothing, each log is a beginning of the one it was, and work goes on', async () => {
    const turns = Array.from({ length: 400 }, (_, n) => sleeps(`Turn ${n}.`));
    const sessions = await Promise.all([stage.session(...turns), stage.session(...turns), stage.session(...turns)]);
    worker = start(['worker', '--home', stage.home]);
    let isOver = false;
    const sending = (async () => {
      for (let n = 0; !isOver; n += 1)
        for (const { id } of sessions)
          await stage.runtime.sessions.send(id, { type: 'user.message', text: `Message ${n}` });
    })().catch(() => undefined);
    await expect.poll(() => worker?.stdout(), { timeout: 30_000 }).toContain('sleep');
    const elsewhere = await temporaryHome();
    for (const n of [1, 2, 3]) {
      const [archive, home] = [join(elsewhere.path, `${n}.tar.gz`), join(elsewhere.path, `home-${n}`)];
      await call(BACKUP, [stage.home, archive]);
      await mkdir(home, { mode: 0o700 });
      await call('tar', ['-xzf', archive, '-C', home]);
    }
    isOver = true;
    await sending;
    worker.process.kill('SIGTERM');
    await worker.ended;
    for (const n of [1, 2, 3]) {
      const home = join(elsewhere.path, `home-${n}`);
      const copy = await createNodeRuntime({ home });
      for (const { id } of sessions) {
        const { head } = await copy.sessions.status(id);
        const ids = async (runtime: typeof copy | Stage['runtime']): Promise<string[]> => {
          const found: string[] = [];
          for await (const event of runtime.sessions.events(id, { limit: head })) found.push(event.id);
          return found;
        };
        expect(head).toBeGreaterThan(0);
        expect(await ids(copy)).toEqual(await ids(stage.runtime));
      }
      await copy.startWorker({ untilIdle: true }).ended;
      for (const { id } of sessions) expect(await copy.sessions.status(id)).toMatchObject({ pending: [] });
      await copy.shutdown();
      expect(await runInProcess(['doctor', '--home', home])).toMatchObject({ code: 0 });
    }
    await elsewhere.remove();
  }, 120_000);
});
