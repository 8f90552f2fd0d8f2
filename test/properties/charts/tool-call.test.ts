/**
 * The life of a tool call, through as many wakes as it takes: a real session whose model asks for it, a real executor,
 * tools that end when they are told to, and people who give leave, refuse it, answer, or do nothing in time. Each wake
 * that goes on with a call makes an actor of its own, which begins with what the log says.
 */
import { afterAll, beforeAll, expect } from 'vitest';
import type { StateValue } from 'xstate';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { toolCallMachine } from '../../../src/machines/turn/tool-call-machine.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { RealSubject } from '../../support/chart-model-subject.ts';
import { describeModel } from '../../support/chart-model-suite.ts';
import { watchInterpreted } from '../../support/chart-model-watch.ts';
import type { WatchedLife } from '../../support/chart-model-watch.ts';
import { HookedStore } from '../../support/hooked-store.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

const EXPIRES_SECONDS = 600;
/** Longer than anybody waits for a tool that is to stop. */
const LONG_MS = 120_000;

type Kind = 'work' | 'launch' | 'ask_human' | 'approve' | 'helper';

interface Facts {
  kind: Kind | undefined;
  /** What the log says of how it ended, where that is not what the chart says. */
  logSays: 'failed' | undefined;
}

interface HeldTool {
  readonly resolve: (output: string) => void;
  readonly reject: (error: Error) => void;
}

const watch = watchInterpreted(toolCallMachine);
const store = new HookedStore();
let setup: TurnSetup;
let said: Said = {};
/** The run of a tool that has begun and not ended. */
let held: HeldTool | undefined;
/** Called while it is decided whether a call may run. */
let onDeciding: () => void = () => undefined;
let onChange: () => void = () => undefined;

beforeAll(async () => {
  const { tool } = noteTools();
  const run = (): Promise<string> =>
    new Promise((resolve, reject) => {
      held = { resolve, reject };
      onChange();
    });
  const subject = (): { readonly kind: 'tool' } => {
    onDeciding();
    return { kind: 'tool' };
  };
  const leave = { permissionPolicy: 'always_ask' } as const;
  setup = await openTurnSetup({
    store,
    tools: [
      tool('work', { run, subject }),
      tool('launch', { run, subject, ...leave }),
      tool('approve', { run: 'outside', ...leave }),
    ],
  });
  setup.open({ tasks: new BackgroundTaskManager({ clock: setup.clock, inspect: watch.inspect }) });
  const speak = (): Said => {
    const now = said;
    said = { text: 'Done.' };
    return now;
  };
  await setup.agent('helper', () => ({ calls: [{ name: 'ask_human', input: { question: 'Which?' } }] }), {
    tools: ['ask_human'],
  });
  await setup.agent('worker', speak, {
    tools: ['work', 'launch', 'approve', 'ask_human', { agent: 'helper' }],
    permission: { mode: 'preapproved', expiresAfterSeconds: EXPIRES_SECONDS },
  });
});
afterAll(() => setup[Symbol.asyncDispose]());

class Real implements RealSubject {
  readonly sessionId: string;
  readonly #before = watch.lives.length;
  #abort = new AbortController();
  #wake: Promise<unknown> = Promise.resolve();
  #isAwake = false;

  private constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  static async open(): Promise<Real> {
    return new Real(await setup.start('worker'));
  }

  /** Those of our call, in the order of the wakes: what it does may make calls of others. */
  get #lives(): readonly WatchedLife[] {
    const [first, ...others] = watch.lives.slice(this.#before);
    return first === undefined ? [] : [first, ...others.filter(({ id }) => id === first.id)];
  }

  state(): StateValue {
    return this.#lives.at(-1)?.value ?? 'requested';
  }

  /** Each actor but the first begins by living through the request that the log tells of. */
  taken(): readonly string[] {
    return this.#lives.flatMap(({ taken }, index) => (index === 0 ? taken : taken.slice(1)));
  }

  can(event: string): boolean | undefined {
    return event === 'ANSWER' ? undefined : this.#lives.at(-1)?.can(event);
  }

  async ask(calls: Said['calls'], options: { readonly humans?: 'none' } = {}): Promise<void> {
    said = { calls: calls ?? [] };
    await this.wake(options);
  }

