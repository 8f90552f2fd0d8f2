/** Runtimes that come one after the other over one session, its workspace and what is kept of its shells. */
import { mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../../src/actors/clock/system-clock.ts';
import type { ShellRecords } from '../../../src/actors/shell/shell-host.ts';
import type { ToolContext, HookedWake } from '../../../src/actors/turn/tool.ts';
import { createShellRecordFiles } from '../../../src/adapters/shell/shell-record-files.ts';
import type { SessionEvent } from '../../../src/machines/session/session-event.ts';
import { SESSION_ID, foldAll, newEvent } from '../../support/session-events.ts';
import { followedSession } from './followed-session.ts';
import type { FollowedSession } from './followed-session.ts';
import { openShellStage } from './shell-stage.ts';
import type { ShellStage, ShellStageOptions } from './shell-stage.ts';

export class RestoringStage implements AsyncDisposable {
  readonly folder: string;
  readonly records: ShellRecords;
  /** The runtimes so far. */
  readonly stages: ShellStage[] = [];
  readonly #followed: FollowedSession;
  #calls = 10;

  private constructor(folder: string, followed: FollowedSession) {
    this.folder = folder;
    this.#followed = followed;
    this.records = createShellRecordFiles(() => join(folder, 'session/runtime/shells'));
  }

  static async open(): Promise<RestoringStage> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'restoring-')));
    await mkdir(join(folder, 'session'));
    await mkdir(join(folder, 'workspace/sub'), { recursive: true });
    return new RestoringStage(folder, await followedSession(createSystemClock()));
  }

  /** A runtime over the same session and workspace. */
  async runtime(options: ShellStageOptions = {}): Promise<ShellStage> {
    const { folder, records } = this;
    const stage = await openShellStage({ folder, records, sessions: this.#followed.ports, ...options });
    this.stages.push(stage);
    return stage;
  }

  /** What is there after the process has gone without a word. */
  async killed(stage: ShellStage): Promise<void> {
    const folderOf = join(this.folder, 'session/runtime/shells');
    const kept = await Promise.all(
      (await readdir(folderOf)).map(async (name) => [name, await readFile(join(folderOf, name), 'utf8')] as const),
    );
    await stage.close();
    for (const [name, text] of kept) await writeFile(join(folderOf, name), text);
  }

  /** Sets a variable by a call that is in the log, as every call of a wake is. */
  async set(
    stage: ShellStage,
    name: string,
    value: string | null,
    { shell, environment }: { readonly shell?: string; readonly environment?: ToolContext['environment'] } = {},
  ): Promise<unknown> {
    this.#calls += 1;
    const callId = `call_${this.#calls}`;
    const input = {
      name,
      value: value === null ? null : (environment?.secrets.text(value) ?? value),
      ...(shell === undefined ? {} : { shell }),
    };
    await this.#followed.store.append(SESSION_ID, [
      newEvent(this.#calls, {
        type: 'agent.tool_use',
        data: { callId, name: 'shell_set_env', input, spanId: 'span_1' },
      }),
    ]);
    const events: readonly SessionEvent[] = await this.#followed.store.read(SESSION_ID);
    const wake = { state: () => foldAll(events) } as HookedWake;
    return stage.call(
      'shell_set_env',
      { name, value, ...(shell === undefined ? {} : { shell }) },
      { callId, wake, ...(environment === undefined ? {} : { environment }) },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stage of this.stages) await stage[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}
