/**
 * What was said and done, as a person would write it down, and how somebody would ask for it weeks later. Written by
 * hand.
 */

export type LabelledKind = 'fact' | 'decision' | 'error' | 'who' | 'when' | 'path' | 'command' | 'learning' | 'memory';

export interface Labelled {
  readonly kind: LabelledKind;
  readonly project: string;
  readonly question: string;
  /** What leads up to it; not what is searched for. */
  readonly before?: string;
  /** What is searched for: the words of a person, of the agent, or the output of a tool. */
  readonly person?: string;
  readonly agent?: string;
  readonly tool?: {
    readonly name: string;
    readonly input: Readonly<Record<string, unknown>>;
    readonly output: unknown;
    readonly failed?: true;
  };
  /** Of learnings and memory. */
  readonly title?: string;
  readonly detail?: string;
}
