/**
 * What is said and done in sessions, for people at a terminal: who speaks, what tools are called with and what came of
 * it, what is asked and how to answer, and the agents that work for one another under the calls that they answer.
 */
import type { SessionEvent, SessionEventOf, SessionEventType } from '../../machines/session/session-event.ts';
import type { Output } from '../terminal/output.ts';
import type { Progress } from '../terminal/progress.ts';
import { SessionTranscript } from './transcript.ts';
import { TRANSCRIPT_LINES } from './transcript-lines.ts';
import type { TranscriptLines } from './transcript-lines.ts';

export interface TranscriptOptions {
  readonly out: Output;
  /** What is waited for is told there, if anything is. */
  readonly progress?: Progress | undefined;
  /** The agent of a session whose beginning is not shown. */
  readonly agentId: string;
  /** The command that answers what is asked; undefined where a person is asked at once. */
  readonly commandFor?: ((...words: readonly string[]) => string) | undefined;
  /** What is told of each event. Default: all that happens, with both ends of what tools put out. */
  readonly lines?: TranscriptTable | undefined;
}

export type TranscriptTable = { readonly [Type in SessionEventType]: TranscriptLines<Type> };

/** Lines longer than this are hard to read. */
const MAX_WIDTH = 100;
const MIN_WIDTH = 24;

/** Places by which an agent that works for another is set in. */
const INDENT = 4;

export class TranscriptView {
  readonly #options: TranscriptOptions;
  readonly #sessions = new Map<string, SessionTranscript>();
  #last: string | undefined;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  /** A call that an earlier wake left open: what it is, without a word about it. */
  remember({ sessionId, data: { callId, name, input } }: SessionEventOf<'agent.tool_use'>): void {
    this.#sessionOf(sessionId).remembers(callId, name, input);
  }

  async show(event: SessionEvent): Promise<void> {
    const { out, progress } = this.#options;
    const session = this.#sessionOf(event.sessionId);
    if (event.type === 'agent.subflow_started')
      this.#open(event.data.childSessionId, event.data.agentId, session.depth + 1);
    // A speaker who goes on after another one says again who it is.
    if (this.#last !== event.sessionId) session.forgetSpeaker();
    const lines = linesOf(session, event, this.#options.lines ?? TRANSCRIPT_LINES);
    if (lines.length > 0) {
      this.#last = event.sessionId;
      progress?.clear();
      await out.line(lines.join('\n'));
    }
    progress?.waitFor(session.waitsFor());
  }

  /** Tells of a session what no event does. */
  tell(sessionId: string, lines: (session: SessionTranscript) => readonly string[]): void {
    const session = this.#sessionOf(sessionId);
    if (this.#last !== sessionId) session.forgetSpeaker();
    const told = lines(session);
    if (told.length === 0) return;
    this.#last = sessionId;
    void this.#options.out.push(`${told.join('\n')}\n`);
  }

  /** What stands above words of the agent that are not told yet; nothing where it spoke last. */
  headingOfAgent(sessionId: string): readonly string[] {
    const session = this.#sessionOf(sessionId);
    if (this.#last !== sessionId) session.forgetSpeaker();
    return session.headingOf('agent');
  }

  /** What a session is at, in a word or two. */
  waitsFor(sessionId: string): string {
    return this.#sessionOf(sessionId).waitsFor();
  }

  #sessionOf(sessionId: string): SessionTranscript {
    return this.#sessions.get(sessionId) ?? this.#open(sessionId, this.#options.agentId, 0);
  }

  #open(sessionId: string, agentId: string, depth: number): SessionTranscript {
    const { out, commandFor } = this.#options;
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    const indent = ' '.repeat(INDENT * depth);
    const session = new SessionTranscript({
      ...{ sessionId, agentId, depth, indent, commandFor },
      styles: out.styles,
      // As the terminal is when the line is told.
      get width() {
        return Math.max(MIN_WIDTH, Math.min(out.columns, MAX_WIDTH) - indent.length);
      },
    });
    this.#sessions.set(sessionId, session);
    return session;
  }
}

function linesOf(session: SessionTranscript, event: SessionEvent, table: TranscriptTable): readonly string[] {
  // Each entry takes exactly the events of its own key, which the compiler cannot see through the union.
  const describe = table[event.type] as TranscriptLines<SessionEventType>;
  return describe(session, event);
}
