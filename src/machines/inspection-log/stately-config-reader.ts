/**
 * Writes the configuration of a machine anew from untrusted JSON: only names, structure and numbers, bounded, nothing
 * that runs.
 */
import { RuntimeError } from '../errors.ts';
import { isRecord } from '../validate.ts';
import type { StatelyText } from './stately-text.ts';

const MAX_DEPTH = 24;
const MAX_STATES = 2_000;
const MAX_TRANSITIONS = 5_000;
/** Actions, guards, tags, targets and invoked actors. */
const MAX_PARTS = 20_000;

/** What the sender writes where something was nested too deeply, or lies within itself. */
const LEFT_OUT: ReadonlySet<unknown> = new Set(['[Object]', '[Array]', '[Circular]']);

/** Names that the language and XState give to functions which have none of their own. */
const UNNAMED: ReadonlySet<string> = new Set(['', 'actions', 'entry', 'exit', 'guard', 'src', 'function']);
const BUILT_IN: ReadonlySet<string> = new Set([
  'and',
  'assign',
  'cancel',
  'emit',
  'enqueueActions',
  'forwardTo',
  'log',
  'not',
  'or',
  'raise',
  'sendParent',
  'sendTo',
  'spawnChild',
  'stateIn',
  'stop',
  'stopChild',
]);
/** What makes a definition a machine. */
const CHART_KEYS = [
  'states',
  'on',
  'initial',
  'always',
  'after',
  'invoke',
  'entry',
  'exit',
  'type',
  'context',
] as const;
const KINDS: ReadonlySet<unknown> = new Set(['atomic', 'compound', 'parallel', 'final', 'history']);

type Stored = Readonly<Record<string, unknown>>;
type Written = Record<string, unknown>;

export class ConfigReader {
  readonly #text: StatelyText;
  #states = 0;
  #transitions = 0;
  #parts = 0;
  isCut = false;

  constructor(text: StatelyText) {
    this.#text = text;
  }

