/** An inspection that is sent to somebody else's inspector: here a real WebSocket server, and our own receiver. */
import { once } from 'node:events';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { InspectionRecording } from '../../../src/actors/inspection/inspection-source.ts';
import type { StatelySenderOptions } from '../../../src/adapters/stately/sender-options.ts';
import type { StatelySender } from '../../../src/adapters/stately/stately-sender.ts';
import { createStatelySender } from '../../../src/adapters/stately/stately-sender.ts';
import type { InspectionRecord } from '../../../src/machines/inspection-log/inspection-record.ts';
import { describeChart } from '../../../src/machines/inspection/describe-chart.ts';
import { taskMachine } from '../../../src/machines/task/task-machine.ts';
import { receiver, until, worldOf } from './stately-setup.ts';

/** A recording of its own, of which the oldest may be forgotten. */
class Recorded implements InspectionRecording {
  readonly header = { format: 'inspection-log/1', boot: 'b1', startedAt: 1 } as const;
  #records: InspectionRecord[] = [];
  #newest = 0;
  readonly #listeners = new Set<() => void>();

  constructor() {
    const chart = describeChart(taskMachine);
    this.add(
      { k: 'machine', s: 0, t: 1_000, a: 'b1:x:0', id: 'task', chart },
      {
        k: 'actor',
        s: 0,
        t: 1_000,
        a: 'b1:x:0',
        id: 'task_1',
        chart: 'task',
        value: 'queued',
        status: 'active',
        facts: { label: 'not for others' },
      },
    );
  }

  /** So many are kept. */
  limit = Infinity;

