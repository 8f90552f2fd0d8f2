/**
 * The life of a connection to an MCP server: the real one on a simulated clock, to a real server in this process, over
 * real HTTP; attempts begin when they are told to.
 */
import { afterAll, beforeAll, expect } from 'vitest';
import { createSimulatedClock } from '../../../src/actors/clock/simulated-clock.ts';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import { loadMcpSdk } from '../../../src/adapters/mcp/load-sdk.ts';
import { McpConnection } from '../../../src/adapters/mcp/mcp-connection.ts';
import type { LinkEvents } from '../../../src/adapters/mcp/mcp-connection.ts';
import { McpLink, StartTimeout } from '../../../src/adapters/mcp/mcp-link.ts';
import { HopelessAttempt } from '../../../src/adapters/mcp/server-errors.ts';
import { settingsOf } from '../../../src/adapters/mcp/server-settings.ts';
import { createProcessTree } from '../../../src/adapters/process-tree/process-tree.ts';
import { mcpServer } from '../../../src/machines/agent/mcp-server.ts';
import { mcpConnectionLifecycle } from '../../../src/machines/turn/mcp-connection-machine.ts';
import { httpMcpServer } from '../../adapters/mcp/http-server.ts';
import type { HttpMcpServer } from '../../adapters/mcp/http-server.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { describeModel } from '../../support/chart-model-suite.ts';
import { watchChart } from '../../support/chart-model-watch.ts';
import { settled } from '../../support/manual-runner.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

const LABEL = { agentId: 'agent-1', server: 's' };
const BACK_OFF_MS = 1_800;
const COOL_DOWN_MS = 30_000;
const IDLE_MS = 36_000_000;
/** No attempt is late, however long nothing happens. */
const START_TIMEOUT_MS = 1_000 * IDLE_MS;
/** Failures in a row, short lives among them, before the server is left alone. */
const MAX_FAILURES = 4;

let server: HttpMcpServer;
let home: TemporaryHome;
beforeAll(async () => {
  [server, home] = await Promise.all([httpMcpServer({ isPlain: true }), temporaryHome()]);
});
afterAll(async () => {
  await server.close();
  await home.remove();
});

interface Facts {
  failures: number;
  /** It has been ready so long that its end is no failure. */
  isLasting: boolean;
}

interface Attempt {
  readonly succeed: () => void;
  readonly fail: (error: Error) => void;
}

class Real implements RealSubject {
  readonly #watch = watchChart(mcpConnectionLifecycle);
  readonly #clock = createSimulatedClock();
  readonly #connection: McpConnection;
  readonly #uses: Promise<unknown>[] = [];
  readonly #news: string[] = [];
  #attempt: Attempt | undefined;
  #events: LinkEvents | undefined;

