/** `wakechart demo`: the main job, from nothing to a committed fix, with nothing made up but what the model says. */
import type { SessionEvent } from '../../../machines/session/session-event.ts';
import type { SessionState } from '../../../machines/session/session-state.ts';
import { RuntimeError } from '../../../machines/errors.ts';
import type { Runtime } from '../../../runtime.ts';
import { HomeLayout } from '../../files/layout.ts';
import { keepScript } from '../agent-script.ts';
import type { CommandContext } from '../context.ts';
import { DEMO_AGENT, DEMO_MESSAGE, demoAgentFile, demoScript } from '../demo/demo-agent.ts';
import { demoFolder, isolateEnvironment } from '../demo/demo-folder.ts';
import { makeProject, newestCommit } from '../demo/demo-project.ts';
import { demoDocument, stepLine, tellEnd, titleLine } from '../demo/demo-story.ts';
import type { DemoResult } from '../demo/demo-story.ts';
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
    const result = { ...(await demo.wake(state)), tookMs: performance.now() - startedMs };
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

  constructor(context: CommandContext, runtime: Runtime) {
    this.#context = context;
    this.#runtime = runtime;
    this.#layout = new HomeLayout(context.home);
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

  async wake({ sessionId }: SessionState): Promise<Omit<DemoResult, 'tookMs'>> {
    const { out, err, json, home, interruption } = this.#context;
    const progress = new Progress(err);
    const view = new WakeView({ out, progress, outputLines: 0 });
    const events: SessionEvent[] = [];
    await this.#tell(4, 'The session wakes and works');
    const onEvent = async (event: SessionEvent): Promise<void> => {
      events.push(event);
      if (!json) await view.show(event);
    };
    try {
      const outcome = await followedWake({ runtime: this.#runtime, sessionId, signal: interruption.signal, onEvent });
      const state = await this.#runtime.sessions.status(sessionId);
      const places = placesOf(this.#layout, state);
      return { home, places, state, outcome, events, commit: await newestCommit(places.workspace) };
    } finally {
      progress.stop();
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
function checkResult({ outcome, places, home }: DemoResult): void {
  if (outcome.outcome === 'sleep') return;
  throw new RuntimeError('DEMO_FAILED', `expected the demo to end asleep, it ended as ${outcome.outcome}: ${outcome.error?.message ?? outcome.summary}`, {
    category: 'process',
    hint: `It needs /bin/sh, git and sed. What happened is in ${places.log}; all of it lies in ${home}.`,
  });
}
