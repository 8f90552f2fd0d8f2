/**
 * What an agent said in a session, as a script that says it again: one step for each model step that said something or
 * failed as one. What a script cannot say is noted in it. Whatever the log holds is in the script too, secrets
 * included.
 */
import type { RunFailure } from '../run/run-failure.ts';
import type { RunUsage } from '../run/run-output.ts';
import { readDirective } from '../wake/directive.ts';
import type { SessionEvent, SessionEventData, SessionEventOf } from './session-event.ts';

/**
 * What a recorded script cannot say, as sentences with the steps that they are about: as many sentences as there are
 * reasons, however long the log.
 */

const REASONS = {
  summary: 'A summary of the conversation is left out here: a replay that has to make one takes its next step for it.',
  own_tools: 'The backend ran tools of its own here, which a script cannot: it says only what was said.',
  other_candidate: 'A candidate failed here before another answered: the script holds the answer only.',
  uncounted_failure: 'A step that failed before it counted is left out here.',
  stopped: 'A step that was stopped before it said anything is left out here.',
  lost: 'A step whose process died is left out here.',
  running: 'A step that has not ended yet is left out at the end.',
  cut_short: 'This was cut short: the script says what was said until then, as if the step had ended there.',
  several_messages: 'Several messages of this step are one in the script.',
  several_steps: 'The backend took several model steps for this one.',
  opaque: 'What only the model can read of its reasoning is left out here.',
  cut_directive: 'A directive that was refused is given here as text, as much of it as the log holds.',
  block_in_text: 'The text holds a directive block that was not read as one; a replay reads it.',
  nameless_call: 'A call of a tool without a name is left out here.',
  unknown_event: 'An event that this version does not know is left out here.',
  full: 'This and what comes after it is left out: a script cannot be longer.',
} as const;

type ScriptNoteReason = Exclude<keyof typeof REASONS, 'running'>;

/** Steps that a sentence names. */
const MAX_NAMED_STEPS = 20;

class ScriptNotes {
  /** The first steps of each reason, and how often it was there. */
  readonly #places = new Map<keyof typeof REASONS, { readonly steps: number[]; count: number }>();

  /** @param step number of the script's step in which or right before which it was, from 1 */
  add(reason: ScriptNoteReason, step: number): void {
    const places = this.#places.get(reason) ?? { steps: [], count: 0 };
    this.#places.set(reason, places);
    if (places.steps.at(-1) === step) return;
    places.count += 1;
    if (places.count <= MAX_NAMED_STEPS) places.steps.push(step);
    // Only the last one is compared with: of a reason that comes again and again at one place, one is enough.
    else places.steps[MAX_NAMED_STEPS] = step;
  }

  /** @param running steps that have not ended */
  sentences({ running }: { readonly running: number }): readonly string[] {
    const known = [...this.#places].map(
      ([reason, { steps, count }]) => `Step ${named(steps.slice(0, MAX_NAMED_STEPS), count)}: ${REASONS[reason]}`,
    );
    return running === 0 ? known : [...known, REASONS.running];
  }
}

function named(steps: readonly number[], count: number): string {
  return `${steps.join(', ')}${count > steps.length ? ` and ${count - steps.length} more` : ''}`;
}

/** Steps of a script. */
export const MAX_SCRIPT_STEPS = 100_000;

/** Characters of a script file. */
export const MAX_SCRIPT_CHARACTERS = 64_000_000;

/** Left for the notes, and for what holds the steps together. */
const RESERVED_CHARACTERS = 100_000;

export interface RecordedStep {
  readonly text?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly input: unknown }[];
  readonly directive?: unknown;
  readonly usage?: RunUsage;
  readonly error?: RunFailure;
}

export interface RecordedScript {
  readonly format: 'wakechart-script/1';
  /** What the script cannot say, as sentences. */
  readonly notes?: readonly string[];
  readonly steps: readonly RecordedStep[];
  readonly onEnd: 'sleep';
}

/** What a model step has said so far. */
interface OpenStep {
  readonly texts: string[];
  readonly thoughts: string[];
  readonly toolCalls: { readonly name: string; readonly input: unknown }[];
  directive?: unknown;
  ranTools: boolean;
  wasRefused: boolean;
}

/** Takes the events of a log one after the other. */
export class ScriptRecorder {
  readonly #steps: RecordedStep[] = [];
  readonly #open = new Map<string, OpenStep>();
  readonly #notes = new ScriptNotes();
  #characters = RESERVED_CHARACTERS;
  #isFull = false;

  ingest(event: SessionEvent): void {
    if (event.type === 'span.started') this.#begin(event.data);
    else if (event.type === 'span.completed') this.#end(event.data);
    else if (event.type === 'event.unrecognized') this.#note('unknown_event');
    else if (event.type === 'run.attempt_failed') this.#note('other_candidate');
    else this.#hear(event);
  }

  /** The script so far. The recorder can go on afterwards. */
  get(): RecordedScript {
    const notes = this.#notes.sentences({ running: this.#open.size });
    return {
      format: 'wakechart-script/1',
      ...(notes.length === 0 ? {} : { notes }),
      steps: [...this.#steps],
      onEnd: 'sleep',
    };
  }

  #begin({ spanId, kind }: SessionEventData<'span.started'>): void {
    if (kind === 'model_step')
      this.#open.set(spanId, { texts: [], thoughts: [], toolCalls: [], ranTools: false, wasRefused: false });
  }

