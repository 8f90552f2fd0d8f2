/**
 * Three programs: one with the inspector of Stately, `wakechart inspect` that shows it, and a second one that the first
 * sends it on to.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { InspectionAbout } from '../../src/actors/inspection/inspection-source.ts';
import { start, until } from './command-line.ts';
import type { RunningCommand } from './command-line.ts';
import { visit } from './inspector-visit.ts';

const PROGRAM = fileURLToPath(new URL('../adapters/stately/fixtures/light-program.mjs', import.meta.url));

const listening = async (running: RunningCommand): Promise<string> =>
  until('its port', () => /ws:\/\/127\.0\.0\.1:\d+/.exec(running.stderr())?.[0]);

it(
  'shows another program, records it, sends it on after it has said so, and ends well',
  { timeout: 60_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'stately-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const begun: RunningCommand[] = [];
    onTestFinished(() => {
      for (const { process: child } of begun) if (child.exitCode === null) child.kill('SIGKILL');
    });
    const command = (...words: readonly string[]): RunningCommand => {
      const running = start(['inspect', '--stately-port', '0', ...words], { cwd: folder });
      begun.push(running);
      return running;
    };
    const last = command('--record', 'run.ndjson');
    const target = await listening(last);
    const first = command('--send-to', target);
    const url = await listening(first);
    const child = spawn(process.execPath, [PROGRAM, url], { stdio: ['pipe', 'ignore', 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    child.stdin.write(`${JSON.stringify({ type: 'GO', allowed: true })}\n`);
    for (const each of [first, last]) {
      const browser = await visit(each);
      await until('the light', async () => (await browser.ask('/api/records')).text.includes('"amber"'));
      expect((await browser.json<InspectionAbout>('/api/about')).title).toContain('XState programs at ws://');
      expect((await browser.ask('/api/charts/light.svg')).text).toContain('<svg');
    }
    expect(first.stderr()).toMatch(/Sending this inspection to 127\.0\.0\.1:\d+/);
    for (const each of [first, last]) {
      each.process.kill('SIGINT');
      expect((await each.ended).code).toBe(0);
    }
    expect(await readFile(join(folder, 'run.ndjson'), 'utf8')).toContain('"amber"');
    const past = start(['inspect', 'run.ndjson'], { cwd: folder });
    begun.push(past);
    expect((await (await visit(past)).ask('/api/charts/light.svg')).text).toContain('<svg');
  },
);
