/**
 * A runtime over PostgreSQL whose agent says one thing in each wake. What it works in is one folder for all: the
 * database is what is measured.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BackgroundTaskManager } from 'wakechart';
import { FileAgentCatalog, createNodeRuntime, createScriptAgentRuntime, createSystemClock } from 'wakechart/node';
import { createRuntime } from 'wakechart/ports';
import type { Runtime } from 'wakechart/ports';
import { PostgresEventStore } from 'wakechart/postgres';

const AGENT = 'echo';

/** What every wake begins with. */
const MESSAGE = {
  type: 'user.message',
  text: 'It was the best of times, it was the worst of times. What comes next?',
} as const;

const SENDERS = 64;

/** A home with the agent in it. @returns its path */
export async function wakeHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'bench-wakes-'));
  const folder = join(home, 'agents', AGENT);
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'echo.json'),
    JSON.stringify({
      format: 'wakechart-script/1',
      steps: [{ text: 'It was the age of wisdom, it was the age of foolishness.' }],
      onEnd: 'repeat-last',
    }),
  );
  const agents = new FileAgentCatalog({ agentsDirectory: join(home, 'agents') });
  await agents.create({
    agentId: AGENT,
    source: { frontmatter: { name: 'Echo', provider: 'script', model: 'echo.json' }, instructions: 'Say something.' },
  });
  return home;
}

export function removeHome(home: string): Promise<void> {
  return rm(home, { recursive: true, force: true });
}

/** Sessions, agents and wakes, and no files of theirs. */
export async function openLeanRuntime(url: string, home: string): Promise<Runtime> {
  const store = await PostgresEventStore.open({ url, clock: createSystemClock() });
  const { clock } = store;
  return createRuntime({
    clock,
    store,
    directories: { agentDirectory: (agentId) => join(home, 'agents', agentId), workspaceDirectory: async () => home },
    agents: new FileAgentCatalog({ agentsDirectory: join(home, 'agents') }),
    runtimes: [createScriptAgentRuntime({ clock })],
    tasks: new BackgroundTaskManager({ runners: {}, clock, onListenerError: () => undefined }),
    owner: `bench:${process.pid}`,
    onListenerError: () => undefined,
  });
}

/** As a user has it: with workspaces, memory, artifacts and all the rest in the home. */
export function openWholeRuntime(url: string, home: string): Promise<Runtime> {
  return createNodeRuntime({ home, store: { postgres: url }, reconcileOnStart: false });
}

/** New sessions, each with a message that nobody has answered. @returns their ids */
export async function makeDue(runtime: Runtime, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  let left = count;
  const one = async (): Promise<void> => {
    while ((left -= 1) >= 0) {
      const { sessionId } = await runtime.sessions.create({ agentId: AGENT });
      await runtime.sessions.send(sessionId, MESSAGE);
      ids.push(sessionId);
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, one));
  return ids;
}
