/** `wakechart demo`: the main job, from nothing to a committed fix, with nothing made up but what the model says. */
import type { SessionEvent } from '../../../machines/session/session-event.ts';
import type { SessionState } from '../../../machines/session/session-state.ts';
import { RuntimeError } from '../../../machines/errors.ts';
import type { WakeOutcome } from '../../../machines/wake/wake-outcome.ts';
import type { Runtime } from '../../../runtime.ts';
import { HomeLayout } from '../../files/layout.ts';
import { keepScript } from '../agent-script.ts';
import type { CommandContext } from '../context.ts';
import { DEMO_AGENT, DEMO_MESSAGE, demoAgentFile, demoScript } from '../demo/demo-agent.ts';
import { demoFolder, isolateEnvironment } from '../demo/demo-folder.ts';
import { makeProject, newestCommit } from '../demo/demo-project.ts';
import { demoDocument, stepLine, tellEnd, titleLine } from '../demo/demo-story.ts';
import type { DemoPermission, DemoResult } from '../demo/demo-story.ts';
import { toolInputText } from '../event-text.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { followedWake } from '../followed-wake.ts';
import { invocation } from '../invocation.ts';
import { withRuntime } from '../open-runtime.ts';
import { placesOf } from '../places.ts';
import { Progress } from '../progress.ts';
import { usageError } from '../usage.ts';
import { WakeView } from '../wake-view.ts';

export interface DemoOptions {
  readonly dir: string | undefined;
}

export async function runDemo(given: CommandContext, { dir }: DemoOptions): Promise<number> {
  if (given.isHomeGiven) throw usageError('expected no --home: the demo makes a home of its own', 'Say where with --dir DIR.');
  const startedMs = performance.now();
  const home = await demoFolder(dir);
  // How we are called depends on the environment as it still is.
  invocation();
  isolateEnvironment(process.env);
  const context = { ...given, home, isHomeGiven: true };
  return withRuntime(context, async (runtime) => {
    const demo = new Demo(context, runtime);
    const state = await demo.prepare();
    const result = { ...(await demo.live(state)), tookMs: performance.now() - startedMs };
    if (context.interruption.signal.aborted) {
      await context.err.line(`The demo was stopped; what there is of it lies in ${home}`);
      return EXIT_FAILURE;
    }
    checkResult(result);
    await (context.json ? context.out.document(demoDocument(result)) : tellEnd(context.out, result));
    return EXIT_SUCCESS;
  });
}

class Demo {
  readonly #context: CommandContext;
  readonly #runtime: Runtime;
  readonly #layout: HomeLayout;
  readonly #events: SessionEvent[] = [];
  readonly #progress: Progress;
  readonly #view: WakeView;

  constructor(context: CommandContext, runtime: Runtime) {
    this.#context = context;
    this.#runtime = runtime;
    this.#layout = new HomeLayout(context.home);
    this.#progress = new Progress(context.err);
    this.#view = new WakeView({ out: context.out, agentId: DEMO_AGENT, progress: this.#progress, outputLines: 0 });
  }

  /** An agent, a session, a project in its workspace, and a message. */
  async prepare(): Promise<SessionState> {
    const { sessions, agents } = this.#runtime;
    const { out, json } = this.#context;
    if (!json) await out.line(titleLine(out));
    await this.#tell(1, 'An agent that plays a script', 'a script instead of a model: no key and no network are needed');
    await agents.create({ agentId: DEMO_AGENT, source: demoAgentFile });
    await keepScript(this.#layout.agentDirectory(DEMO_AGENT), demoScript);
    const state = await sessions.create({ agentId: DEMO_AGENT });
    const files = await makeProject(placesOf(this.#layout, state).workspace);
    await this.#tell(2, 'A session with a git repository to work in', `${files.join(' and ')}, and one of two tests fails`);
    const { seq } = await sessions.send(state.sessionId, { type: 'user.message', text: DEMO_MESSAGE });
    await this.#tell(3, 'A message, stored before it is answered', `"${DEMO_MESSAGE}" is event ${seq} of the log`);
    return state;
  }

  /** It works, asks before it commits, is allowed to, and goes on to its end. */
  async live({ sessionId }: SessionState): Promise<Omit<DemoResult, 'tookMs'>> {
    const { home, interruption } = this.#context;
    await this.#tell(4, 'The session wakes and works', 'what only reads runs by itself, and so does what its agent file allows');
    let outcome = await this.#wake(sessionId);
    let permission: DemoPermission | undefined;
    if (outcome.outcome === 'requires_action' && !interruption.signal.aborted) {
      permission = await this.#allow(sessionId);
      await this.#tell(6, 'It wakes again and goes on where it was', 'in a new wake, which any process could have run');
      outcome = await this.#wake(sessionId);
    }
    const state = await this.#runtime.sessions.status(sessionId);
    const places = placesOf(this.#layout, state);
    return { home, places, state, outcome, permission, events: this.#events, commit: await newestCommit(places.workspace) };
  }

  /** What somebody would do who reads `session why`. */
  async #allow(sessionId: string): Promise<DemoPermission> {
    const { sessions } = this.#runtime;
    const requested = this.#events.find((event) => event.type === 'permission.requested');
    if (requested === undefined) throw neverAsked();
    const { requestId, toolName, input, because } = requested.data;
    const command = toolInputText(input);
    await this.#tell(5, 'It asked, and sleeps until somebody answers', `nothing runs meanwhile; the request is event ${requested.seq} of the log`);
    const { seq } = await sessions.send(sessionId, { type: 'user.tool_confirmation', requestId, toolName, allowed: true });
    const { out, json } = this.#context;
    if (!json) await out.line(`  ${out.styles.green('somebody allows it')}, this once, as "wakechart session confirm-tool --allow" does: event ${seq}`);
    return { toolName, command, because, decision: 'allowed', scope: 'once' };
  }

  async #wake(sessionId: string): Promise<WakeOutcome> {
    const { json, interruption } = this.#context;
    const onEvent = async (event: SessionEvent): Promise<void> => {
      this.#events.push(event);
      if (!json) await this.#view.show(event);
    };
    try {
      return await followedWake({ runtime: this.#runtime, sessionId, signal: interruption.signal, onEvent });
    } finally {
      this.#progress.stop();
    }
  }

  async #tell(number: number, text: string, more?: string): Promise<void> {
    const { out, json } = this.#context;
    if (json) return;
    await out.line(stepLine(out, number, text));
    if (more !== undefined) await out.line(`  ${more}`);
  }
}

/** The demo shows what really happened, so it fails when that is not what it promises. */
function checkResult({ outcome, permission, places, home }: DemoResult): void {
  if (outcome.outcome === 'sleep' && permission === undefined) throw neverAsked();
  if (outcome.outcome === 'sleep') return;
  throw new RuntimeError('DEMO_FAILED', `expected the demo to end asleep, it ended as ${outcome.outcome}: ${outcome.error?.message ?? outcome.summary}`, {
    category: 'process',
    hint: `It needs /bin/sh and git. What happened is in ${places.log}; all of it lies in ${home}.`,
  });
}

function neverAsked(): RuntimeError {
  return new RuntimeError('DEMO_FAILED', 'expected the demo to ask for a permission, it did not', { category: 'process', hint: 'This is a defect; please report it.' });
}
