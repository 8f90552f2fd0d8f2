/**
 * `wakechart demo`: the main job, from nothing to a committed fix and a branch to merge, with nothing made up but what
 * the model says.
 */
import type { SessionEvent } from '../../machines/session/session-event.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { WakeOutcome } from '../../machines/wake/wake-outcome.ts';
import type { NodeRuntime } from '../../node/node-runtime.ts';
import { HomeLayout } from '../../adapters/files/layout.ts';
import { keepScript } from '../agent/script.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import {
  DEMO_AGENT,
  DEMO_MESSAGE,
  DEMO_OUTCOME,
  DEMO_QUESTION,
  DEMO_SUBAGENT,
  DEMO_TITLE,
  demoAgents,
} from './agent.ts';
import { answerTo } from './answer.ts';
import type { DemoAnswer } from './answer.ts';
import { demoFolder, isolateEnvironment } from './folder.ts';
import { makeProject, newestCommit } from './project.ts';
import { demoDocument, isAllowed, stepLine, tellEnd, titleLine } from './story.ts';
import type { DemoDelegation, DemoLearning, DemoPermission, DemoResult } from './story.ts';
import { handedOver, toolInputText } from '../session/event-text.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { followedWake } from '../wake/followed-wake.ts';
import { checkInspectionWords } from '../inspect/words.ts';
import type { InspectionWords } from '../inspect/words.ts';
import { openInspection } from '../inspect/inspection.ts';
import type { Inspection } from '../inspect/inspection.ts';
import { invocation } from '../invocation.ts';
import { withRuntime } from '../open/runtime.ts';
import { placesOf } from '../places.ts';
import { Progress } from '../terminal/progress.ts';
import type { Styles } from '../terminal/styles.ts';
import { usageError } from '../usage.ts';
import { WakeView } from '../wake/view.ts';

export interface DemoOptions {
  readonly dir: string | undefined;
  /** With an inspector, the demo waits until a person answers what it asks, instead of allowing it itself. */
  readonly inspection: InspectionWords;
}

export async function runDemo(given: CommandContext, { dir, inspection: words }: DemoOptions): Promise<number> {
  checkInspectionWords(words);
  if (given.store?.isGiven === true)
    throw usageError(
      'expected no --store and no --store-file: the demo keeps everything in a home of its own',
      'Say where with --dir DIR.',
    );
  if (given.isHomeGiven)
    throw usageError('expected no --home: the demo makes a home of its own', 'Say where with --dir DIR.');
  const startedMs = performance.now();
  const home = await demoFolder(dir);
  // How we are called depends on the environment as it still is.
  invocation();
  isolateEnvironment(process.env);
  const context = { ...given, home, isHomeGiven: true, store: undefined, isFilesGiven: given.store !== undefined };
  return withRuntime(context, async (runtime) => {
    const inspection = await openInspection(context, { words, inspected: runtime, title: 'wakechart demo' });
    return inspection.around(async () => {
      const demo = new Demo(context, runtime, inspection);
      const state = await demo.prepare();
      const result = {
        ...(await demo.live(state)),
        isFilesGiven: context.isFilesGiven,
        tookMs: performance.now() - startedMs,
      };
      if (context.interruption.signal.aborted) {
        await context.err.line(`The demo was stopped; what there is of it lies in ${home}`);
        return EXIT_FAILURE;
      }
      checkResult(result);
      await (context.json ? context.out.document(demoDocument(result)) : tellEnd(context.out, result));
      return EXIT_SUCCESS;
    });
  });
}

class Demo {
  readonly #context: CommandContext;
  readonly #runtime: NodeRuntime;
  readonly #inspection: Inspection;
  readonly #layout: HomeLayout;
  readonly #events: SessionEvent[] = [];
  readonly #progress: Progress;
  readonly #view: WakeView;

  constructor(context: CommandContext, runtime: NodeRuntime, inspection: Inspection) {
    this.#context = context;
    this.#runtime = runtime;
    this.#inspection = inspection;
    this.#layout = new HomeLayout(context.home);
    this.#progress = new Progress(context.err);
    this.#view = new WakeView({ out: context.out, agentId: DEMO_AGENT, progress: this.#progress, outputLines: 0 });
  }