  add(...records: readonly InspectionRecord[]): void {
    this.#records.push(...records.map((record) => ({ ...record, s: (this.#newest += 1) })));
    if (this.#records.length > this.limit) this.forgetAllBut(this.limit);
    for (const listener of this.#listeners) listener();
  }

  step(value: string, data?: unknown): void {
    this.add(
      {
        k: 'event',
        s: 0,
        t: 2_000,
        a: 'b1:x:0',
        e: this.#newest + 1,
        type: 'START',
        ...(data === undefined ? {} : { data }),
      },
      { k: 'action', s: 0, t: 2_000, a: 'b1:x:0', name: 'hidden' },
      {
        k: 'step',
        s: 0,
        t: 2_000,
        a: 'b1:x:0',
        e: this.#newest + 1,
        type: 'START',
        taken: ['queued|START|0'],
        value,
        status: 'active',
        context: { n: 1 },
      },
    );
  }

  forgetAllBut(count: number): void {
    this.#records = this.#records.slice(-count);
  }

  get followers(): number {
    return this.#listeners.size;
  }

  range = (): { readonly first: number; readonly last: number } => ({
    first: this.#newest - this.#records.length + 1,
    last: this.#newest,
  });
  chart = (): undefined => undefined;

  follow(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async *records(from: number): AsyncGenerator<readonly InspectionRecord[]> {
    const page = this.#records.filter(({ s }) => s >= from);
    if (page.length > 0) yield page;
  }
}

interface Frame {
  readonly type: string;
  readonly sessionId: string;
  readonly definition?: string;
  readonly event?: { readonly type: string };
  readonly snapshot?: { readonly value?: unknown; readonly status?: string };
}

/** Somebody else's inspector. */
class Listening {
  readonly frames: Frame[] = [];
  readonly sockets: WebSocket[] = [];
  /** What is done with each that connects. */
  welcome: (socket: WebSocket) => void = () => undefined;
  readonly #server: WebSocketServer;
  #heard: (() => void)[] = [];

  constructor(server: WebSocketServer) {
    this.#server = server;
    server.on('connection', (socket) => {
      this.sockets.push(socket);
      this.welcome(socket);
      this.#wake();
      socket.on('message', (data: Buffer) => {
        this.frames.push(JSON.parse(data.toString('utf8')) as Frame);
        this.#wake();
      });
    });
  }

  static async start(port = 0): Promise<Listening> {
    const server = new WebSocketServer({ host: '127.0.0.1', port });
    await once(server, 'listening');
    const made = new Listening(server);
    onTestFinished(() => made.stop());
    return made;
  }

  get port(): number {
    return (this.#server.address() as { readonly port: number }).port;
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => void this.#heard.push(resolve));
  }

  stop(): void {
    for (const socket of this.sockets) socket.terminate();
    this.#server.close();
  }

  #wake(): void {
    for (const each of this.#heard.splice(0)) each();
  }
}

type SimulatedClock = ReturnType<typeof createSimulatedClock>;

/** How long the clock is asked to wait before each attempt: what it is asked for right after a failure. */
function pausesOf(
  clock: SimulatedClock,
  failures: () => number,
): { readonly watched: SimulatedClock; readonly paused: (attempt: number) => Promise<number> } {
  const pauses: number[] = [];
  let armed: (() => void) | undefined;
  const watched: SimulatedClock = {
    ...clock,
    setTimeout: (callback, delayMs) => {
      const handle = clock.setTimeout(callback, delayMs);
      if (failures() > pauses.length) pauses.push(delayMs);
      armed?.();
      return handle;
    },
  };
  const paused = async (attempt: number): Promise<number> => {
    while (pauses.length < attempt) await new Promise<void>((resolve) => (armed = resolve));
    return pauses[attempt - 1] ?? 0;
  };
  return { watched, paused };
}

interface Sent {
  readonly sender: StatelySender;
  readonly told: string[];
}

async function sending(
  options: Partial<StatelySenderOptions> & Pick<StatelySenderOptions, 'to' | 'recording'>,
): Promise<Sent> {
  const told: string[] = [];
  const sender = await createStatelySender({
    clock: createSystemClock(),
    tell: (text) => void told.push(text),
    ...options,
  });
  onTestFinished(() => sender.close());
  return { sender, told };
}

describe('where an inspection may be sent', () => {
  it.each([
    'ws://inspector.example.com',
    'ws://10.0.0.1',
    'ws://127.0.0.1.example.com',
    'ws://localhost.example.com',
    'ws://[::ffff:127.0.0.1]',
    'http://127.0.0.1',
    'wss://user:pass@example.com',
    'wss://example.com/#x',
    'example.com',
    '',
  ])('is not %j, and nothing is told or sent', async (to) => {
    const told: string[] = [];
    const recording = new Recorded();
    await expect(
      createStatelySender({ to, recording, clock: createSystemClock(), tell: (text) => void told.push(text) }),
    ).rejects.toMatchObject({ code: 'STATELY_SEND_REFUSED', category: 'validation' });
    expect(told).toEqual([]);
    expect(recording.followers).toBe(0);
  });

  it('is told with what leaves before anything does, without what the address may hold of a token', async () => {
    const other = await Listening.start();
    let connectedBefore = -1;
    const told: string[] = [];
    const sender = await createStatelySender({
      to: `ws://127.0.0.1:${other.port}/room?token=geheim`,
      recording: new Recorded(),
      clock: createSystemClock(),
      tell: (text) => {
        connectedBefore = other.sockets.length;
        told.push(text);
      },
    });
    onTestFinished(() => sender.close());
    await sender.drained();
    expect(connectedBefore).toBe(0);
    expect(told[0]).toContain(`127.0.0.1:${other.port}`);
    expect(told[0]).toMatch(/names of states, events/);
    expect(told[0]).toMatch(/payloads/);
    expect(told.join('\n')).not.toContain('geheim');
  });

  it('is nowhere when nobody could be told', async () => {
    const other = await Listening.start();
    const recording = new Recorded();
    const failing = createStatelySender({
      to: `ws://127.0.0.1:${other.port}`,
      recording,
      clock: createSystemClock(),
      tell: () => {
        throw new Error('closed');
      },
    });
    await expect(failing).rejects.toThrow('closed');
    expect(recording.followers).toBe(0);
    expect(other.sockets).toEqual([]);
  });
});

describe('what is sent', () => {
  it('are actors, events and states, what was there first and then what follows', async () => {
    const other = await Listening.start();
    const recording = new Recorded();
    const { sender } = await sending({ to: `ws://localhost:${other.port}`, recording });
    recording.step('running', { by: 'somebody', key: 'sk-1' });
    await other.until(() => other.frames.length === 3);
    expect(
      other.frames.map(({ type, sessionId, event, snapshot }) => [type, sessionId, event?.type, snapshot?.value]),
    ).toEqual([
      ['@xstate.actor', 'b1:x:0', undefined, 'queued'],
      ['@xstate.event', 'b1:x:0', 'START', undefined],
      ['@xstate.snapshot', 'b1:x:0', 'START', 'running'],
    ]);
    expect(JSON.parse(other.frames[0]?.definition ?? '')).toMatchObject({ id: 'task', initial: 'queued' });
    expect(JSON.stringify(other.frames)).not.toMatch(/not for others|hidden/);
    await sender.drained();
    expect(sender.statistics).toEqual({ isConnected: true, sentFrames: 3, droppedRecords: 0, failures: 0 });
  });

  it('holds no secret that is known by then', async () => {
    const other = await Listening.start();
    const recording = new Recorded();
    recording.step('running', { note: 'the key is sk-1' });
    const { sender } = await sending({
      to: `ws://127.0.0.1:${other.port}`,
      recording,
      redact: (text) => text.replaceAll('sk-1', '***'),
    });
    await sender.drained();
    await other.until(() => other.frames.length === 3);
    expect(JSON.stringify(other.frames)).toContain('the key is ***');
  });

  it('is understood by a receiver, which shows the same chart and states', async () => {
    const setup = await receiver();
    const recording = new Recorded();
    await sending({ to: setup.url, recording });
    recording.step('sleeping');
    await until(
      setup.recording,
      async () =>
        (await worldOf(setup.recording)).actors({ text: 'task_1' }).some(({ value }) => value === 'sleeping') ||
        undefined,
    );
    expect(setup.recording.chart('task')?.states.map(({ id }) => id)).toEqual(
      describeChart(taskMachine).states.map(({ id }) => id),
    );
    expect(setup.statistics.lostFrames).toBe(0);
  });

  it('does not come back to where it is received', async () => {
    const setup = await receiver();
    const refused = new Promise<string>((resolve) => {
      void sending({
        to: setup.url,
        recording: setup.recording,
        tell: (text) => (text.startsWith('Not connected') ? resolve(text) : undefined),
      });
    });
    expect(await refused).toContain('508');
    expect(setup.statistics).toMatchObject({ refused: 1, frames: 0 });
  });
});

describe('a connection that is lost', () => {
  it('is made again, tells again who is there, and says what was forgotten meanwhile', async () => {
    const first = await Listening.start();
    const { port } = first;
    const recording = new Recorded();
    const { sender, told } = await sending({
      to: `ws://127.0.0.1:${port}`,
      recording,
      retry: { firstMs: 5, longestMs: 10 },
    });
    await sender.drained();
    first.stop();
    recording.step('running');
    for (let count = 0; count < 10; count += 1) recording.step('sleeping');
    recording.forgetAllBut(3);
    const second = await Listening.start(port);
    await second.until(() => second.frames.some(({ snapshot }) => snapshot?.value === 'sleeping'));
    await sender.drained();
    expect(second.frames[0]).toMatchObject({ type: '@xstate.actor', sessionId: 'b1:x:0' });
    expect(sender.statistics.droppedRecords).toBe(30);
    expect(sender.statistics.failures).toBeGreaterThan(0);
    expect(told.join('\n')).toMatch(/Not connected .*\n(?:Connected to .*\n)?30 records were forgotten/);
  });

  it('is tried again after pauses that grow and stay bounded, and is told of once', async () => {
    const gone = await Listening.start();
    const { port } = gone;
    gone.stop();
    const clock = createSimulatedClock();
    let failures = (): number => 0;
    const { paused, watched } = pausesOf(clock, () => failures());
    const { sender, told } = await sending({
      to: `ws://127.0.0.1:${port}`,
      recording: new Recorded(),
      clock: watched,
      retry: { firstMs: 100, longestMs: 1_000 },
    });
    failures = () => sender.statistics.failures;
    for (let attempt = 1; attempt <= 7; attempt += 1) {
      const pause = await paused(attempt);
      const most = Math.min(1_000, 100 * 2 ** (attempt - 1));
      expect(pause).toBeGreaterThanOrEqual(most / 2);
      expect(pause).toBeLessThanOrEqual(most);
      await clock.advance(1_000);
    }
    expect(told).toHaveLength(2);
    await sender.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('to one that lets in and closes at once is made after pauses that grow, until one has lasted', async () => {
    const other = await Listening.start();
    other.welcome = (socket) => socket.close();
    const clock = createSimulatedClock();
    let failures = (): number => 0;
    const { paused, watched } = pausesOf(clock, () => failures());
    const { sender, told } = await sending({
      to: `ws://127.0.0.1:${other.port}`,
      recording: new Recorded(),
      clock: watched,
      retry: { firstMs: 100, longestMs: 800 },
    });
    failures = () => sender.statistics.failures;
    const expectPause = async (attempt: number, most: number): Promise<void> => {
      const pause = await paused(attempt);
      expect([attempt, pause >= most / 2, pause <= most]).toEqual([attempt, true, true]);
      await clock.advance(pause);
    };
    for (const [index, most] of [100, 200, 400, 800, 800].entries()) await expectPause(index + 1, most);
    expect(sender.statistics.failures).toBe(5);
    expect(told).toHaveLength(2);

    // One that stays for as long as the longest pause begins anew.
    other.welcome = () => undefined;
    await paused(6).then((pause) => clock.advance(pause));
    await sender.drained();
    expect(told).toHaveLength(2);
    await clock.advance(800);
    expect(told).toHaveLength(3);
    other.sockets.at(-1)?.close();
    await expectPause(7, 100);
    expect(told.slice(2).map((text) => text.split(' ')[0])).toEqual(['Connected', 'Not']);
  });

  // What a kernel keeps for two sockets of one machine is some ten megabytes; three times as much is sent.
  it(
    'to one that does not read holds nobody up: little is on its way, the program goes on, what is forgotten meanwhile is counted',
    { timeout: 30_000 },
    async () => {
      const other = await Listening.start();
      const recording = new Recorded();
      recording.limit = 600;
      const { sender, told } = await sending({
        to: `ws://127.0.0.1:${other.port}`,
        recording,
        clock: createSimulatedClock(),
      });
      await other.until(() => other.sockets.length === 1);
      await sender.drained();
      // Before the sender is closed, which waits for it otherwise.
      onTestFinished(() => other.stop());
      other.sockets[0]?.pause();
      const large = Object.fromEntries(Array.from({ length: 4 }, (_, index) => [`part${index}`, 'x'.repeat(1_950)]));
      const steps = 4_000;
      let longestMs = 0;
      for (let count = 0; count < steps; count += 1) {
        recording.step('running', large);
        if (count % 10 > 0) continue;
        const begunMs = performance.now();
        await new Promise<void>((resolve) => void setImmediate(resolve));
        longestMs = Math.max(longestMs, performance.now() - begunMs);
      }
      // As much as the kernel takes, and what is on its way: not what it was asked for, which waits in no other place
      // than the recording.
      const { sentFrames, droppedRecords } = sender.statistics;
      expect([sentFrames < steps, droppedRecords, longestMs < 2_000]).toEqual([true, 0, true]);
      expect(recording.range()).toMatchObject({ last: 2 + steps * 3 });

      other.sockets[0]?.resume();
      recording.step('sleeping');
      await sender.drained();
      await other.until(() => other.frames.at(-1)?.snapshot?.value === 'sleeping');
      const passed = sender.statistics;
      expect(passed.droppedRecords).toBeGreaterThan(steps);
      // Of three records of a step two are frames.
      expect(passed.sentFrames).toBe(other.frames.length);
      expect(Math.abs(((passed.sentFrames - 1) / 2) * 3 + passed.droppedRecords - (steps + 1) * 3)).toBeLessThanOrEqual(
        3,
      );
      expect(told.at(-1)).toMatch(new RegExp(`^\\d+ records were forgotten before they could be sent`));
    },
  );

  it('to one that does not read ends when it is closed', async () => {
    const other = await Listening.start();
    const recording = new Recorded();
    const clock = createSimulatedClock();
    const { sender } = await sending({ to: `ws://127.0.0.1:${other.port}`, recording, clock });
    await other.until(() => other.sockets.length === 1);
    other.sockets[0]?.pause();
    for (let count = 0; count < 4_000; count += 1) recording.step('running', { text: 'x'.repeat(1_000) });
    const closing = sender.close();
    await clock.advance(1_000);
    await closing;
    expect(recording.followers).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is one that does not answer a ping', async () => {
    const other = await Listening.start();
    const clock = createSimulatedClock();
    const { sender, told } = await sending({ to: `ws://127.0.0.1:${other.port}`, recording: new Recorded(), clock });
    await sender.drained();
    other.sockets[0]?.pause();
    await clock.advance(60_000);
    await new Promise<void>((resolve) => void setImmediate(resolve));
    expect(told.join('\n')).toMatch(/has not answered for 30 seconds/);
    expect(sender.statistics.isConnected).toBe(false);
  });
});
