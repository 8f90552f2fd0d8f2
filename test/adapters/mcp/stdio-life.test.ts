/** How connections to programs begin, end, fail and come back. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import type { SimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { Deadline } from '../../../src/adapters/mcp/mcp-link.ts';
import { eventually, isRunning } from '../process-tree/system-processes.ts';
import { fixture, mcpSetup, namesOf } from './mcp-setup.ts';
import type { McpSetup } from './mcp-setup.ts';

let setup: McpSetup;

beforeEach(async () => {
  setup = await mcpSetup();
});
afterEach(async () => {
  await setup.close();
});

/** Settles with `work`, while simulated time goes by a hundred times as fast as real time. */
async function whileTimePasses<Result>(clock: SimulatedClock, work: Promise<Result>): Promise<Result> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) {
    await clock.advance(50);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return work;
}

describe('a server that does not start as it should', () => {
  it('may take its time', async () => {
    expect(await setup.call(setup.fixtureServer('--slow-start=300'), 'echo', { text: 'late' })).toBe('late');
  });

  it('and never says a word is ended when its time is over', async () => {
    const clock = createSimulatedClock();
    const own = await mcpSetup({ clock });
    try {
      const server = { ...own.fixtureServer(), args: [fixture('silent-server.mjs')], startTimeoutMs: 20_000 };
      const told = own.tools(server).catch((error: unknown) => error);
      await eventually(() => own.starts().length > 0, 'it has begun');
      const failure = await whileTimePasses(clock, told);
      expect(failure).toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE' });
      expect(String(failure)).toContain('not ready within 20000 ms');
      for (const pid of own.starts()) expect(isRunning(pid)).toBe(false);
    } finally {
      await own.close();
    }
  });

  it('is tried a few times, then left alone for a while', async () => {
    const clock = createSimulatedClock();
    const own = await mcpSetup({ clock });
    try {
      const server = { ...own.fixtureServer('--die'), startTimeoutMs: 3_600_000 };
      await expect(whileTimePasses(clock, own.tools(server))).rejects.toMatchObject({
        code: 'TOOL_SERVER_UNAVAILABLE',
        message: expect.stringMatching(/exit code 7.*dying at the start.*after 4 attempts/s) as string,
      });
      expect(own.starts()).toHaveLength(4);
      await expect(own.tools(server)).rejects.toThrow(/left alone for another 30 s; the last failure: .*exit code 7/);
      expect(own.starts()).toHaveLength(4);
      await clock.advance(30_000);
      const again = own.tools(server);
      again.catch(() => undefined);
      await eventually(() => own.starts().length > 4, 'it is tried again');
    } finally {
      await own.close();
    }
  });
});

describe('a server that crashes with every call', () => {
  it('is started again a few times, then left alone for a while', async () => {
    const clock = createSimulatedClock();
    const own = await mcpSetup({ clock });
    try {
      const server = { ...own.fixtureServer(), startTimeoutMs: 3_600_000 };
      const codes: unknown[] = [];
      for (let call = 0; call < 5; call += 1) {
        const crash = own.call(server, 'crash').catch((error: unknown) => error);
        codes.push(((await whileTimePasses(clock, crash)) as { code?: unknown }).code);
      }
      expect(codes).toEqual([...Array.from({ length: 4 }, () => 'TOOL_SERVER_LOST'), 'TOOL_SERVER_UNAVAILABLE']);
      expect(own.starts()).toHaveLength(4);
    } finally {
      await own.close();
    }
  });
});

describe('a time limit', () => {
  it('begins anew with each sign of life, up to a limit of all', async () => {
    const clock = createSimulatedClock();
    const reached: number[] = [];
    const deadline = new Deadline({
      clock,
      limitMs: 100,
      totalMs: 1_000,
      onReached: (limitMs) => reached.push(limitMs),
    });
    for (let step = 0; step < 12; step += 1) {
      await clock.advance(90);
      deadline.extend();
    }
    expect(reached).toEqual([1_000]);
    const quiet = new Deadline({ clock, limitMs: 100, totalMs: 1_000, onReached: (limitMs) => reached.push(limitMs) });
    await clock.advance(100);
    quiet.end();
    expect(reached).toEqual([1_000, 100]);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a connection', () => {
  it('that is given no time at all leaves no program behind', async () => {
    await expect(setup.tools({ ...setup.fixtureServer('--stay'), startTimeoutMs: 1 })).rejects.toThrow(
      /not ready within 1 ms/,
    );
    expect(setup.starts().filter(isRunning)).toEqual([]);
  });

  it('is let go when nobody has used it for long, and made again when somebody does', async () => {
    const clock = createSimulatedClock();
    const own = await mcpSetup({ clock });
    try {
      await own.call(own.fixtureServer(), 'echo', { text: 'a' });
      await clock.advance(299_000);
      expect(own.starts().map(isRunning)).toEqual([true]);
      await clock.advance(1_000);
      await eventually(() => !own.starts().some(isRunning), 'the server is gone');
      expect(own.news).toContainEqual(expect.stringMatching(/^rested/));
      expect(await own.call(own.fixtureServer(), 'echo', { text: 'b' })).toBe('b');
      expect(own.starts()).toHaveLength(2);
    } finally {
      await own.close();
    }
  });

  it('ends with the source, and whatever the server started with it, even what ignores SIGTERM', async () => {
    const server = setup.fixtureServer('--stay');
    const grandchild = Number(await setup.call(server, 'grandchild'));
    const [pid = 0] = setup.starts();
    expect([pid, grandchild].map(isRunning)).toEqual([true, true]);
    await setup.source.close('the end');
    expect([pid, grandchild].map(isRunning)).toEqual([false, false]);
    await expect(setup.tools(server)).rejects.toMatchObject({
      code: 'TOOL_SERVER_UNAVAILABLE',
      message: expect.stringContaining('the end') as string,
    });
  });

  it('that is being made when the source closes leaves nothing behind', async () => {
    const tools = setup.tools(setup.fixtureServer('--slow-start=10000', '--stay'));
    tools.catch(() => undefined);
    const [pid = 0] = await eventually(() => setup.starts().length > 0 && setup.starts(), 'the server starts');
    await setup.source.close();
    await expect(tools).rejects.toMatchObject({ code: 'TOOL_SERVER_UNAVAILABLE' });
    expect(isRunning(pid)).toBe(false);
  });

  it('fails the calls that run when the source closes', async () => {
    const call = setup.call(setup.fixtureServer(), 'hang', { file: join(setup.directory, 'f') });
    call.catch(() => undefined);
    await eventually(() => existsSync(join(setup.directory, 'f.started')), 'the call runs');
    await setup.source.close();
    await expect(call).rejects.toMatchObject({ code: 'TOOL_SERVER_LOST' });
  });

  it('is not given up by one who stops waiting for it', async () => {
    const server = setup.fixtureServer('--slow-start=200');
    const stop = new AbortController();
    const [first, second] = [setup.tools(server, { signal: stop.signal }), setup.tools(server)];
    stop.abort(new Error('never mind'));
    await expect(first).rejects.toThrow('never mind');
    expect(namesOf(await second)).toContain('s__echo');
    expect(setup.starts()).toHaveLength(1);
  });
});