  /** Agents, a session, a project in its workspace, and a message. */
  async prepare(): Promise<SessionState> {
    const { sessions, agents } = this.#runtime;
    const { out, json } = this.#context;
    if (!json) await out.line(titleLine(out));
    await this.#tell(1, 'Two agents that play scripts', 'scripts instead of models: no key and no network are needed');
    for (const { agentId, source, script } of demoAgents) {
      await agents.create({ agentId, source });
      await keepScript(this.#layout.agentDirectory(agentId), script);
    }
    const state = await sessions.create({ agentId: DEMO_AGENT, title: DEMO_TITLE });
    const files = await makeProject(placesOf(this.#layout, state).workspace);
    await this.#tell(
      2,
      'A session with a git repository to work in',
      `${files.join(' and ')}, and one of two tests fails`,
    );
    await sessions.send(state.sessionId, { type: 'user.define_outcome', ...DEMO_OUTCOME });
    const { seq } = await sessions.send(state.sessionId, { type: 'user.message', text: DEMO_MESSAGE });
    await this.#tell(
      3,
      'A message, stored before it is answered',
      `"${DEMO_MESSAGE}" is event ${seq} of the log; the one before says what is to be reached, and how that is checked`,
    );
    return state;
  }

  /**
   * It works, asks before it commits, is allowed to, has the change noted, and rests until the wake comes due that it
   * queued.
   */
  async live({ sessionId }: SessionState): Promise<Omit<DemoResult, 'tookMs' | 'isFilesGiven'>> {
    const { home, interruption } = this.#context;
    await this.#tell(
      4,
      'The session wakes and works',
      'what only reads runs by itself, and so does what its agent file allows',
    );
    let outcome = await this.#wake(sessionId);
    let permission: DemoPermission | undefined;
    if (outcome.outcome === 'requires_action' && !interruption.signal.aborted) permission = await this.#ask(sessionId);
    if (isAllowed({ permission })) {
      await this.#tell(
        6,
        'It wakes again, commits and delegates',
        `the ${DEMO_SUBAGENT} works in a process and a git worktree of its own`,
      );
      outcome = await this.#wake(sessionId);
    }
    const { queuedWakes } = await this.#runtime.sessions.status(sessionId);
    if (outcome.outcome === 'sleep' && queuedWakes.length > 0) await this.#untilFired(sessionId);
    const learned = outcome.outcome === 'sleep' ? await this.#remember(sessionId) : undefined;
    const state = await this.#runtime.sessions.status(sessionId);
    const places = placesOf(this.#layout, state);
    return {
      home,
      places,
      state,
      outcome,
      permission,
      events: this.#events,
      commit: await newestCommit(places.workspace),
      delegation: await this.#delegation(),
      learned,
    };
  }

  /** A worker wakes it when its time has come, as `wakechart worker` does. */
  async #untilFired(sessionId: string): Promise<void> {
    const { sessions } = this.#runtime;
    const { signal } = this.#context.interruption;
    await this.#tell(7, 'It rests, and the wake that it queued fires', 'a worker wakes it when the time has come');
    const { head } = await sessions.status(sessionId);
    const events = sessions.events(sessionId, { from: head + 1, follow: true });
    const leave = (): void => events.end();
    signal.addEventListener('abort', leave, { once: true });
    if (signal.aborted) leave();
    const worker = this.#runtime.startWorker({ concurrency: 1 });
    try {
      for await (const event of events) {
        await this.#hear(event);
        if (event.type === 'session.status_idle') break;
      }
    } finally {
      this.#progress.stop();
      signal.removeEventListener('abort', leave);
      await worker.stop();
    }
    // What is concluded from a wake comes after its end.
    for await (const event of sessions.events(sessionId, { from: (this.#events.at(-1)?.seq ?? head) + 1 }))
      await this.#hear(event);
  }

  /**
   * What was learned counts once the outcome is reached; a second session, which knows nothing of the first, finds it
   * again.
   */
  async #remember(sessionId: string): Promise<DemoLearning | undefined> {
    const { sessions, memory } = this.#runtime;
    const { signal } = this.#context.interruption;
    if (signal.aborted) return undefined;
    await this.#tell(
      8,
      'What it learned is promoted, since the check passes',
      'a second session of the agent is asked about it',
    );
    const [entry] = (await memory.read(DEMO_AGENT)).entries;
    const second = await sessions.create({ agentId: DEMO_AGENT });
    await sessions.send(second.sessionId, { type: 'user.message', text: DEMO_QUESTION });
    const { outcome } = await this.#wake(second.sessionId);
    const { evaluation } = await sessions.status(sessionId);
    if (entry === undefined || evaluation?.verdict !== 'pass' || outcome !== 'sleep') return undefined;
    return { title: entry.title, evaluation: evaluation.verdict, foundIn: second.sessionId };
  }

  /** What the other agent was asked for, and what it left. */
  async #delegation(): Promise<DemoDelegation | undefined> {
    for (const event of this.#events) {
      const worktree = event.type === 'agent.tool_result' ? handedOver(event.data.output) : undefined;
      if (worktree !== undefined)
        return { agentId: DEMO_SUBAGENT, worktree, commit: await newestCommit(worktree.worktreePath) };
    }
    return undefined;
  }

