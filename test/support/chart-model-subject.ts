/** Leads a chart and the real thing that lives by it along the same commands, and compares the two after each. */
import { isDeepStrictEqual } from 'node:util';
import type { StateValue } from 'xstate';
import type { ChartSource } from '../../src/machines/inspection/describe-chart.ts';
import { ChartPlan } from './chart-model.ts';
import type { ChartModel } from './chart-model.ts';

/** The real thing. */
export interface RealSubject {
  state(): StateValue | Promise<StateValue>;
  /** Ids of the transitions that it took, in order. Absent: only its states can be seen. */
  taken?(): readonly string[];
  /** Whether it would take an event now. Absent, or undefined: it cannot be asked without sending it. */
  can?(event: string): boolean | undefined;
  close(): Promise<void> | void;
}

/** How something is brought about in the real thing, and what the chart hears of it. */
export interface ModelCommand<Facts extends object, Real> {
  /** Whether somebody can do it as things stand. Default: always. */
  readonly isPossible?: (model: ChartModel<Facts>) => boolean;
  readonly tells: (model: ChartModel<Facts>) => void;
  /** Resolves when all that follows from it has happened. @param before how things stood */
  readonly act: (real: Real, before: ChartModel<Facts>) => unknown;
}

export interface ModelSubject<Facts extends object, Real extends RealSubject> {
  readonly chart: ChartSource;
  readonly input?: unknown;
  readonly facts: () => Facts;
  readonly open: () => Promise<Real> | Real;
  readonly commands: Readonly<Record<string, ModelCommand<Facts, Real>>>;
  /** Whatever else has to agree: what was announced, what was stored. Throws when it does not. */
  readonly agree?: (real: Real, model: ChartModel<Facts>) => Promise<void> | void;
  /**
   * Turns of the event loop that the real thing may take after a command, where it works with files or sockets.
   * Default: none.
   */
  readonly patience?: number;
  /** Transitions, by id, that no command can bring about, and why. */
  readonly never?: Readonly<Record<string, string>>;
}

/** Names of commands, in order. One that is not possible when its turn comes is passed over. */
export type Plan = readonly string[];

/** By chart: to read it takes longer than to follow it. */
const plans = new WeakMap<object, ChartPlan>();

export function planOf({ chart, input }: Pick<ModelSubject<object, RealSubject>, 'chart' | 'input'>): ChartPlan {
  const known = plans.get(chart) ?? new ChartPlan(chart, input);
  plans.set(chart, known);
  return known;
}

/** @throws Disagreement, or what a command or `agree` throws */
export async function follow<Facts extends object, Real extends RealSubject>(
  subject: ModelSubject<Facts, Real>,
  commands: Plan,
): Promise<void> {
  const model = planOf(subject).start(subject.facts());
  const real = await subject.open();
  const done: string[] = [];
  try {
    await compare(subject, real, model, done);
    for (const name of commands) {
      const command = commandOf(subject, name);
      if (command.isPossible?.(model) === false) continue;
      const before = model.copy();
      command.tells(model);
      done.push(name);
      await command.act(real, before);
      await untilLevel(real, model, subject.patience ?? 0);
      await compare(subject, real, model, done);
    }
  } finally {
    await real.close();
  }
}

/**
 * Gives the real thing its time. What it does after it has come to stand as its chart does is found after the next
 * command.
 */
async function untilLevel<Facts extends object>(
  real: RealSubject,
  model: ChartModel<Facts>,
  patience: number,
): Promise<void> {
  for (let turn = 0; turn < patience && !(await isLevel(real, model)); turn += 1)
    await new Promise((resolve) => setImmediate(resolve));
}

async function isLevel<Facts extends object>(real: RealSubject, model: ChartModel<Facts>): Promise<boolean> {
  return (
    isDeepStrictEqual(await real.state(), model.value) && (real.taken?.() ?? model.taken).length >= model.taken.length
  );
}

/** The real thing and its chart stand differently. */
export class Disagreement extends Error {
  override readonly name = 'Disagreement';

  constructor(
    what: string,
    { real, chart, done }: { readonly real: unknown; readonly chart: unknown; readonly done: Plan },
  ) {
    super(
      `after ${JSON.stringify(done)} the real thing and its chart disagree about ${what}\n  chart: ${JSON.stringify(chart)}\n  real:  ${JSON.stringify(real)}`,
    );
  }
}

