/**
 * The life of a wake: the real one, of a real session, each of whose parts begins when it is told to, and does its work
 * then or breaks.
 */
import { expect } from 'vitest';
import { BackgroundTaskManager } from '../../../src/actors/task/background-task-manager.ts';
import { WakeWork } from '../../../src/actors/wake/wake-work.ts';
import {
  ASSEMBLED,
  CLAIMED,
  COMMITTED,
  FOLDED_TO_CALLS,
  FOLDED_TO_END,
  FOLDED_TO_STEP,
  MOVED,
  NOTHING_TO_DO,
  STEPPED,
  STEPPED_TO_CALLS,
  wakeAnswers,
} from '../../../src/machines/wake/wake-answers.ts';
import { wakeMachine } from '../../../src/machines/wake/wake-machine.ts';
import type { WakeOutcome } from '../../../src/machines/wake/wake-outcome.ts';
import type { ChartModel } from '../../support/chart-model.ts';
import type { ModelSubject, RealSubject } from '../../support/chart-model-subject.ts';
import { NextLife, watchInterpreted } from '../../support/chart-model-watch.ts';
import { PartGates } from '../../support/part-gates.ts';
import { openTurnSetup } from '../../support/turn-setup.ts';
import type { Said, TurnSetup } from '../../support/turn-setup.ts';
import { noteTools } from '../../support/turn-tools.ts';

const PARTS = ['claim', 'fold', 'assemble', 'step', 'callTools', 'commit', 'recordFailure', 'release'] as const;
type Part = (typeof PARTS)[number];

interface Facts {
  /**
   * Messages that the log holds for the session to read, and how many of them the assembled step gives to the model.
   */
  unread: number;
  assembled: number;
  /** Calls that the model has asked for, and results that it has not heard. */
  hasCalls: boolean;
  hasResults: boolean;
  /** The call that the model has asked for needs leave; somebody was asked; somebody has given it. */
  needsLeave: boolean;
  isWaiting: boolean;
  isAllowed: boolean;
  isStopped: boolean;
  /** The model's backend has failed for good. */
  hasFailed: boolean;
  /** Something was appended since the last fold. */
  hasMoved: boolean;
  /** What the log says: a wake has begun and has not ended. */
  isOpen: boolean;
}

const watch = watchInterpreted(wakeMachine);
const gates = new PartGates(WakeWork.prototype, PARTS, { worksAllTheSame: ['release'] });
let setup: TurnSetup;
/** Of the model's next step. */
let said: Said = {};
let steps = 0;

/** Before the first wake. */
export async function openWakes(): Promise<void> {
  gates.put();
  const { tool } = noteTools();
  setup = await openTurnSetup({ tools: [tool('check'), tool('launch', { permissionPolicy: 'always_ask' })] });
  setup.open({ tasks: new BackgroundTaskManager({ clock: setup.clock, inspect: watch.inspect }) });
  // A model that repeats itself is stopped by budgets, which is not what this is about.
  const frontmatter = {
    tools: ['check', 'launch'],
    budget: { maxModelStepsPerWake: 500, maxStepsWithoutProgress: 500 },
  };
  await setup.agent('worker', () => said, frontmatter);
}

export async function closeWakes(): Promise<void> {
  gates.remove();
  await setup[Symbol.asyncDispose]();
}

class Real extends NextLife implements RealSubject {
  readonly sessionId: string;
  readonly #abort = new AbortController();
  outcome: WakeOutcome | Error | undefined;

  private constructor(sessionId: string) {
    super(watch);
    this.sessionId = sessionId;
  }

