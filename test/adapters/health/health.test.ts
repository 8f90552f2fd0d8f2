import { execFile } from 'node:child_process';
import { access } from 'node:fs/promises';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import parsePrometheus from 'parse-prometheus-text-format';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHealthHandler } from '../../../src/adapters/health/health-handler.ts';
import { serveHealth } from '../../../src/adapters/health/health-server.ts';
import type { WebServer } from '../../../src/adapters/system/web-server.ts';
import type { RuntimeOperations } from '../../../src/actors/telemetry/runtime-operations.ts';
import { Stage, runs, sleeps } from '../../cli/stage.ts';

let stage: Stage;
const servers: WebServer[] = [];

beforeEach(async () => {
  stage = await Stage.open();
});
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  await stage.close();
});

const served = async (operations: RuntimeOperations = stage.runtime.operations): Promise<string> => {
  const server = await serveHealth({ handler: createHealthHandler({ operations }), host: '127.0.0.1', port: 0 });
  servers.push(server);
  return server.origin;
};
const reasonsOf = async (origin: string): Promise<unknown> => {
  const { reasons } = (await (await fetch(`${origin}/readyz`)).json()) as {
    readonly reasons: readonly { readonly because: string }[];
  };
  return reasons.map(({ because }) => because);
};
const scraped = async (origin: string): Promise<(name: string, labels?: object) => number | undefined> => {
  const response = await fetch(`${origin}/metrics`);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const families = parsePrometheus(await response.text());
  return (name, labels = {}) => {
    const metrics = families.find((family) => family.name === name)?.metrics ?? [];
    const found = metrics.find((metric) =>
      Object.entries(labels).every(([label, value]) => metric.labels?.[label] === value),
    );
    const value = found?.value ?? found?.buckets?.['+Inf'];
    return value === undefined ? undefined : Number(value);
  };
};

describe('the numbers of a worker', () => {
  it('are scraped while it works: wakes by outcome, tokens, money, tools, lag, queue and leases', async () => {
    const origin = await served();
    const { id } = await stage.sessionToWake(
      { ...runs('true'), usage: { inputTokens: 100, outputTokens: 20, cost: 0.5 } },
      sleeps('Done.'),
    );
    const before = await scraped(origin);
    expect(before('wakechart_due_sessions')).toBe(1);
    expect(before('wakechart_store_up')).toBe(1);
    expect(before('wakechart_worker_slots')).toBe(0);
    await stage.runtime.startWorker({ untilIdle: true }).ended;
    expect(await stage.wakeEndings(id)).toEqual(['sleep']);
    const after = await scraped(origin);
    expect(after('wakechart_wakes_total', { agent: 'actor-1', outcome: 'sleep' })).toBe(1);
    expect(after('wakechart_wake_duration_seconds')).toBe(1);
    expect(after('wakechart_wake_lateness_seconds')).toBe(1);
    expect(after('wakechart_tokens_total', { type: 'input' })).toBe(100);
    expect(after('wakechart_cost_usd_total', { provider: 'script' })).toBe(0.5);
    expect(after('wakechart_tool_calls_total', { tool: 'shell_run', outcome: 'completed' })).toBe(1);
    expect(after('wakechart_due_sessions')).toBe(0);
    expect(after('wakechart_lag_seconds')).toBe(0);
    expect(after('wakechart_running_wakes')).toBe(0);
    expect(after('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
  });

  it('count a wake under way as a lease, and not as one that waits', async () => {
    const origin = await served();
    const { workspace } = await stage.sessionToWake(
      runs('touch begun; while [ ! -e go ]; do sleep 0.02; done'),
      sleeps('Done.'),
    );
    const worker = stage.runtime.startWorker();
    await expect
      .poll(
        () =>
          access(`${workspace}/begun`).then(
            () => true,
            () => false,
          ),
        { timeout: 10_000 },
      )
      .toBe(true);
    const during = await scraped(origin);
    expect(during('wakechart_running_wakes')).toBe(1);
    expect(during('wakechart_due_sessions')).toBe(0);
    expect(during('wakechart_worker_slots')).toBe(4);
    expect(during('wakechart_worker_phase', { phase: 'working' })).toBe(1);
    await worker.stop({ running: 'abort' });
  });
});

describe('a program that imports what is built', () => {
  it('has its numbers both ways, and the version among them', async () => {
    await stage.sessionToWake(sleeps('Done.'));
    const program = fileURLToPath(new URL('metered-program.mjs', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [program, stage.home]);
    const { names, text } = JSON.parse(stdout) as { readonly names: readonly string[]; readonly text: string };
    expect(names).toEqual(
      expect.arrayContaining(['wakechart.wakes', 'wakechart.wake_lateness', 'wakechart.due_sessions']),
    );
    expect(text).toMatch(/^wakechart_build_info\{version="\d+\.\d+\.\d+[^"]*",node="\d+[^"]*"\} 1$/m);
    expect(text).toContain('wakechart_wakes_total{agent="actor-1",outcome="sleep"} 1\n');
  });
});

describe('readiness', () => {
  it('is there without a worker, comes with one, and goes when that drains', async () => {
    const origin = await served();
    expect((await fetch(`${origin}/readyz`)).status).toBe(200);
    const { workspace } = await stage.sessionToWake(runs('touch begun; sleep 60'), sleeps('Done.'));
    const worker = stage.runtime.startWorker();
    await expect
      .poll(
        () =>
          access(`${workspace}/begun`).then(
            () => true,
            () => false,
          ),
        { timeout: 10_000 },
      )
      .toBe(true);
    expect(await reasonsOf(origin)).toEqual([]);
    void worker.stop().catch(() => undefined);
    expect((await fetch(`${origin}/readyz`)).status).toBe(503);
    expect(await reasonsOf(origin)).toEqual(['worker_draining']);
    await worker.stop({ running: 'abort' });
    expect(await reasonsOf(origin)).toEqual(['worker_stopped']);
    await stage.runtime.shutdown();
    expect(await reasonsOf(origin)).toEqual(['shut_down']);
    expect((await fetch(`${origin}/healthz`)).status).toBe(200);
  });
});

describe('the port', () => {
  it('knows three paths and two methods, and no name but that of this machine', async () => {
    const origin = await served();
    expect((await fetch(`${origin}/`)).status).toBe(404);
    expect((await fetch(`${origin}/metrics`, { method: 'POST', body: 'x' })).status).toBe(405);
    const head = await fetch(`${origin}/healthz`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const { port } = new URL(origin);
    const status = await new Promise((resolve, reject) => {
      request({ port, path: '/metrics', headers: { host: 'evil.example:80' } }, ({ statusCode, resume }) => {
        void resume;
        resolve(statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(421);
  });

  it('says which other program has it', async () => {
    const { port } = new URL(await served());
    await expect(
      serveHealth({ handler: async () => new Response(), host: '127.0.0.1', port: Number(port) }),
    ).rejects.toMatchObject({ code: 'HEALTH_PORT_TAKEN' });
    await expect(
      serveHealth({ handler: async () => new Response(), host: '192.0.2.1', port: 0 }),
    ).rejects.toMatchObject({ code: 'HEALTH_CANNOT_LISTEN' });
  });
});