  async wake(options: { readonly humans?: 'none' } = {}): Promise<void> {
    this.#abort = new AbortController();
    this.#isAwake = true;
    const over = (): void => {
      this.#isAwake = false;
      onChange();
    };
    this.#wake = setup.runtime.wake(this.sessionId, { signal: this.#abort.signal, ...options }).then(over, over);
    while (this.#isAwake && held === undefined) await new Promise<void>((resolve) => (onChange = resolve));
  }

  /** A stop that comes while it is decided whether the call may run. */
  async stoppedAtOnce(work: () => Promise<void>): Promise<void> {
    onDeciding = () => this.#abort.abort('stopped');
    await work();
    onDeciding = () => undefined;
  }

  async unstorable(work: () => Promise<void>): Promise<void> {
    store.before('agent.tool_started', () => Promise.reject(new Error('the disk is full')));
    await work();
  }

  /** A tool that cannot say what its call would do, once the log says that it has begun. */
  async brokenAsItBegins(work: () => Promise<void>): Promise<void> {
    store.before('agent.tool_started', async () => {
      onDeciding = () => {
        throw new Error('it is gone');
      };
    });
    await work();
    onDeciding = () => undefined;
  }

  async stop(): Promise<void> {
    this.#abort.abort('stopped');
    await new Promise((resolve) => setImmediate(resolve));
  }

  async end(how: (tool: HeldTool) => void): Promise<void> {
    const tool = held;
    held = undefined;
    if (tool === undefined) return;
    how(tool);
    await this.#wake;
  }

  async giveUp(): Promise<void> {
    await setup.clock.advance(LONG_MS);
    held = undefined;
    await this.#wake;
  }

  async confirm(toolName: string, allowed: boolean): Promise<void> {
    await setup.confirm(this.sessionId, { toolName, allowed });
    await this.wake();
  }

  async expire(): Promise<void> {
    await setup.clock.advance(EXPIRES_SECONDS * 1_000);
    await this.wake();
  }

  async answer(kind: Kind | undefined): Promise<void> {
    const [requestId = ''] = await setup.requests(this.sessionId);
    const { sessions } = setup.runtime;
    if (kind === 'approve')
      await sessions.send(this.sessionId, {
        type: 'user.custom_tool_result',
        requestId,
        toolName: 'approve',
        output: 'yes',
      });
    else await sessions.send(this.sessionId, { type: 'user.answer', requestId, response: 'this one' });
    await this.wake();
  }

  async loseAgent(): Promise<void> {
    const [child = ''] = await setup.children(this.sessionId);
    await setup.runtime.sessions.terminate(child);
    await this.wake();
  }

  /** How the log says that it ended. */
  async outcome(): Promise<string | undefined> {
    return (await setup.results(this.sessionId))[0]?.outcome;
  }

  async close(): Promise<void> {
    this.#abort.abort('it is over');
    await this.end(({ resolve }) => resolve('late'));
    await this.#wake;
    const children = await setup.children(this.sessionId);
    for (const sessionId of [this.sessionId, ...children]) {
      await setup.runtime.sessions.terminate(sessionId);
      await setup.runtime.sessions.delete(sessionId);
    }
    expect(setup.clock.pendingTimers).toBe(0);
  }
}

type Model = ChartModel<Facts>;

const isNew = ({ facts }: Model): boolean => facts.kind === undefined;
const waitsForLeave = (model: Model): boolean => model.is('awaiting_permission');
const runs = ({ facts }: Model): boolean => facts.kind === 'work' || facts.kind === 'launch';

function begins(model: Model, kind: Kind, ...events: readonly string[]): void {
  model.facts.kind = kind;
  for (const event of events) model.tell(event);
}

const NEVER_SENT =
  'whoever takes back a call that waits closes it in the log; only the wake after one that died in that moment ends it in its chart (test/actors/wake/closed-calls.test.ts)';
const NEVER_LOST =
  'the process in which its actor lived is gone; the next wake ends it in its chart (test/actors/wake/closed-calls.test.ts)';

describeModel<Facts, Real>(
  'a tool call',
  {
    chart: toolCallMachine,
    input: { callId: 'c', name: 'work', input: {} },
    facts: () => ({ kind: undefined, logSays: undefined }),
    open: () => Real.open(),
    never: { 'awaiting_input|CANCEL|0': NEVER_SENT, 'executing|LOSE|0': NEVER_LOST },
    agree: async (real, model) => {
      const outcome = await real.outcome();
      expect(outcome).toBe(model.isOver ? (model.facts.logSays ?? model.value) : undefined);
    },
    commands: {
      'it runs': {
        isPossible: isNew,
        tells: (model) => begins(model, 'work', 'RUN'),
        act: (real) => real.ask([{ name: 'work' }]),
      },
      'it is stopped at once': {
        isPossible: isNew,
        tells: (model) => begins(model, 'work', 'CANCEL'),
        act: (real) => real.stoppedAtOnce(() => real.ask([{ name: 'work' }])),
      },
      'it makes no sense': {
        isPossible: isNew,
        tells: (model) => {
          begins(model, 'work', 'CANCEL');
          // It was taken back, and the model is told why it was none.
          model.facts.logSays = 'failed';
        },
        act: (real) => real.ask([{ name: 'nothing_there' }]),
      },
      'the log cannot say that it begins': {
        isPossible: isNew,
        tells: (model) => begins(model, 'work', 'CANCEL'),
        act: (real) => real.unstorable(() => real.ask([{ name: 'work' }])),
      },
      'it needs leave': {
        isPossible: isNew,
        tells: (model) => begins(model, 'launch', 'ASK_PERMISSION'),
        act: (real) => real.ask([{ name: 'launch' }]),
      },
      'it needs leave to ask outside': {
        isPossible: isNew,
        tells: (model) => begins(model, 'approve', 'ASK_PERMISSION'),
        act: (real) => real.ask([{ name: 'approve' }]),
      },
      'it needs leave of nobody': {
        isPossible: isNew,
        tells: (model) => begins(model, 'launch', 'DENY'),
        act: (real) => real.ask([{ name: 'launch' }], { humans: 'none' }),
      },
      'it asks somebody': {
        isPossible: isNew,
        tells: (model) => begins(model, 'ask_human', 'ASK_INPUT'),
        act: (real) => real.ask([{ name: 'ask_human', input: { question: 'Which?' } }]),
      },
      'it asks another agent': {
        isPossible: isNew,
        tells: (model) => begins(model, 'helper', 'ASK_INPUT'),
        act: (real) => real.ask([{ name: 'helper', input: { message: 'Work.' } }]),
      },
      'leave is given': {
        isPossible: waitsForLeave,
        tells: (model) => model.tell(runs(model) ? 'RUN' : 'ASK_INPUT'),
        act: (real, { facts }) => real.confirm(facts.kind ?? '', true),
      },
      'leave is given, and it is stopped at once': {
        isPossible: (model) => waitsForLeave(model) && runs(model),
        tells: (model) => model.tell('CANCEL'),
        act: (real, { facts }) => real.stoppedAtOnce(() => real.confirm(facts.kind ?? '', true)),
      },
      'leave is given, and its tool breaks as it begins': {
        isPossible: (model) => waitsForLeave(model) && runs(model),
        tells: (model) => {
          model.tell('RUN');
          model.tell({ event: 'error(execute)', error: new Error('it is gone') });
        },
        act: (real, { facts }) => real.brokenAsItBegins(() => real.confirm(facts.kind ?? '', true)),
      },
      'leave is refused': {
        isPossible: waitsForLeave,
        tells: (model) => model.tell('DENY'),
        act: (real, { facts }) => real.confirm(facts.kind ?? '', false),
      },
      'nobody gives leave in time': {
        isPossible: waitsForLeave,
        tells: (model) => model.tell('DENY'),
        act: (real) => real.expire(),
      },
      'somebody answers': {
        isPossible: (model) => model.is('awaiting_input') && model.facts.kind !== 'helper',
        tells: (model) => model.tell({ event: 'ANSWER', outcome: 'completed', output: 'this one' }),
        act: (real, { facts }) => real.answer(facts.kind),
      },
      'the other agent is gone': {
        isPossible: (model) => model.is('awaiting_input') && model.facts.kind === 'helper',
        tells: (model) => model.tell({ event: 'ANSWER', outcome: 'failed', output: 'gone' }),
        act: (real) => real.loseAgent(),
      },
      'the wake is stopped': {
        isPossible: (model) => model.is('executing.working'),
        tells: (model) => model.tell('CANCEL'),
        act: (real) => real.stop(),
      },
      'the tool gives a result': {
        isPossible: (model) => model.is('executing'),
        tells: (model) => model.tell({ event: 'done(execute)', output: { outcome: 'completed', output: 'done' } }),
        act: (real) => real.end(({ resolve }) => resolve('done')),
      },
      'the tool breaks': {
        isPossible: (model) => model.is('executing'),
        tells: (model) =>
          model.tell({
            event: 'done(execute)',
            output: { outcome: model.is('executing.stopping') ? 'cancelled' : 'failed', output: 'boom' },
          }),
        act: (real) => real.end(({ reject }) => reject(new Error('boom'))),
      },
      'the tool does not stop in time': {
        isPossible: (model) => model.is('executing.stopping'),
        tells: (model) => model.tell({ event: 'done(execute)', output: { outcome: 'cancelled', output: 'late' } }),
        act: (real) => real.giveUp(),
      },
    },
  },
  { runs: 6, maxCommands: 40 },
);