  /** @returns undefined for what is no machine @throws RuntimeError STATELY_DEFINITION_TOO_LARGE */
  read(stored: unknown): Written | undefined {
    if (!isRecord(stored) || !CHART_KEYS.some((key) => Object.hasOwn(stored, key))) return undefined;
    const { version } = stored;
    const id = typeof stored['id'] === 'string' && stored['id'] !== '' ? this.#text.name(stored['id']) : '(machine)';
    return {
      ...this.#state(stored, 0),
      id,
      ...(typeof version === 'string' ? { version: this.#text.name(version) } : {}),
    };
  }

  #state(stored: unknown, depth: number): Written {
    this.#states = this.#counted(this.#states, MAX_STATES, 'states');
    if (depth > MAX_DEPTH) throw tooLarge(`states within ${MAX_DEPTH} others`);
    if (!isRecord(stored)) return this.#leftOut(stored, {});
    const { type, history, description, id, on, after, states } = stored;
    return {
      ...(KINDS.has(type) ? { type } : {}),
      ...(typeof id === 'string' && id !== '' ? { id: this.#text.name(id) } : {}),
      ...(history === true || history === 'shallow' || history === 'deep' ? { history } : {}),
      ...(typeof description === 'string' ? { description: this.#text.message(description) } : {}),
      ...(Object.hasOwn(stored, 'output') ? { output: {} } : {}),
      ...this.#targets(type === 'history' ? stored['target'] : undefined),
      ...this.#initial(stored['initial']),
      tags: this.#list(stored['tags'])
        .filter((tag) => typeof tag === 'string')
        .map((tag) => this.#text.name(tag)),
      entry: this.#operations(stored['entry']),
      exit: this.#operations(stored['exit']),
      on: this.#entries(on, (each) => this.#transitionsOf(each)),
      after: this.#entries(after, (each) => this.#transitionsOf(each)),
      always: this.#transitionsOf(stored['always']),
      ...(Object.hasOwn(stored, 'onDone') ? { onDone: this.#transitionsOf(stored['onDone']) } : {}),
      invoke: this.#list(stored['invoke']).map((each) => this.#invocation(each)),
      states: this.#entries(states, (each) => this.#state(each, depth + 1)),
    };
  }

  #initial(stored: unknown): Written {
    if (typeof stored === 'string') return { initial: this.#text.name(stored) };
    if (!isRecord(stored)) return {};
    return { initial: { ...this.#targets(stored['target']), actions: this.#operations(stored['actions']) } };
  }

  #invocation(stored: unknown): Written {
    const { id, src, onDone, onError, onSnapshot } = isRecord(stored) ? stored : (this.#leftOut(stored, {}) as Stored);
    return {
      // Names that begin so are those of what has none.
      src: typeof src === 'string' && !LEFT_OUT.has(src) ? this.#text.name(src) : 'xstate.invoke.inline',
      ...(typeof id === 'string' ? { id: this.#text.name(id) } : {}),
      ...(onDone === undefined ? {} : { onDone: this.#transitionsOf(onDone) }),
      ...(onError === undefined ? {} : { onError: this.#transitionsOf(onError) }),
      ...(onSnapshot === undefined ? {} : { onSnapshot: this.#transitionsOf(onSnapshot) }),
    };
  }

  #transitionsOf(stored: unknown): readonly Written[] {
    return this.#list(stored).flatMap((each): readonly Written[] => {
      this.#transitions = this.#counted(this.#transitions, MAX_TRANSITIONS, 'transitions');
      if (typeof each === 'string') return [{ target: this.#text.name(each) }];
      if (!isRecord(each)) return this.#leftOut(each, []);
      const { guard, reenter, description } = each;
      if (LEFT_OUT.has(each['target'])) return this.#leftOut(each['target'], []);
      return [
        {
          ...this.#targets(each['target']),
          ...(guard === undefined || guard === null ? {} : { guard: this.#operation(guard) }),
          actions: this.#operations(each['actions']),
          ...(reenter === true ? { reenter } : {}),
          ...(typeof description === 'string' ? { description: this.#text.message(description) } : {}),
        },
      ];
    });
  }

  #targets(stored: unknown): Written {
    const targets = this.#list(stored)
      .filter((target) => typeof target === 'string')
      .map((target) => this.#text.name(target));
    if (targets.length === 0) return {};
    return { target: targets.length === 1 ? targets[0] : targets };
  }

  #operations(stored: unknown): readonly string[] {
    return this.#list(stored).map((each) => this.#operation(each));
  }

  #operation(stored: unknown): string {
    const name = isRecord(stored) ? stored['type'] : stored;
    if (typeof name !== 'string' || LEFT_OUT.has(stored)) return this.#leftOut(stored, '(unknown)');
    if (!isRecord(stored)) return this.#text.name(name);
    if (UNNAMED.has(name)) return '(inline)';
    return BUILT_IN.has(name) ? `(${name})` : this.#text.name(name);
  }

  /** What may be written as one thing or as a list of them. What was left out whole is none. */
  #list(stored: unknown): readonly unknown[] {
    if (stored === undefined || stored === null) return [];
    if (LEFT_OUT.has(stored)) return this.#leftOut(stored, []);
    const list = Array.isArray(stored) ? (stored as readonly unknown[]) : [stored];
    this.#parts += list.length;
    if (this.#parts > MAX_PARTS) throw tooLarge(`more than ${MAX_PARTS} actions, targets and the like`);
    return list.filter((each) => {
      if (LEFT_OUT.has(each)) this.isCut = true;
      return !LEFT_OUT.has(each);
    });
  }

  #entries<Entry>(stored: unknown, read: (each: unknown) => Entry): Readonly<Record<string, Entry>> {
    if (stored === undefined || stored === null) return {};
    if (!isRecord(stored)) return this.#leftOut(stored, {});
    return Object.fromEntries(
      Object.entries(stored).flatMap(([key, each]): [string, Entry][] => {
        if (key === '__proto__' || key === '...') return this.#leftOut(LEFT_OUT_KEY, []);
        return [[this.#text.name(key), read(each)]];
      }),
    );
  }

  /** Notes that something is missing, where something was there. */
  #leftOut<Otherwise>(stored: unknown, otherwise: Otherwise): Otherwise {
    if (stored !== undefined && stored !== null) this.isCut = true;
    return otherwise;
  }

  #counted(count: number, most: number, what: string): number {
    if (count >= most) throw tooLarge(`more than ${most} ${what}`);
    return count + 1;
  }
}

const LEFT_OUT_KEY = '[Object]';

function tooLarge(what: string): RuntimeError {
  return new RuntimeError('STATELY_DEFINITION_TOO_LARGE', `it has ${what}`, {
    category: 'capacity',
    hint: 'Show a smaller machine, or its parts one by one.',
  });
}
