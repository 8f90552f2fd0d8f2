/** A home with agents that play scripts and sessions that wait to be woken; made in this process, used by others. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { Runtime } from '../../src/runtime.ts';
import { temporaryHome } from '../support/temporary-home.ts';
import type { TemporaryHome } from '../support/temporary-home.ts';
import { run } from './command-line.ts';
import type { Ended } from './command-line.ts';
import { runInProcess } from './in-process.ts';

export interface Step {
  /** Before the model says anything. */
  readonly delayMs?: number;
  readonly text?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly input: { readonly command: string } }[];
  readonly error?: { readonly kind: string; readonly message: string };
  readonly directive?: object;
  readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number; readonly cost?: number };
}

export const runs = (...commands: readonly string[]): Step => ({
  toolCalls: commands.map((command) => ({ name: 'shell_run', input: { command } })),
});

export const sleeps = (summary: string, more: object = {}): Step => ({
  directive: { outcome: 'sleep', summary, ...more },
});

export interface StagedSession {
  readonly id: string;
  readonly workspace: string;
}

export class Stage {
  readonly home: string;
  readonly runtime: Runtime;
  readonly #folder: TemporaryHome;
  #agents = 0;

  constructor(folder: TemporaryHome, runtime: Runtime) {
    this.#folder = folder;
    this.home = folder.path;
    this.runtime = runtime;
  }

  static async open(): Promise<Stage> {
    const folder = await temporaryHome();
    return new Stage(folder, await createNodeRuntime({ home: folder.path }));
  }

  async close(): Promise<void> {
    await this.runtime.shutdown();
    await this.#folder.remove();
  }

  /** A command on this home, to its end. */
  run(...words: readonly string[]): Promise<Ended> {
    return runInProcess([...words, '--home', this.home]);
  }

  /** The same as users do it, in a process of its own. */
  runProgram(...words: readonly string[]): Promise<Ended> {
    return run([...words, '--home', this.home]);
  }

  /** A new session, whose agent plays these steps. */
  async session(...steps: readonly Step[]): Promise<StagedSession> {
    this.#agents += 1;
    const agentId = `actor-${this.#agents}`;
    const folder = join(this.home, 'agents', agentId);
    await this.runtime.agents.create({
      agentId,
      source: { frontmatter: { name: agentId, provider: 'script', model: 'script.json' }, instructions: 'Play.' },
    });
    await writeFile(join(folder, 'script.json'), JSON.stringify({ format: 'wakechart-script/1', steps }));
    const { sessionId } = await this.runtime.sessions.create({ agentId });
    return { id: sessionId, workspace: join(folder, 'sessions', sessionId, 'workspace') };
  }

  /** The same with a message that nobody has read. */
  async sessionToWake(...steps: readonly Step[]): Promise<StagedSession> {
    const session = await this.session(...steps);
    await this.runtime.sessions.send(session.id, { type: 'user.message', text: 'Begin.' });
    return session;
  }

  async eventsOf(sessionId: string): Promise<SessionEvent[]> {
    const events: SessionEvent[] = [];
    for await (const event of this.runtime.sessions.events(sessionId)) events.push(event);
    return events;
  }

  /** How each wake of the session ended. */
  async wakeEndings(sessionId: string): Promise<string[]> {
    return (await this.eventsOf(sessionId)).flatMap((event) =>
      event.type === 'wake.ended' ? [event.data.outcome] : [],
    );
  }
}
