import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';

interface JsonReport {
  readonly testResults: readonly { readonly name: string; readonly status: string; readonly message: string }[];
}

interface Run {
  readonly exitCode: number;
  readonly output: string;
  readonly report: JsonReport;
}

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs');

async function runFixtures(...names: string[]): Promise<Run> {
  const arguments_ = [vitest, 'run', '--config', 'test/setup/fixtures/vitest.config.ts', ...names];
  const child = spawn(process.execPath, arguments_, { cwd: checkout, stdio: ['ignore', 'pipe', 'ignore'] });
  const [output, [exitCode]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number]>]);
  const json = output.split('\n').find((line) => line.startsWith('{')) ?? '{"testResults":[]}';
  return { exitCode, output, report: JSON.parse(json) as JsonReport };
}

describe('a test file', () => {
  let run: Run;

  beforeAll(async () => {
    run = await runFixtures('clean', 'daemon', 'folder', 'handle', 'replaced');
  });

  const resultOf = (name: string): JsonReport['testResults'][number] | undefined =>
    run.report.testResults.find((result) => result.name.endsWith(`/${name}.fixture.ts`));

  it('passes when it closes what it opened', () => {
    expect(resultOf('clean')).toMatchObject({ status: 'passed' });
  });

  it('fails when a process it started still runs, even a detached one', () => {
    expect(resultOf('daemon')).toMatchObject({ status: 'failed' });
    expect(resultOf('daemon')?.message).toMatch(/process \d+ still runs: .*forgotten-daemon/);
  });

  it('fails when a server listens or a timer is armed', () => {
    expect(resultOf('handle')?.message).toContain('still open: 1 TCPServerWrap');
    expect(resultOf('handle')?.message).toContain('still open: 1 Timeout');
  });

  it('fails when it leaves a temporary folder', () => {
    expect(resultOf('folder')?.message).toMatch(/still in the temporary folder: forgotten-/);
  });

  it('fails when others come after it in its process and it has not put back what it replaced there', () => {
    const { message } = resultOf('replaced') ?? {};
    expect(message?.match(/not put back: .*/g)).toEqual([
      'not put back: the clock',
      'not put back: the timers',
      'not put back: the variables',
      'not put back: who listens to warning',
    ]);
  });

  it('that left something makes the whole run fail', () => {
    expect(run.exitCode).toBe(1);
    expect(run.output.trimEnd().split('\n').at(-1)).toBe('5 passed, 4 failed');
  });
});

describe.concurrent('a run', () => {
  it('fails when a promise was rejected and nobody listened', async () => {
    const { exitCode, output } = await runFixtures('rejection');
    expect(exitCode).toBe(1);
    expect(output.trimEnd().split('\n').at(-1)).toBe('1 passed, 1 failed');
  });

  it('passes when nothing was left', async () => {
    const { exitCode, output } = await runFixtures('clean');
    expect(output.trimEnd().split('\n').at(-1)).toBe('1 passed, 0 failed');
    expect(exitCode).toBe(0);
  });
});
