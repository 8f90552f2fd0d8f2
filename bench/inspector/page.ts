/**
 * The page of the inspector over stored logs of a hundred thousand and of a million records: the real command, the real
 * server, a real Chromium without a graphics card. How long until something is seen, and all of it; how long a step
 * through time takes until it is painted; how smoothly the records scroll; what the server and the tab take up. What is
 * painted depends on the machine: these are times, not ratios.
 */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import chromiumPackage from '@sparticuz/chromium';
import { chromium } from 'playwright-core';
import type { Browser, Page } from 'playwright-core';
import { auditChart, charts } from 'wakechart/machines';
import { median, spread } from '../harness.ts';
import type { BenchRow } from '../harness.ts';

const SIZES = [100_000, 1_000_000] as const;
const ROUNDS = 3;
const STEPS = 60;
const RECORDS_PER_TASK = 6;
const program = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** A log of tasks that run one after the other: each is made, started and completed. */
async function writeLog(path: string, records: number): Promise<void> {
  const known = charts.find(({ machine }) => machine.id === 'task');
  if (known === undefined) throw new Error('the catalogue has no chart of tasks');
  const file = createWriteStream(path);
  const line = async (value: object): Promise<void> => {
    if (!file.write(`${JSON.stringify(value)}\n`)) await once(file, 'drain');
  };
  await line({ format: 'inspection-log/1', boot: 'b', startedAt: 1_790_000_000_000 });
  const { chart } = auditChart(known);
  await line({ k: 'machine', s: 1, t: 1_790_000_000_000, a: 'b:x:0', id: 'task', chart });
  await line({
    k: 'actor',
    s: 2,
    t: 1_790_000_000_000,
    a: 'b:x:0',
    id: 'tasks',
    kind: 'taskSupervisor',
    status: 'active',
  });
  for (let s = 3, task = 1; s + RECORDS_PER_TASK <= records + 3; task += 1) {
    const common = (): { s: number; t: number; a: string } => ({ s: s++, t: 1_790_000_000_000 + s, a: `b:x:${task}` });
    await line({
      ...common(),
      k: 'actor',
      parent: 'b:x:0',
      id: `task_${task}`,
      kind: 'task',
      chart: 'task',
      value: 'queued',
      status: 'active',
      facts: { label: `job ${task}` },
    });
    await line({ ...common(), k: 'event', e: task * 2, from: 'b:x:0', type: 'START' });
    await line({
      ...common(),
      k: 'step',
      e: task * 2,
      type: 'START',
      taken: ['queued|START|0'],
      value: { running: 'starting' },
      status: 'active',
    });
    await line({ ...common(), k: 'event', e: task * 2 + 1, type: 'COMPLETE' });
    await line({
      ...common(),
      k: 'step',
      e: task * 2 + 1,
      type: 'COMPLETE',
      taken: ['running|COMPLETE|0'],
      value: 'completed',
      status: 'done',
    });
    await line({ ...common(), k: 'snap', value: 'completed', status: 'done' });
  }
  file.end();
  await once(file, 'close');
}

/** @returns the address that signs one browser in */
async function addressOf(inspect: ChildProcess): Promise<string> {
  let text = '';
  for await (const piece of inspect.stdout ?? []) {
    text += String(piece);
    const address = /http:\/\/[^\s"]+\?token=[\w-]+/.exec(text)?.[0];
    if (address !== undefined) return address;
  }
  throw new Error(`the inspector did not say where it is: ${text}`);
}

interface Seen {
  readonly firstMs: number;
  readonly wholeMs: number;
  readonly stepMs: readonly number[];
  readonly frameMs: readonly number[];
  readonly tabMb: number;
}

async function check(browser: Browser, address: string, records: number): Promise<Seen> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(180_000);
  const begunMs = performance.now();
  await page.goto(address);
  await page.getByRole('treeitem').first().waitFor();
  const firstMs = performance.now() - begunMs;
  await page
    .getByText(
      new RegExp(`^${(records - ((records + 1) % RECORDS_PER_TASK)).toLocaleString('en').slice(0, -3)}\\d{3} records$`),
    )
    .waitFor();
  const wholeMs = performance.now() - begunMs;
  const stepMs = await stepsOf(page);
  const frameMs = await framesOf(page);
  const session = await context.newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  await context.close();
  return { firstMs, wholeMs, stepMs, frameMs, tabMb: usedSize / 2 ** 20 };
}

