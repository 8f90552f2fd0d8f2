/** A home with a worker and agents that play scripts, for servers of other protocols. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentFrontmatter } from '../../src/machines/agent/agent-definition.ts';
import type { SessionEvent } from '../../src/machines/session/session-event.ts';
import { createNodeRuntime } from '../../src/node.ts';
import type { NodeRuntime } from '../../src/node/node-runtime.ts';
import { temporaryHome } from './temporary-home.ts';

export interface PlayedStep {
  readonly delayMs?: number;
  readonly text?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly input: object }[];
  readonly error?: { readonly kind: string; readonly message: string };
  readonly directive?: object;
}

export const runs = (command: string, text?: string): PlayedStep => ({
  ...(text === undefined ? {} : { text }),
  toolCalls: [{ name: 'shell_run', input: { command } }],
});
export const asks = (question: string, ...choices: readonly string[]): PlayedStep => ({
  toolCalls: [{ name: 'ask_human', input: { question, ...(choices.length === 0 ? {} : { choices }) } }],
});
export const says = (text: string): PlayedStep => ({ text, directive: { outcome: 'sleep', summary: text } });

/** Commands are asked for. */
export const CAREFUL: Partial<AgentFrontmatter> = { permission: { mode: 'ask' } };

export class ProtocolStage {
  readonly home: string;
  readonly runtime: NodeRuntime;
  readonly #remove: () => Promise<void>;

  constructor(home: string, runtime: NodeRuntime, remove: () => Promise<void>) {
    this.home = home;
    this.runtime = runtime;
    this.#remove = remove;
  }

  static async open({ worker = true }: { readonly worker?: boolean } = {}): Promise<ProtocolStage> {
    const folder = await temporaryHome();
    const runtime = await createNodeRuntime({ home: folder.path });
    if (worker) runtime.startWorker();
    return new ProtocolStage(folder.path, runtime, () => folder.remove());
  }

  async agent(agentId: string, steps: readonly PlayedStep[], more: Partial<AgentFrontmatter> = {}): Promise<void> {
    const tools = ['shell_run', 'ask_human'];
    await this.runtime.agents.create({
      agentId,
      source: {
        frontmatter: { name: agentId, provider: 'script', model: 'script.json', tools, ...more },
        instructions: 'Play.',
      },
    });
    const script = { format: 'wakechart-script/1', steps, onEnd: 'repeat-last' };
    await writeFile(join(this.home, 'agents', agentId, 'script.json'), JSON.stringify(script));
  }

  async events(sessionId: string): Promise<SessionEvent[]> {
    const events: SessionEvent[] = [];
    for await (const event of this.runtime.sessions.events(sessionId)) events.push(event);
    return events;
  }

  async close(): Promise<void> {
    await this.runtime.shutdown();
    await this.#remove();
  }
}
