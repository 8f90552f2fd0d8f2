/** What has changed since a session began: in its workspace, and in the worktrees of its jobs. */
import { messageOf } from '../../machines/errors.ts';
import type { SessionState } from '../../machines/session/session-state.ts';
import type { Clock } from '../clock/clock.ts';
import type { KeptWorktree, WorktreeStore } from '../subagent/worktree-adapter.ts';
import type { FolderChanges, FolderDifference, FolderCheck } from './folder-changes.ts';
import type { InspectedText } from './inspected-text.ts';
import type { InspectedChanges } from './inspection-source.ts';
import type { SessionLedger } from './session-ledger.ts';

export interface SessionChangesOptions {
  readonly clock: Pick<Clock, 'setTimeout' | 'clearTimeout'>;
  readonly text: InspectedText;
  readonly folders: FolderChanges;
  /** The folder in which a session works, absolute; it is not made for being checked. */
  readonly workspaceOf: (session: SessionState) => string;
  /** Knows the worktrees that are there. Absent: none are made. */
  readonly worktrees?: Pick<WorktreeStore, 'list'> | undefined;
  readonly onProblem: (error: unknown) => void;
}

/** Less than a browser is let wait. */
const CHECK_MS = 8_000;
const MAX_WORKTREES = 16;
const MAX_FILES = 1_000;
const MAX_PATH_CHARACTERS = 1_000;
const MAX_COMMITS = 20;
const MAX_CONFLICTS = 100;
const MAX_LINE_CHARACTERS = 300;
const MAX_DIFFERENCE_CHARACTERS = 256 * 1024;

export class SessionChanges {
  readonly #options: SessionChangesOptions;
  /** Those that check just now: several browsers check together. */
  readonly #checks = new Map<string, Promise<readonly InspectedChanges[]>>();

  constructor(options: SessionChangesOptions) {
    this.#options = options;
  }

  of(state: SessionState, ledger: SessionLedger): Promise<readonly InspectedChanges[]> {
    const { sessionId } = state;
    const known = this.#checks.get(sessionId);
    if (known !== undefined) return known;
    const check = this.#check(state, ledger).finally(() => this.#checks.delete(sessionId));
    this.#checks.set(sessionId, check);
    return check;
  }

  async #check(state: SessionState, ledger: SessionLedger): Promise<readonly InspectedChanges[]> {
    const { clock, workspaceOf } = this.#options;
    const late = new AbortController();
    const timer = clock.setTimeout(() => late.abort(), CHECK_MS);
    try {
      const folder = workspaceOf(state);
      const begunAt = Date.parse(state.createdAt ?? '');
      const changes = [
        await this.#read(folder, {
          title: 'the workspace',
          ...(Number.isNaN(begunAt) ? {} : { begunAt }),
          signal: late.signal,
        }),
      ];
      for (const { worktree, title } of await this.#worktreesOf(state, ledger)) {
        // A job works in the worktree that it was given: it is the workspace of its session.
        if (worktree.worktreePath === folder) continue;
        changes.push(
          await this.#read(worktree.worktreePath, {
            title: `the worktree of ${title}`,
            since: worktree.baseRevision,
            signal: late.signal,
          }),
        );
      }
      return changes;
    } finally {
      clock.clearTimeout(timer);
    }
  }

  async #worktreesOf(
    { sessionId }: SessionState,
    { jobs }: SessionLedger,
  ): Promise<readonly { readonly worktree: KeptWorktree; readonly title: string }[]> {
    const titles = new Map(
      jobs.flatMap(({ jobId, childSessionId, title }) => [
        [jobId, title] as const,
        [`${sessionId}/${childSessionId}`, title] as const,
      ]),
    );
    try {
      const all = (await this.#options.worktrees?.list()) ?? [];
      const own = all.flatMap((worktree) => {
        const title = titles.get(worktree.jobId) ?? titles.get(worktree.key ?? '');
        return title === undefined ? [] : [{ worktree, title }];
      });
      return own.slice(-MAX_WORKTREES);
    } catch (error) {
      this.#options.onProblem(error);
      return [];
    }
  }

  async #read(
    folder: string,
    {
      title,
      ...check
    }: { readonly title: string; readonly signal: AbortSignal } & Pick<FolderCheck, 'since' | 'begunAt'>,
  ): Promise<InspectedChanges> {
    const { folders, onProblem } = this.#options;
    try {
      const maxCharacters = MAX_DIFFERENCE_CHARACTERS + this.#options.text.margin;
      return this.#shown(title, await folders.read(folder, { maxCharacters, ...check }), maxCharacters);
    } catch (error) {
      const { signal } = check;
      if (!signal.aborted) onProblem(error);
      const because = signal.aborted ? 'it took too long to check' : `it could not be checked (${messageOf(error)})`;
      return this.#shown(title, { files: [], fileCount: 0, difference: '', isCut: false, because }, Infinity);
    }
  }

  #shown(
    title: string,
    { branch, files, fileCount, difference, since, commits, commitCount, underWay, isCut, because }: FolderDifference,
    maxCharacters: number,
  ): InspectedChanges {
    const { text } = this.#options;
    const isLong = difference.length > MAX_DIFFERENCE_CHARACTERS;
    return {
      title: text.cut(title, MAX_PATH_CHARACTERS),
      ...(branch === undefined ? {} : { branch: text.cut(branch, MAX_PATH_CHARACTERS) }),
      files: files.slice(0, MAX_FILES).map((file) => ({ ...file, path: text.cut(file.path, MAX_PATH_CHARACTERS) })),
      fileCount,
      // It is cut between two characters, and a secret may be torn there.
      difference: text.cut(difference, MAX_DIFFERENCE_CHARACTERS, difference.length >= maxCharacters - 1),
      ...(since === undefined ? {} : { since: text.cut(since, MAX_LINE_CHARACTERS) }),
      ...(commits === undefined
        ? {}
        : {
            commits: commits.slice(0, MAX_COMMITS).map(({ hash, subject, at }) => ({
              hash: text.cut(hash, MAX_LINE_CHARACTERS),
              subject: text.cut(subject, MAX_LINE_CHARACTERS),
              at,
            })),
          }),
      ...(commitCount === undefined ? {} : { commitCount }),
      ...(underWay === undefined
        ? {}
        : {
            underWay: {
              what: underWay.what,
              files: underWay.files.slice(0, MAX_CONFLICTS).map((path) => text.cut(path, MAX_LINE_CHARACTERS)),
            },
          }),
      isCut: isCut || isLong || files.length > MAX_FILES,
      ...(because === undefined ? {} : { because: text.cut(because, MAX_PATH_CHARACTERS) }),
    };
  }
}