/** Steps back through time by key: what the page does until it is ready to paint. */
async function stepsOf(page: Page): Promise<readonly number[]> {
  await page.locator('body').press('ArrowLeft');
  return page.evaluate(
    `new Promise((done) => { const times = []; const step = () => { if (times.length === ${STEPS}) return done(times);
      requestAnimationFrame(() => { const begun = performance.now(); document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowLeft', shiftKey: true, bubbles: true, cancelable: true }));
      const channel = new MessageChannel(); requestAnimationFrame(() => { channel.port1.onmessage = () => { times.push(performance.now() - begun); step(); }; channel.port2.postMessage(0); }); }); }; step(); })`,
  );
}

/** Frames while the records scroll from end to end. */
async function framesOf(page: Page): Promise<readonly number[]> {
  return page.evaluate(
    `new Promise((done) => { const list = document.querySelector('[role=listbox][aria-label=Records]'); const times = []; let last = performance.now(); let count = 0;
      const frame = () => { const now = performance.now(); times.push(now - last); last = now; list.scrollTop = (list.scrollHeight - list.clientHeight) * ((count * 7) % 120) / 120; count += 1; if (count < 120) requestAnimationFrame(frame); else done(times.slice(1)); }; requestAnimationFrame(frame); })`,
  );
}

const at = (values: readonly number[], share: number): number =>
  [...values].sort((one, other) => one - other)[Math.floor(share * (values.length - 1))] ?? Number.NaN;

function row(name: string, unit: string, values: readonly number[], limit?: number): BenchRow {
  const value = median(values);
  return {
    name,
    unit,
    value,
    spread: spread(values),
    target: limit === undefined ? '-' : `<= ${limit} ${unit}`,
    met: limit === undefined || value <= limit,
  };
}

async function measured(browser: Browser, folder: string, records: number): Promise<BenchRow[]> {
  const path = join(folder, `${records}.ndjson`);
  await writeLog(path, records);
  const seen: Seen[] = [];
  const serverMb: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const inspect = spawn(process.execPath, [program, 'inspect', path], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      seen.push(await check(browser, await addressOf(inspect), records));
      serverMb.push(
        Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${inspect.pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024,
      );
    } finally {
      inspect.kill('SIGINT');
      await once(inspect, 'exit');
    }
  }
  const of = `${records.toLocaleString('en')} records`;
  const isSmall = records === SIZES[0];
  return [
    row(
      `${of}: first paint of an actor`,
      'ms',
      seen.map(({ firstMs }) => firstMs),
      isSmall ? 1_000 : undefined,
    ),
    row(
      `${of}: all of them read`,
      'ms',
      seen.map(({ wholeMs }) => wholeMs),
    ),
    row(
      `${of}: from a key to a painted step in time, waits for frames included, p50`,
      'ms',
      seen.map(({ stepMs }) => at(stepMs, 0.5)),
      34,
    ),
    row(
      `${of}: from a key to a painted step in time, p99`,
      'ms',
      seen.map(({ stepMs }) => at(stepMs, 0.99)),
    ),
    row(
      `${of}: a frame while scrolling, p50`,
      'ms',
      seen.map(({ frameMs }) => at(frameMs, 0.5)),
      17,
    ),
    row(
      `${of}: a frame while scrolling, p95`,
      'ms',
      seen.map(({ frameMs }) => at(frameMs, 0.95)),
    ),
    row(
      `${of}: memory of the tab`,
      'MB',
      seen.map(({ tabMb }) => tabMb),
    ),
    row(`${of}: memory of the server`, 'MB', serverMb),
  ];
}

export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-page-'));
  const browser = await chromium.launch({
    executablePath: await chromiumPackage.executablePath(),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const rows: BenchRow[] = [];
    for (const size of SIZES) rows.push(...(await measured(browser, folder, size)));
    return rows;
  } finally {
    await browser.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
