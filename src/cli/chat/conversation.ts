/**
 * One session as a conversation: everything that its log tells, whichever process wakes it, the words of the model before they are
 * in the log, what it asks, and the wakes for what the person says.
 */
import type { SessionEvents } from '../../actors/session/session-events.ts';
import type { SessionWord } from '../../machines/words/session-word.ts';
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { Runtime } from '../../runtime.ts';
import { hintText } from '../failure.ts';
import { TranscriptView } from '../session/transcript-view.ts';
import type { Output } from '../terminal/output.ts';
import { oneLine, printable } from '../terminal/text.ts';
import { wrapped } from '../terminal/text-width.ts';
import { FollowedChildren } from '../wake/followed-children.ts';
import { Asking } from './asking.ts';
import { chatLines } from './chat-lines.ts';
import type { ChatLines } from './chat-lines.ts';
import { Folds } from './folds.ts';
import { OwnWakes } from './own-wakes.ts';
import type { Prompt } from './prompt.ts';
import { Speech } from './speech.ts';

export interface ConversationOptions {
  readonly runtime: Runtime;
  readonly state: SessionState;
  readonly prompt: Pick<Prompt, 'key' | 'line'>;
  readonly out: Output;
  /** Names commands of ours as the person could type them. */
  readonly asTyped: (text: string) => string;
  /** Something else is to be seen at the end of the screen. */
  readonly onChanged: () => void;
  readonly onTrouble: (error: unknown) => void;
}

/** Messages of the person that are shown again of a session that is gone on with, and events that are read for them. */
const SHOWN_AGAIN = 3;
const MAX_READ_AGAIN = 400;
/** Errors of wakes that are the failure of their model step. */
const OF_A_STEP: ReadonlySet<string> = new Set(['RUN_FAILED', 'BACKEND_NOT_UNDERSTOOD']);

interface Work {
  readonly sinceMs: number;
  readonly isInterrupted: boolean;
}

export class Conversation {
  readonly sessionId: string;
  readonly agentId: string;
  readonly folds = new Folds();
  readonly #options: ConversationOptions;
  readonly #speech = new Speech();
  readonly #lines: ChatLines;
  readonly #view: TranscriptView;
  readonly #asking: Asking;
  readonly #wakes: OwnWakes;
  readonly #children: FollowedChildren;
  #events: SessionEvents | undefined;
  #work: Work | undefined;
  #progress = '';
  /** Of the newest event that tells what the model said. */
  #toldSeq = 0;
  readonly #closing = new AbortController();