  #hear(event: Exclude<SessionEvent, { readonly type: 'span.started' | 'span.completed' }>): void {
    if (!isSaid(event)) return;
    const step = this.#open.get(event.data.spanId);
    if (step === undefined) return;
    if (event.type === 'agent.message') step.texts.push(...[event.data.text].filter((text) => text !== ''));
    else if (event.type === 'agent.thinking') this.#think(step, event.data);
    else if (event.type === 'agent.tool_use') this.#call(step, event.data);
    else if (event.type === 'directive.accepted') step.directive = event.data.directive;
    else this.#misdirect(step, event.data);
  }

  #think(step: OpenStep, { text, opaque }: SessionEventData<'agent.thinking'>): void {
    if (opaque !== undefined) this.#note('opaque');
    if (text !== '') step.thoughts.push(text);
  }

  /** A script asks for tools; it cannot tell of those that a backend has run. */
  #call(step: OpenStep, { name, input, by }: SessionEventData<'agent.tool_use'>): void {
    if (by === 'backend') step.ranTools = true;
    else if (name === '') this.#note('nameless_call');
    else step.toolCalls.push({ name, input });
  }

  /**
   * What could not be understood stands in the text, or was given as data: then it is given again, to be refused again.
   */
  #misdirect(step: OpenStep, { received }: SessionEventData<'directive.rejected'>): void {
    step.wasRefused = true;
    if (hasDirective(step.texts)) return;
    const reading = readJson(received);
    if (reading === undefined) this.#note('cut_directive');
    step.directive = reading === undefined ? received : reading.value;
  }

  #end({ spanId, kind, outcome, modelSteps, usage, error }: SessionEventData<'span.completed'>): void {
    if (kind === 'compaction') return this.#note('summary');
    const step = this.#open.get(spanId);
    if (step === undefined) return;
    this.#open.delete(spanId);
    if (outcome === 'completed') {
      if (modelSteps > 1) this.#note('several_steps');
      return this.#add(step, usage);
    }
    if (step.texts.length > 0) {
      this.#note('cut_short');
      return this.#add(step, usage);
    }
    if (outcome === 'lost' || modelSteps === 0)
      return this.#note(outcome === 'lost' ? 'lost' : outcome === 'aborted' ? 'stopped' : 'uncounted_failure');
    this.#push({ error: errorOf(error), ...(usage === undefined ? {} : { usage }) });
  }

  #add({ texts, thoughts, toolCalls, directive, ranTools, wasRefused }: OpenStep, usage: RunUsage | undefined): void {
    if (texts.length > 1) this.#note('several_messages');
    if (ranTools) this.#note('own_tools');
    if (directive === undefined && !wasRefused && hasDirective(texts)) this.#note('block_in_text');
    this.#push({
      ...(thoughts.length === 0 ? {} : { reasoning: thoughts.join('\n\n') }),
      ...(texts.length === 0 ? {} : { text: texts.join('\n\n') }),
      ...(toolCalls.length === 0 ? {} : { toolCalls }),
      ...(directive === undefined ? {} : { directive }),
      ...(usage === undefined ? {} : { usage }),
    });
  }

  /** What comes after a step that was left out would be said in its place. */
  #push(step: RecordedStep): void {
    this.#characters += JSON.stringify(step).length + 8;
    this.#isFull ||= this.#steps.length >= MAX_SCRIPT_STEPS || this.#characters > MAX_SCRIPT_CHARACTERS;
    if (this.#isFull) this.#note('full');
    else this.#steps.push(step);
  }

  #note(what: Parameters<ScriptNotes['add']>[0]): void {
    this.#notes.add(what, this.#steps.length + 1);
  }
}

/** Whether a replay would read one from these texts. */
function hasDirective(texts: readonly string[]): boolean {
  return readDirective({ text: texts.join('\n\n'), structured: [] }).kind !== 'none';
}

/** As the file of a script: one step on each line. */
export function scriptText({ steps, ...rest }: RecordedScript): string {
  const head = JSON.stringify({ ...rest, steps: [] });
  const lines = steps.map((step) => `\n  ${JSON.stringify(step)}`).join(',');
  return `${head.slice(0, -']}'.length)}${lines}${lines === '' ? '' : '\n'}]}`;
}

type SaidType = 'agent.message' | 'agent.thinking' | 'agent.tool_use' | 'directive.accepted' | 'directive.rejected';

const SAID: ReadonlySet<string> = new Set<SaidType>([
  'agent.message',
  'agent.thinking',
  'agent.tool_use',
  'directive.accepted',
  'directive.rejected',
]);

function isSaid(event: SessionEvent): event is { readonly [Type in SaidType]: SessionEventOf<Type> }[SaidType] {
  return SAID.has(event.type);
}

function errorOf(error: RunFailure | undefined): RunFailure {
  const { kind = 'unknown', message = '', retryAfterMs } = error ?? {};
  return {
    kind,
    message: message === '' ? 'The step failed.' : message,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

function readJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
