/** Who lives, asked of real processes: some are killed, some stopped, some in namespaces of their own. */
import { execFileSync, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HostLife } from '../../../src/actors/host/host-life.ts';
import { createHostLife, newToken, placeHere } from '../../../src/adapters/host-life/socket-host-life.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const adapter = JSON.stringify(
  fileURLToPath(new URL('../../../dist/adapters/host-life/socket-host-life.js', import.meta.url)),
);

let home: TemporaryHome;
let directory: string;
const lives: HostLife[] = [];
const children: ChildProcess[] = [];

beforeEach(async () => {
  home = await temporaryHome();
  directory = join(home.path, 'hosts');
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const life of lives.splice(0)) await life.close();
  await home.remove();
});

function open(options: Partial<Parameters<typeof createHostLife>[0]> = {}): HostLife {
  const life = createHostLife({ directory, ...options });
  lives.push(life);
  return life;
}

async function tokenOf(life: HostLife): Promise<string> {
  const token = await life.token();
  if (token === undefined) throw new Error('there is no token');
  return token;
}

interface Host {
  readonly process: ChildProcess;
  readonly token: string;
  ask(token: string): Promise<string>;
}

/** A process that says its token, and answers whether those that it is given live. */
async function startHost(before: readonly string[] = []): Promise<Host> {
  const script = `
    const { createHostLife } = await import(${adapter});
    const { createInterface } = await import('node:readline');
    const life = createHostLife({ directory: ${JSON.stringify(directory)} });
    console.log(await life.token());
    for await (const token of createInterface({ input: process.stdin })) console.log(String(await life.isAlive(token)));`;
  const [file, ...command] = [...before, process.execPath, '--input-type=module', '-e', script];
  const child = spawn(file, command, { stdio: ['pipe', 'pipe', 'inherit'] });
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  const token = await next();
  return {
    process: child,
    token,
    ask: (asked) => {
      child.stdin.write(`${asked}\n`);
      return next();
    },
  };
}

async function killed({ process: child }: Host): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

const UNSHARE = 'unshare';

function canUnshare(...flags: readonly string[]): boolean {
  try {
    execFileSync(UNSHARE, [...flags, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    process.stderr.write(
      `host life: ${UNSHARE} ${flags.join(' ')} does not work here, so nobody tests who lives in such a namespace\n`,
    );
    return false;
  }
}

const PID_NAMESPACE = ['--pid', '--fork', '--mount-proc', '--kill-child'] as const;
const NETWORK_NAMESPACE = ['--net'] as const;

describe('a process', () => {
  it('lives for itself and for others, and not any more when it has let go', async () => {
    const [one, other] = [open(), open()];
    const token = await tokenOf(one);
    expect([await one.isAlive(token), await other.isAlive(token)]).toEqual([true, true]);
    await one.close();
    expect(await other.isAlive(token)).toBe(false);
    expect(await one.token()).toBeUndefined();
    expect(await readdir(directory)).toEqual([]);
  });

  it('has one token, however often and however much at once it is asked for', async () => {
    const life = open();
    const tokens = await Promise.all([life.token(), life.token(), life.token()]);
    expect(new Set(tokens)).toHaveLength(1);
    expect(await readdir(directory)).toEqual([`${tokens[0]}.sock`]);
  });

  it('is there for its owner only', async () => {
    const token = await tokenOf(open());
    expect((await stat(directory)).mode & 0o777).toBe(0o700);
    expect((await stat(join(directory, `${token}.sock`))).mode & 0o777).toBe(0o600);
  });

  it('that is killed is dead at once, and one that is stopped is not', async () => {
    const host = await startHost();
    const life = open();
    expect(await life.isAlive(host.token)).toBe(true);
    host.process.kill('SIGSTOP');
    expect(await life.isAlive(host.token)).toBe(true);
    await killed(host);
    expect(await life.isAlive(host.token)).toBe(false);
    expect(await readdir(directory)).toEqual([`${host.token}.sock`]);
  });

  it('that starts takes away what dead ones left, and nothing of the living', async () => {
    const [dead, living] = [await startHost(), await startHost()];
    await killed(dead);
    const draft = join(directory, 'left.new');
    await writeFile(draft, '');
    await utimes(draft, new Date(0), new Date(0));
    await writeFile(join(directory, 'young.new'), '');
    const life = open();
    const token = await tokenOf(life);
    await expect
      .poll(() => readdir(directory).then((names) => names.toSorted()))
      .toEqual([`${living.token}.sock`, `${token}.sock`, 'young.new'].toSorted());
    expect(await living.ask(token)).toBe('true');
  });

  it('does not need a short path', async () => {
    const deep = join(home.path, 'long'.repeat(20), 'longer'.repeat(20));
    await mkdir(deep, { recursive: true });
    const [one, other] = [open({ directory: join(deep, 'hosts') }), open({ directory: join(deep, 'hosts') })];
    const token = await tokenOf(one);
    expect(await other.isAlive(token)).toBe(true);
    await one.close();
    expect(await other.isAlive(token)).toBe(false);
  });

  it('has no token where there can be no socket', async () => {
    await writeFile(directory, 'no folder');
    expect(await open().token()).toBeUndefined();
  });
});

describe('who only asks', () => {
  it('makes nothing', async () => {
    expect(await open().isAlive(newToken(placeHere()))).toBe(false);
    await expect(readdir(directory)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('cannot tell of what is no token', async () => {
    for (const token of ['', 'x', '../../../etc/passwd', `${newToken(placeHere())}/..`])
      expect(await open().isAlive(token)).toBeUndefined();
  });
});

describe('a process of another boot', () => {
  const here = placeHere();
  const elsewhere = { boot: 'b'.repeat(12), machine: 'c'.repeat(12) };
  /** Of the kernel, so that it is of no disk of this machine. */
  const NOT_LOCAL = '/proc';

  it('of the same machine is dead', async () => {
    const earlier = newToken({ ...here, boot: elsewhere.boot });
    expect(await open({ directory: NOT_LOCAL }).isAlive(earlier)).toBe(false);
  });

  it.runIf(process.platform === 'linux')(
    'of another machine cannot be told to be dead where both may use the folder, and leaves its socket in peace',
    async () => {
      expect(await open({ directory: NOT_LOCAL }).isAlive(newToken(elsewhere))).toBeUndefined();
    },
  );

  it('that does not name its boots is asked on its own machine only', async () => {
    const nameless = { ...here, boot: '0'.repeat(12) };
    const one = open({ place: nameless });
    expect(await open({ place: nameless }).isAlive(await tokenOf(one))).toBe(true);
    expect(
      await open({ place: { ...nameless, machine: elsewhere.machine }, directory: NOT_LOCAL }).isAlive(
        await tokenOf(one),
      ),
    ).toBeUndefined();
  });
});

describe.each([
  ['pid', PID_NAMESPACE],
  ['network', NETWORK_NAMESPACE],
] as const)('a process in another %s namespace', (_name, flags) => {
  it.runIf(canUnshare(...flags))('is seen to live and to die, and sees others do so', async () => {
    const host = await startHost([UNSHARE, ...flags]);
    const life = open();
    const token = await tokenOf(life);
    expect(await life.isAlive(host.token)).toBe(true);
    expect(await host.ask(token)).toBe('true');
    await life.close();
    expect(await host.ask(token)).toBe('false');
    await killed(host);
    const next = open();
    await expect.poll(() => next.isAlive(host.token)).toBe(false);
  });
});
