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
}

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
    const lines = linesOf(session, event);
    if (lines.length > 0) {
      this.#last = event.sessionId;
      progress?.clear();
      await out.line(lines.join('\n'));
    }
    progress?.waitFor(session.waitsFor());
  }

  #sessionOf(sessionId: string): SessionTranscript {
    return this.#sessions.get(sessionId) ?? this.#open(sessionId, this.#options.agentId, 0);
  }

  #open(sessionId: string, agentId: string, depth: number): SessionTranscript {
    const { out, commandFor } = this.#options;
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    const indent = ' '.repeat(INDENT * depth);
    const width = Math.max(MIN_WIDTH, Math.min(out.columns, MAX_WIDTH) - indent.length);
    const session = new SessionTranscript({ sessionId, agentId, depth, indent, width, styles: out.styles, commandFor });
    this.#sessions.set(sessionId, session);
    return session;
  }
}

function linesOf(session: SessionTranscript, event: SessionEvent): readonly string[] {
  // Each entry takes exactly the events of its own key, which the compiler cannot see through the union.
  const describe = TRANSCRIPT_LINES[event.type] as TranscriptLines<SessionEventType>;
  return describe(session, event);
}
