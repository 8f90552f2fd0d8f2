import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { listenAddress } from '../../src/cli/worker/listening.ts';
import { records, start } from './command-line.ts';
import type { RunningCommand } from './command-line.ts';
import { Stage, runs, sleeps } from './stage.ts';

interface Line {
  readonly time: string;
  readonly level: string;
  readonly event: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

let stage: Stage;
const workers: RunningCommand[] = [];

beforeEach(async () => {
  stage = await Stage.open();
});
afterEach(async () => {
  for (const { process: child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.splice(0).map(({ ended }) => ended));
  await stage.close();
});

const linesOf = (text: string): Line[] => records(text.replace(/[^\n]*$/, '')) as Line[];

describe('what a worker writes for programs that gather logs', () => {
  it('is one line of JSON for each fact, with its time, level, session, agent, wake, outcome and duration', async () => {
    const { id } = await stage.sessionToWake(sleeps('First\nand second.'));
    const { code, stdout, stderr } = await stage.run('worker', '--until-idle', '--log', 'json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = linesOf(stdout);
    expect(lines.map(({ event }) => event)).toEqual(['wake.started', 'wake.ended', 'worker.ended']);
    expect(lines[1]).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      level: 'info',
      event: 'wake.ended',
      message: expect.stringContaining('and second.') as string,
      session: id,
      agent: 'actor-1',
      wake: expect.any(String) as string,
      outcome: 'sleep',
      status: 'idle',
      model_steps: 1,
      duration_ms: expect.any(Number) as number,
    });
  });

  it('tells an error with its code, also when only errors are told', async () => {
    await stage.sessionToWake({ error: { kind: 'auth', message: 'no such key' } });
    const { code, stdout } = await stage.run('worker', '--until-idle', '--log', 'json', '--log-level', 'error');
    expect(code).toBe(1);
    expect(linesOf(stdout)).toMatchObject([
      { level: 'error', event: 'wake.failed', code: 'RUN_FAILED', message: expect.stringContaining('no such key') },
    ]);
  });

  it('is refused together with --json, and by other names', async () => {
    expect(await stage.run('worker', '--log', 'json', '--json')).toMatchObject({ code: 2, stdout: '' });
    expect(await stage.run('worker', '--log', 'xml')).toMatchObject({ code: 2, stdout: '' });
    expect(await stage.run('worker', '--log-level', 'loud')).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('wakechart worker --listen', () => {
  it('answers probes while it works, and says that it is not ready from the signal on', async () => {
    const { id } = await stage.sessionToWake(
      runs('echo begun; while [ ! -e go ]; do sleep 0.02; done'),
      sleeps('Done.'),
    );
    const worker = start(['worker', '--listen', '0', '--log', 'json', '--home', stage.home]);
    workers.push(worker);
    const listening = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+/.exec(worker.stdout())?.[0];
    await expect.poll(listening, { timeout: 20_000 }).toBeDefined();
    const origin = listening() ?? '';
    const ready = async (): Promise<number> => (await fetch(`${origin}/readyz`)).status;
    await expect.poll(() => worker.stdout(), { timeout: 20_000 }).toContain('wake.started');
    await expect.poll(ready, { timeout: 20_000 }).toBe(200);
    expect(await (await fetch(`${origin}/metrics`)).text()).toContain('wakechart_running_wakes 1\n');
    worker.process.kill('SIGTERM');
    await expect.poll(ready, { timeout: 20_000 }).toBe(503);
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
    await stage.runProgram('session', 'interrupt', '--session', id, '--reason', 'enough');
    expect((await worker.ended).code).toBe(143);
    expect(linesOf(worker.stdout()).map(({ event }) => event)).toContain('worker.draining');
  });

  it('takes a port of this machine, or an address with one', () => {
    expect(listenAddress('9464')).toEqual({ host: '127.0.0.1', port: 9464 });
    expect(listenAddress('localhost:0')).toEqual({ host: '127.0.0.1', port: 0 });
    expect(listenAddress('0.0.0.0:9464')).toEqual({ host: '0.0.0.0', port: 9464 });
    expect(listenAddress('[::]:9464')).toEqual({ host: '::', port: 9464 });
    for (const wrong of ['', ':9464', 'host', '1.2.3.4:', '127.0.0.1:70000', 'a b:1', 'http://x:1'])
      expect(() => listenAddress(wrong)).toThrow(/ADDRESS:PORT/);
  });
});