  static async open(): Promise<Real> {
    const { sessionId } = await setup.runtime.sessions.create({ agentId: 'worker' });
    const real = new Real(sessionId);
    const over = (outcome: WakeOutcome | Error): void => {
      real.outcome = outcome;
      gates.leave();
    };
    setup.runtime.wake(sessionId, { signal: real.#abort.signal }).then(over, over);
    await gates.arrived();
    return real;
  }

  async begin(saying: Said = {}): Promise<void> {
    said = saying;
    await gates.begin();
  }

  break = (): Promise<void> => gates.break();

  stop(): void {
    this.#abort.abort('the model stops it');
  }

  async write(): Promise<void> {
    await setup.runtime.sessions.send(this.sessionId, { type: 'user.message', text: 'More.' });
  }

  async close(): Promise<void> {
    this.stop();
    while (this.outcome === undefined) await gates.begin();
    gates.reset();
    await setup.runtime.sessions.delete(this.sessionId);
  }
}

type Model = ChartModel<Facts>;

const ROOM = 2;
const FOLDED = { step: FOLDED_TO_STEP, call_tools: FOLDED_TO_CALLS, end: FOLDED_TO_END };

/** What a part that goes well answers, and what it leaves. */
function goOn(model: Model): void {
  const { facts } = model;
  if (model.is('claiming')) {
    const isWanted = facts.unread > 0 && !facts.isStopped;
    facts.isOpen = isWanted;
    model.tell({ event: 'done(claim)', output: isWanted ? CLAIMED : NOTHING_TO_DO });
  } else if (model.is('folding')) {
    facts.hasMoved = false;
    model.tell({ event: 'done(fold)', output: FOLDED[next(facts)] });
  } else if (model.is('assembling')) {
    facts.assembled = readable(facts);
    model.tell({ event: 'done(assemble)', output: ASSEMBLED });
  } else if (model.is('running.calling')) {
    callTools(facts);
    model.tell('done(callTools)');
  } else if (model.is('committing')) {
    facts.isOpen = facts.hasMoved;
    model.tell({ event: 'done(commit)', output: facts.hasMoved ? MOVED : COMMITTED });
  } else if (model.is('failing')) {
    facts.isOpen = false;
    model.tell({ event: 'done(recordFailure)', output: wakeAnswers.recordFailure[0] });
  } else model.tell('done(release)');
}

/** Within a turn a message waits for its end. */
const readable = ({ unread, hasResults }: Facts): number => (hasResults ? 0 : unread);

function next(facts: Facts): 'step' | 'call_tools' | 'end' {
  if (facts.isStopped || facts.hasFailed) return 'end';
  if (facts.hasCalls || facts.isAllowed) return 'call_tools';
  if (facts.isWaiting) return 'end';
  return facts.hasResults || facts.unread > 0 ? 'step' : 'end';
}

function callTools(facts: Facts): void {
  // A stop cuts short what runs; a person is asked all the same, and may have answered before the next wake.
  const asksNow = facts.hasCalls && facts.needsLeave;
  facts.isWaiting ||= asksNow;
  facts.hasResults = !asksNow;
  facts.hasCalls = false;
  facts.needsLeave = false;
  facts.isAllowed = false;
}

function step(model: Model, what: 'says' | 'asks' | 'asks for leave' | 'fails'): void {
  const { facts } = model;
  if (facts.isStopped) return model.tell({ event: 'done(step)', output: STEPPED });
  if (what === 'fails') facts.hasFailed = true;
  else {
    facts.unread -= facts.assembled;
    facts.hasResults = false;
    facts.hasCalls = what === 'asks' || what === 'asks for leave';
    facts.needsLeave = what === 'asks for leave';
  }
  facts.assembled = 0;
  model.tell({ event: 'done(step)', output: facts.hasCalls ? STEPPED_TO_CALLS : STEPPED });
}

const PART_OF: Readonly<Record<string, Part>> = {
  claiming: 'claim',
  folding: 'fold',
  assembling: 'assemble',
  'running.stepping': 'step',
  'running.calling': 'callTools',
  committing: 'commit',
  failing: 'recordFailure',
  releasing: 'release',
};

const isStepping = (model: Model): boolean => model.is('running.stepping');

export const wakeSubject: ModelSubject<Facts, Real> = {
  chart: wakeMachine,
  input: { sessionId: 's', wakeId: 'w' },
  facts: () => ({
    unread: 0,
    assembled: 0,
    hasCalls: false,
    hasResults: false,
    needsLeave: false,
    isWaiting: false,
    isAllowed: false,
    isStopped: false,
    hasFailed: false,
    hasMoved: false,
    isOpen: false,
  }),
  open: () => Real.open(),
  agree: async (real, model) => {
    const { openWake, pending, pendingActions } = await setup.state(real.sessionId);
    const { isOpen, unread, isWaiting } = model.facts;
    const messages = pending.filter(({ type }) => type === 'user.message').length;
    expect({ isOpen: openWake !== undefined, messages, requests: pendingActions.length }).toEqual({
      isOpen,
      messages: unread,
      requests: isWaiting ? 1 : 0,
    });
    if (model.isOver) expect(real.outcome instanceof Error).toBe(model.is('failed'));
  },
  commands: {
    'a message comes': {
      isPossible: (model) => !model.isOver && model.facts.unread < ROOM,
      tells: ({ facts }) => {
        facts.unread += 1;
        facts.hasMoved = true;
      },
      act: (real) => real.write(),
    },
    'the part does its work': {
      isPossible: (model) => !model.isOver && !isStepping(model),
      tells: goOn,
      act: (real) => real.begin(),
    },
    'the part breaks': {
      isPossible: (model) => !model.isOver,
      tells: (model) => {
        const [, part] = Object.entries(PART_OF).find(([state]) => model.is(state)) ?? [];
        model.tell({ event: `error(${part})`, error: new Error('it breaks') });
      },
      act: (real) => real.break(),
    },
    'the model says something': {
      isPossible: isStepping,
      tells: (model) => step(model, 'says'),
      act: (real) => real.begin({ text: 'Said.' }),
    },
    'the model asks for a tool': {
      isPossible: isStepping,
      tells: (model) => step(model, 'asks'),
      act: (real) => real.begin({ calls: [{ name: 'check', input: { step: (steps += 1) } }] }),
    },
    'the model asks for what needs leave': {
      isPossible: isStepping,
      tells: (model) => step(model, 'asks for leave'),
      act: (real) => real.begin({ calls: [{ name: 'launch', input: { step: (steps += 1) } }] }),
    },
    'somebody gives leave': {
      isPossible: ({ facts }) => facts.isWaiting,
      tells: ({ facts }) => {
        facts.isWaiting = false;
        facts.isAllowed = true;
        facts.hasMoved = true;
      },
      act: (real) => setup.confirm(real.sessionId),
    },
    'the model fails': {
      isPossible: isStepping,
      tells: (model) => step(model, 'fails'),
      act: (real) => real.begin({ error: { kind: 'format', message: 'not like that' } }),
    },
    'somebody stops it': {
      isPossible: (model) => !model.facts.isStopped,
      tells: (model) => {
        model.facts.isStopped = true;
        model.tell({ event: 'STOP', reason: 'the model stops it' });
      },
      act: (real) => real.stop(),
    },
  },
};
