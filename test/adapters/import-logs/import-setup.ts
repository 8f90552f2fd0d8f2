/** A home with an agent that plays a script, and imports into it. */
import { join } from 'node:path';
import type { ImportOutcome, ImportRequest } from '../../../src/adapters/import-logs/import-sessions.ts';
import { importSessions } from '../../../src/adapters/import-logs/import-sessions.ts';
import type { ImportedSessionReport } from '../../../src/machines/import/import-report.ts';
import { HomeLayout } from '../../../src/adapters/files/layout.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { createNodeRuntime } from '../../../src/node.ts';
import type { NodeRuntime } from '../../../src/node.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';
import { RUN, put } from './foreign-home.ts';

const SCRIPT = JSON.stringify({ format: 'wakechart-script/1', steps: [{ text: 'I go on.' }] });

export class ImportSetup {
  readonly runtime: NodeRuntime;
  readonly layout: HomeLayout;
  /** For the homes of other runtimes. */
  readonly foreign: string;
  readonly #folders: readonly TemporaryHome[];
  #made = 0;

  private constructor(runtime: NodeRuntime, [own, foreign]: readonly [TemporaryHome, TemporaryHome]) {
    this.runtime = runtime;
    this.layout = new HomeLayout(own.path);
    this.foreign = foreign.path;
    this.#folders = [own, foreign];
  }

  static async open(agents: readonly string[] = ['alpha', 'copilot', 'helper']): Promise<ImportSetup> {
    const folders = [await temporaryHome(), await temporaryHome()] as const;
    const runtime = await createNodeRuntime({ home: folders[0].path, reconcileOnStart: false });
    for (const agentId of agents) {
      await runtime.agents.create({
        agentId,
        source: { frontmatter: { name: agentId, provider: 'script', model: 'script.json' }, instructions: 'Play.' },
      });
      await put(join(folders[0].path, 'agents', agentId, 'script.json'), SCRIPT);
    }
    return new ImportSetup(runtime, folders);
  }

  /** A folder of its own for a foreign home. */
  place(): string {
    this.#made += 1;
    return join(this.foreign, `home-${this.#made}`);
  }

  /** A home of rowboat with one run in it. */
  async rowboatHome(events: string, run = RUN): Promise<string> {
    const home = this.place();
    await put(join(home, 'runs', `${run}.jsonl`), events);
    return home;
  }

  import(request: ImportRequest, others: Partial<Parameters<typeof importSessions>[1]> = {}): Promise<ImportOutcome> {
    const { sessions, agents } = this.runtime;
    return importSessions(request, {
      sessions,
      agents,
      workspaceOf: (identity) => this.layout.ownWorkspace(identity),
      now: () => Date.now(),
      ...others,
    });
  }

  async eventsOf(sessionId: string): Promise<SessionEvent[]> {
    const events: SessionEvent[] = [];
    for await (const event of this.runtime.sessions.events(sessionId)) events.push(event);
    return events;
  }

  async close(): Promise<void> {
    await this.runtime.shutdown();
    for (const folder of this.#folders) await folder.remove();
  }
}

/** The report of an import that was to bring one session. */
export const only = ({ sessions }: { readonly sessions: readonly ImportedSessionReport[] }): ImportedSessionReport => {
  const [report, ...more] = sessions;
  if (report === undefined || more.length > 0) throw new Error(`expected one session, received ${sessions.length}`);
  return report;
};