async function compare<Facts extends object, Real extends RealSubject>(
  subject: ModelSubject<Facts, Real>,
  real: Real,
  model: ChartModel<Facts>,
  done: Plan,
): Promise<void> {
  const state = await real.state();
  if (!isDeepStrictEqual(state, model.value))
    throw new Disagreement('the state', { real: state, chart: model.value, done });
  const taken = real.taken?.();
  if (taken !== undefined && !isDeepStrictEqual(taken, model.taken))
    throw new Disagreement('the transitions that were taken', { real: taken, chart: model.taken, done });
  for (const event of planOf(subject).sent) {
    const can = model.isOver ? undefined : real.can?.(event);
    if (can !== undefined && can !== model.can(event))
      throw new Disagreement(`whether ${event} can happen`, { real: can, chart: model.can(event), done });
  }
  await subject.agree?.(real, model);
}

export interface ModelWays {
  /** A shortest plan to every transition that commands can bring about, by its id. */
  readonly to: ReadonlyMap<string, Plan>;
  /** A shortest plan whose last command moves the chart, by the command. */
  readonly moving: ReadonlyMap<string, Plan>;
}

/**
 * Facts can make more worlds than anybody wants to see: these many at most, and these many where all that there is was
 * found.
 */
const MAX_WORLDS = 4_000;
const ENOUGH_WORLDS = 300;

/** Walks through all that commands can do, nearest first. */
export function waysOf<Facts extends object, Real extends RealSubject>(subject: ModelSubject<Facts, Real>): ModelWays {
  const to = new Map<string, Plan>();
  const moving = new Map<string, Plan>();
  const start = planOf(subject).start(subject.facts());
  const seen = new Set([start.key]);
  const pending: { readonly model: ChartModel<Facts>; readonly plan: Plan }[] = [{ model: start, plan: [] }];
  const wanted = planOf(subject).transitions.filter((id) => !Object.hasOwn(subject.never ?? {}, id)).length;
  const limit = (): number => (to.size < wanted ? MAX_WORLDS : ENOUGH_WORLDS);
  for (let next = pending.shift(); next !== undefined && seen.size < limit(); next = pending.shift()) {
    for (const [name, command] of Object.entries(subject.commands)) {
      if (command.isPossible?.(next.model) === false) continue;
      const model = next.model.copy();
      command.tells(model);
      const plan = [...next.plan, name];
      for (const id of model.taken) if (!to.has(id)) to.set(id, plan);
      if (model.taken.length > 0 && !moving.has(name)) moving.set(name, plan);
      if (seen.has(model.key)) continue;
      seen.add(model.key);
      pending.push({ model, plan });
    }
  }
  return { to, moving };
}

/** The fewest of the ways that take every transition, longest first. */
export function coverOf<Facts extends object, Real extends RealSubject>(
  subject: ModelSubject<Facts, Real>,
  { to }: ModelWays,
): readonly Plan[] {
  const left = new Set(to.keys());
  const cover: Plan[] = [];
  for (const plan of [...to.values()].toSorted((one, other) => other.length - one.length)) {
    const news = takenAlong(subject, plan).filter((id) => left.delete(id));
    if (news.length > 0) cover.push(plan);
  }
  return cover;
}

function takenAlong<Facts extends object, Real extends RealSubject>(
  subject: ModelSubject<Facts, Real>,
  plan: Plan,
): readonly string[] {
  const model = planOf(subject).start(subject.facts());
  for (const name of plan) {
    const command = commandOf(subject, name);
    if (command.isPossible?.(model) !== false) command.tells(model);
  }
  return model.taken;
}

/** The same with a defect: the real thing never hears of the command. @param onLost when that happens */
export function without<Facts extends object, Real extends RealSubject>(
  subject: ModelSubject<Facts, Real>,
  name: string,
  onLost: () => void,
): ModelSubject<Facts, Real> {
  return { ...subject, commands: { ...subject.commands, [name]: { ...commandOf(subject, name), act: onLost } } };
}

function commandOf<Facts extends object, Real extends RealSubject>(
  { commands }: ModelSubject<Facts, Real>,
  name: string,
): ModelCommand<Facts, Real> {
  const command = commands[name];
  if (command === undefined)
    throw new Error(`there is no command ${name}; there are ${Object.keys(commands).join(', ')}`);
  return command;
}