  constructor(options: ConversationOptions) {
    const { runtime, state, prompt, out, onTrouble } = options;
    const { sessions } = runtime;
    this.#options = options;
    this.sessionId = state.sessionId;
    this.agentId = state.agentId;
    if (state.openWake !== undefined) this.#begin();
    this.#lines = chatLines({ sessionId: state.sessionId, folds: this.folds, speech: this.#speech });
    this.#view = new TranscriptView({ out, agentId: state.agentId, lines: this.#lines.table });
    this.#wakes = new OwnWakes({
      runtime,
      sessionId: state.sessionId,
      onEnded: (outcome) => this.#tellFailure(outcome),
      onTrouble,
    });
    this.#asking = new Asking({
      ...{ sessions, sessionId: state.sessionId, prompt, out, onTrouble },
      onAnswered: () => this.#wakes.wake(),
    });
    this.#children = new FollowedChildren({
      sessions,
      onEvent: async (event) => {
        await this.#view.show(event);
        this.#asking.check();
      },
    });
  }

  /** Shows how it stood, and follows it from there on. */
  async open(): Promise<void> {
    const { runtime, state } = this.#options;
    const from = await this.#beginOfLast(state);
    for await (const event of runtime.sessions.events(this.sessionId, {
      from,
      limit: Math.max(0, state.head - from + 1),
    }))
      await this.#view.show(event);
    for (const { request } of state.openToolCalls)
      if (request?.kind === 'subflow') this.#children.goOnWith(request.childSessionId);
    this.#events = runtime.sessions.events(this.sessionId, { from: state.head + 1, follow: true });
    void this.#follow(this.#events).catch(this.#options.onTrouble);
    void this.#listen().catch(this.#options.onTrouble);
    this.#asking.check();
    void this.#wakes.check();
  }

  /** What is said while it works is read by its next step. */
  async send(text: string): Promise<void> {
    const delivery = this.#work === undefined ? 'queue' : 'steer';
    const { sessions } = this.#options.runtime;
    await sessions.send(this.sessionId, { type: 'user.message', text }, { delivery });
    this.#wakes.wake();
    const { pendingActions } = await sessions.status(this.sessionId);
    if (pendingActions.length > 0 && this.#work === undefined) this.#tellWhatIsFirst();
  }

  /** @returns whether it is at work */
  interrupt(): boolean {
    const { runtime, onTrouble, onChanged } = this.#options;
    if (this.#work === undefined || this.#work.isInterrupted) return false;
    this.#work = { ...this.#work, isInterrupted: true };
    onChanged();
    void runtime.sessions.interrupt(this.sessionId, {}).catch(onTrouble);
    return true;
  }

  answerAgain(): boolean {
    return this.#asking.putAgain();
  }

  /** What it is at and since when; undefined while it rests. */
  get work(): { readonly text: string; readonly sinceMs: number } | undefined {
    if (this.#work === undefined) return undefined;
    const { sinceMs, isInterrupted } = this.#work;
    const text = isInterrupted ? 'interrupting' : this.#view.waitsFor(this.sessionId);
    return { text: [text, this.#progress].filter((part) => part !== '').join('  '), sinceMs };
  }

  /** What is being said, in lines, under the name of the agent where another spoke last. */
  words(width: number): readonly string[] {
    const { styles } = this.#options.out;
    const current = this.#speech.current;
    if (current === undefined) return [];
    const lines = wrapped(printable(current.text.trimEnd()).replaceAll('\t', '  '), width - 2);
    return [
      ...this.#view.headingOfAgent(this.sessionId),
      ...lines.map((line) => `  ${current.kind === 'reasoning' ? styles.dim(line) : line}`),
    ];
  }

  /** Nothing is told any more. What runs goes on. */
  async close(): Promise<void> {
    this.#events?.end();
    this.#closing.abort();
    this.#asking.close();
    this.#wakes.close();
    await this.#children.end();
  }

  async #follow(events: SessionEvents): Promise<void> {
    for await (const event of events) {
      // What a child did comes before what it came to.
      if (event.type === 'agent.tool_result') await this.#children.endedBy(event.data.callId);
      this.#note(event);
      await this.#view.show(event);
      this.#children.heard(event);
      this.#asking.check();
      void this.#wakes.check();
      this.#options.onChanged();
    }
  }

  #note({ type, seq }: SessionEvent): void {
    if (type === 'agent.message' || type === 'agent.thinking') this.#toldSeq = seq;
    if (type === 'wake.started') this.#begin();
    else if (type === 'wake.ended') this.#work = undefined;
    if (type === 'agent.tool_result' || type === 'wake.ended') this.#progress = '';
  }

  #begin(): void {
    this.#work = { sinceMs: performance.now(), isInterrupted: false };
  }

  async #listen(): Promise<void> {
    const { runtime, onChanged } = this.#options;
    for await (const word of runtime.words(this.sessionId, { signal: this.#closing.signal })) {
      this.#hear(word);
      onChanged();
    }
  }

  #hear(word: SessionWord): void {
    switch (word.type) {
      case 'said': {
        const { whole, isAfresh } = this.#speech.hear(word);
        if (isAfresh)
          this.#view.tell(this.sessionId, (session) =>
            session.remarks('agent', '…', 'this broke off, and counts as not said'),
          );
        if (whole !== '') this.#view.tell(this.sessionId, (session) => this.#lines.words(session, whole));
        return;
      }
      case 'taken_back':
        return this.#speech.takeBack();
      case 'logged':
        return this.#speech.over(this.#toldSeq > word.after);
      case 'lost':
        return this.#speech.tear();
      case 'progress':
        this.#progress = oneLine(word.progress.message ?? '', 40);
    }
  }

  /** A call that waits for an answer is answered before anything else is read. */
  #tellWhatIsFirst(): void {
    const { out } = this.#options;
    const text = 'It is read once what the agent asked is answered: /answer puts it again, and /why says what it is.';
    void out.push(
      `${wrapped(text, out.columns - 3)
        .map((line) => `  ${out.styles.dim(line)}`)
        .join('\n')}\n`,
    );
  }

  #tellFailure({ outcome, error }: WakeOutcome): void {
    if (error === undefined || outcome === 'interrupted') return;
    const { out, asTyped } = this.#options;
    const head = `${out.styles.red('error:')} ${printable(error.message)} ${out.styles.dim(`[${error.code}]`)}`;
    // What a model step said when it failed stands there already.
    const lines = [
      ...(OF_A_STEP.has(error.code) ? [] : wrapped(head, out.columns - 1)),
      ...(error.hint === undefined
        ? []
        : hintText(wrapped(asTyped(error.hint), out.columns - 9).join('\n'), out.styles)),
    ];
    if (lines.length > 0) void out.push(`${lines.join('\n')}\n`);
  }

  /** Where the last exchanges begin. */
  async #beginOfLast({ head }: SessionState): Promise<number> {
    const from = Math.max(1, head - MAX_READ_AGAIN + 1);
    const said: number[] = [];
    for await (const event of this.#options.runtime.sessions.events(this.sessionId, { from, limit: head - from + 1 }))
      if (event.type === 'user.message') said.push(event.seq);
    return said.at(-SHOWN_AGAIN) ?? from;
  }
}