  /** Undefined when it was interrupted before an answer. */
  async #ask(sessionId: string): Promise<DemoPermission | undefined> {
    const requested = this.#events.find((event) => event.type === 'permission.requested');
    if (requested === undefined) throw neverHappened('ask for a permission');
    const { requestId, toolName, input, because } = requested.data;
    await this.#tell(
      5,
      'It asked, and sleeps until a person answers',
      `nothing runs meanwhile; the request is event ${requested.seq} of the log`,
    );
    const answer = this.#inspection.isOpen
      ? await this.#answered(sessionId, requestId)
      : await this.#allow(sessionId, { requestId, toolName });
    return answer === undefined ? undefined : { toolName, command: toolInputText(input), because, ...answer };
  }

  /** What a person would do who reads `session why`. */
  async #allow(
    sessionId: string,
    request: { readonly requestId: string; readonly toolName: string },
  ): Promise<DemoAnswer> {
    const { seq } = await this.#runtime.sessions.send(sessionId, {
      type: 'user.tool_confirmation',
      ...request,
      allowed: true,
    });
    await this.#say(
      (styles) =>
        `${styles.green('a person allows it')}, this once, as "wakechart session confirm-tool --allow" does: event ${seq}`,
    );
    return { decision: 'allowed', scope: 'once' };
  }

  /** The viewer of the inspector answers, or the first other person to do so. */
  async #answered(sessionId: string, requestId: string): Promise<DemoAnswer | undefined> {
    const { signal } = this.#context.interruption;
    await this.#tellWay(sessionId, requestId);
    this.#progress.waitFor('waiting for your answer');
    try {
      const answer = await answerTo(this.#runtime.sessions, { sessionId, requestId, signal });
      if (answer === undefined) return undefined;
      await this.#say((styles) => ANSWERED[answer.decision](styles));
      return answer;
    } finally {
      this.#progress.stop();
    }
  }

  /** On standard error, as all that is for the person at the terminal: what is piped away stays clean. */
  async #tellWay(sessionId: string, requestId: string): Promise<void> {
    const { err } = this.#context;
    await err.line(
      `${err.styles.cyan('inspect:')} answer it on the page: ${this.#inspection.address(sessionId) ?? ''}`,
    );
    await err.line(
      err.styles.dim(
        `  or elsewhere: ${nextCommand(this.#context, 'session', 'confirm-tool', '--session', sessionId, '--request', requestId, '--allow')}`,
      ),
    );
  }

  async #say(text: (styles: Styles) => string): Promise<void> {
    const { out, json } = this.#context;
    if (!json) await out.line(`  ${text(out.styles)}`);
  }

  async #wake(sessionId: string): Promise<WakeOutcome> {
    const { signal } = this.#context.interruption;
    try {
      return await followedWake({ runtime: this.#runtime, sessionId, signal, onEvent: (event) => this.#hear(event) });
    } finally {
      this.#progress.stop();
    }
  }

  async #hear(event: SessionEvent): Promise<void> {
    this.#events.push(event);
    if (!this.#context.json) await this.#view.show(event);
  }

  async #tell(number: number, text: string, more?: string): Promise<void> {
    const { out, json } = this.#context;
    if (json) return;
    await out.line(stepLine(out, number, text));
    if (more !== undefined) await out.line(`  ${more}`);
  }
}

const ANSWERED = {
  allowed: (styles) => styles.green('a person has allowed it'),
  denied: (styles) =>
    `${styles.yellow('a person has denied it')}: nothing is committed, and the session stays where it is`,
  withdrawn: (styles) =>
    `${styles.yellow('a person has taken the request back')}: nothing is committed, and the session stays where it is`,
} as const satisfies Record<DemoAnswer['decision'], (styles: Styles) => string>;

/** The demo shows what really happened, so it fails when that is not what it promises. */
function checkResult({ outcome, permission, delegation, learned, state, places, home }: DemoResult): void {
  // A person who does not allow it ends it, and that is no failure.
  if (permission !== undefined && !isAllowed({ permission })) return;
  if (outcome.outcome !== 'sleep') {
    throw new RuntimeError(
      'DEMO_FAILED',
      `expected the demo to end asleep, it ended as ${outcome.outcome}: ${outcome.error?.message ?? outcome.summary}`,
      {
        category: 'process',
        hint: `It needs /bin/sh and git. What happened is in ${places.log}; all of it lies in ${home}.`,
      },
    );
  }
  if (permission === undefined) throw neverHappened('ask for a permission');
  if (delegation === undefined) throw neverHappened('leave a commit in a worktree');
  if (learned === undefined) throw neverHappened('find again what it had learned');
  if (state.queuedWakes.length > 0) throw neverHappened('fire the wake that it queued');
}

function neverHappened(what: string): RuntimeError {
  return new RuntimeError('DEMO_FAILED', `expected the demo to ${what}, it did not`, {
    category: 'process',
    hint: 'This is a defect; please report it.',
  });
}
