/** Each prepared home can be made, and says first what is wrong in it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { TestContext } from 'vitest';
import { whyNoSmallDisk } from '../support/small-disk.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import { until } from './command-line.ts';
import { runInProcess } from './in-process.ts';

const MAKE = fileURLToPath(new URL('../fixtures/stuck-homes/make.mjs', import.meta.url));
/** A model that rests after a failure is waited for once, a minute. */
const LIMIT_MS = 110_000;

/** Made, and at work until the test is over. */
async function made(
  name: string,
  { onTestFinished }: TestContext,
): Promise<{ readonly home: string; readonly command: string }> {
  const folder = await temporaryHome();
  const home = join(folder.path, 'home');
  const maker = spawn(process.execPath, [MAKE, name, home], { stdio: ['ignore', 'pipe', 'inherit'] });
  let told = '';
  maker.stdout.on('data', (piece: Buffer) => (told += piece.toString()));
  const ended = once(maker, 'exit');
  onTestFinished(async () => {
    maker.kill('SIGTERM');
    await ended;
    await folder.remove();
  }, 60_000);
  const command = await until('the command', () => /^wakechart inspect .*$/m.exec(told)?.[0], LIMIT_MS);
  return { home, command };
}

/** Why the session that is no bystander does what it does: the first that was made after that, and works for no other. */
async function toldOf(home: string): Promise<string> {
  const { sessions } = JSON.parse((await runInProcess(['session', 'list', '--json', '--home', home])).stdout) as {
    readonly sessions: readonly { readonly sessionId: string; readonly parent?: unknown }[];
  };
  const [, stuck] = sessions.filter(({ parent }) => parent === undefined);
  const why = await runInProcess(['session', 'why', '--session', stuck?.sessionId ?? '', '--json', '--home', home]);
  const { reasons } = JSON.parse(why.stdout) as { readonly reasons: readonly { readonly text: string }[] };
  return reasons.map(({ text }) => text).join('\n');
}

// What takes long is what they wait for: a lease that runs out, a model that rests.
describe.concurrent('a prepared home', () => {
  it.for([
    ['dead-worker', /Its process has died, .*: it ran shell_run/],
    ['silent-command', /it runs shell_run/],
    ['bad-key', /parked.*Incorrect API key provided/],
    ['question-in-child', /waits for the agent deployer/],
    ['budget-reached', /parked.*maxTokensPerSession/],
    ['two-workers', /Processes take it from each other: .*Its last wake was lost/],
    ['conflict', /came to rest: I could not merge/],
    ['schedule', /The schedule news sends to it next/],
  ] as const)('%s is made, and told', async ([name, text], context) => {
    expect(await toldOf((await made(name, context)).home)).toMatch(text);
  });

  it.skipIf(whyNoSmallDisk !== undefined)('full-disk is made, and told', async (context) => {
    expect(await toldOf((await made('full-disk', context)).home)).toMatch(
      /The disk of its home, .+, is full \(\d+ bytes left\)[^]*trace\.log/,
    );
  });

  it('a program of another author with a missing transition waits for an inspector', async (context) => {
    expect((await made('missing-transition', context)).command).toMatch(/--stately-port \d+$/);
  });
});