  constructor() {
    const settings = settingsOf(mcpServer.parse({ url: server.url }), {
      agentDirectory: home.path,
      environment: {},
      session: undefined,
    });
    const shared = {
      label: LABEL,
      settings,
      clock: this.#clock,
      clientInfo: { name: 'tests', version: '0.0.0' },
      processTree: createProcessTree({ clock: createSystemClock(), directory: home.path }),
      killGraceMs: 1,
      onNoise: () => undefined,
    };
    this.#connection = new McpConnection({
      label: LABEL,
      clock: this.#clock,
      startTimeoutMs: START_TIMEOUT_MS,
      idleMs: IDLE_MS,
      open: async (events, timeoutMs) => {
        this.#events = events;
        await new Promise<void>((succeed, fail) => {
          this.#attempt = { succeed, fail };
          events.signal.addEventListener('abort', () => fail(new Error('it is being closed')), { once: true });
        });
        return McpLink.open({ ...shared, ...events, sdk: await loadMcpSdk() }, timeoutMs);
      },
      list: { server: 's', settings, timeoutMs: START_TIMEOUT_MS, onLeftOut: () => undefined },
      onNews: (kind) => this.#news.push(kind),
      onIdle: () => undefined,
    });
  }

  state(): never {
    return this.#connection.state as never;
  }

  taken(): readonly string[] {
    return this.#watch.lives[0]?.taken ?? [];
  }

  can(event: string): boolean | undefined {
    return this.#watch.lives[0]?.can(event);
  }

  /** What was told, but for what is not about the connection itself. */
  get news(): readonly string[] {
    return this.#news;
  }

  async need(): Promise<void> {
    const use = this.#connection.use(async () => 'used', { signal: new AbortController().signal, isRepeatable: false });
    this.#uses.push(use.catch(() => undefined));
    await settled();
  }

  async answer(): Promise<void> {
    this.#attempt?.succeed();
    await this.#uses.at(-1);
  }

  async fail(error: Error): Promise<void> {
    this.#attempt?.fail(error);
    await settled();
  }

  async lose(): Promise<void> {
    this.#events?.onLost('the server has ended');
    await settled();
  }

  async pass(durationMs: number): Promise<void> {
    await this.#clock.advance(durationMs);
    await settled();
  }

  async end(): Promise<void> {
    await this.#connection.close('the tests are over');
  }

  async close(): Promise<void> {
    await this.end();
    await Promise.all(this.#uses);
    this.#watch.end();
    expect(this.#clock.pendingTimers).toBe(0);
    expect(server.openSessions).toBe(0);
  }
}

type Model = ChartModel<Facts>;

const isConnecting = (model: Model): boolean => model.is('connecting');

function failed(model: Model, { isLate = false } = {}): void {
  const { facts } = model;
  facts.failures += 1;
  if (facts.failures < MAX_FAILURES && !isLate) return model.tell('BACK_OFF');
  model.tell('EXHAUST');
  facts.failures = 0;
}

/** What becomes of it in that time, but for the rest that it is given when nobody needs it. */
function pass(model: Model, durationMs: number): void {
  if (model.is('reconnecting')) model.tell('CONNECT');
  if (durationMs < COOL_DOWN_MS) return;
  model.tell('COOLED');
  model.facts.isLasting = true;
}

describeModel<Facts, Real>(
  'a connection to an MCP server',
  {
    chart: mcpConnectionLifecycle,
    facts: () => ({ failures: 0, isLasting: false }),
    open: () => new Real(),
    patience: 2_000,
    agree: (real, model) => {
      const told = { connected: 'CONNECTED', lost: 'LOSE', rested: 'REST' };
      for (const [news, event] of Object.entries(told))
        expect([news, real.news.filter((kind) => kind === news).length]).toEqual([
          news,
          model.taken.filter((id) => id.includes(`|${event}|`)).length,
        ]);
    },
    commands: {
      'somebody needs it': {
        tells: (model) => {
          if (model.is('disconnected')) model.tell(model.facts.failures === 0 ? 'CONNECT' : 'BACK_OFF');
        },
        act: (real) => real.need(),
      },
      'the server answers': {
        isPossible: isConnecting,
        tells: (model) => {
          model.facts.isLasting = false;
          model.tell('CONNECTED');
        },
        act: (real) => real.answer(),
      },
      'the attempt fails': {
        isPossible: isConnecting,
        tells: (model) => failed(model),
        act: (real) => real.fail(new Error('nobody is there')),
      },
      'the attempt takes too long': {
        isPossible: isConnecting,
        tells: (model) => failed(model, { isLate: true }),
        act: (real) => real.fail(new StartTimeout('it is slow')),
      },
      'the attempt is hopeless': {
        isPossible: isConnecting,
        tells: (model) => {
          model.facts.failures = 0;
          model.tell('GIVE_UP');
        },
        act: (real) => real.fail(new HopelessAttempt('there is no such server')),
      },
      'the server is lost': {
        isPossible: (model) => model.is('ready'),
        tells: (model) => {
          const { facts } = model;
          facts.failures = facts.isLasting ? 0 : facts.failures + 1;
          model.tell('LOSE');
          if (facts.failures < MAX_FAILURES) return;
          model.tell('EXHAUST');
          facts.failures = 0;
        },
        act: (real) => real.lose(),
      },
      'a moment passes': { tells: (model) => pass(model, BACK_OFF_MS), act: (real) => real.pass(BACK_OFF_MS) },
      'half a minute passes': { tells: (model) => pass(model, COOL_DOWN_MS), act: (real) => real.pass(COOL_DOWN_MS) },
      'nobody needs it for long': {
        tells: (model) => {
          model.tell('REST');
          pass(model, IDLE_MS);
        },
        act: (real) => real.pass(IDLE_MS),
      },
      'it is closed': { tells: (model) => model.tell('CLOSE'), act: (real) => real.end() },
    },
  },
  { runs: 8, atMost: 300 },
);
