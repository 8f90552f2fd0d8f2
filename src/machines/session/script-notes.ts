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

export type ScriptNoteReason = Exclude<keyof typeof REASONS, 'running'>;

/** Steps that a sentence names. */
const MAX_NAMED_STEPS = 20;

export class ScriptNotes {
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
