/** `wakechart store copy`: every session of a store to another, both ways, as often as it takes. */
import { realpath } from 'node:fs/promises';
import { copyStore } from '../../actors/session/store-copy.ts';
import type { CopyProgress, SessionOutcome, StoreCopy } from '../../actors/session/store-copy.ts';
import { RuntimeError } from '../../machines/errors.ts';
import type { NodeStore } from '../../node/node-store.ts';
import { FILES, isDatabase, storeNamed } from '../open/chosen-store.ts';
import type { CommandContext } from '../context.ts';
import { textAsTyped } from '../context.ts';
import { CopiedFolders } from './copied-folders.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { absolutePath, checkHome, isHomeThere } from '../home.ts';
import { withStore } from '../open/store.ts';
import type { StorePlace } from '../open/store.ts';
import { Progress } from '../terminal/progress.ts';
import { counted, printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';

interface CopyPlace extends StorePlace {
  readonly shown: string;
}

export async function copyStores(
  context: CommandContext,
  words: { readonly from: string; readonly to: string },
): Promise<number> {
  const from = placeOf(context, words.from, '--from');
  const to = placeOf(context, words.to, '--to');
  if (await isSame(from, to)) throw usageError('expected two different stores', 'Name another one with --to.');
  if (from.store === undefined && !(await isHomeThere(from.home)))
    throw new RuntimeError('HOME_NOT_FOUND', `expected a home to copy from; there is nothing at ${from.home}`, {
      category: 'not_found',
      hint: 'Name it with --from DIR.',
    });
  for (const { store, home } of [from, to]) if (store === undefined) await checkHome(home);
  const telling = new Telling(context, { from, to });
  // A signal ends it between two records; what is there then is gone on with.
  const release = context.interruption.guard(() => undefined);
  try {
    const { copy, folders } = await withStore(from, (source) =>
      withStore(to, (target) => copied({ source, target, from, to }, context.interruption.signal, telling)),
    );
    await telling.end(copy, folders);
    return copy.left.length > 0 || copy.isStopped ? EXIT_FAILURE : EXIT_SUCCESS;
  } finally {
    telling.stop();
    release();
  }
}

interface CopiedStores {
  readonly source: NodeStore;
  readonly target: NodeStore;
  readonly from: CopyPlace;
  readonly to: CopyPlace;
}

async function copied(
  { source, target, from, to }: CopiedStores,
  signal: AbortSignal,
  telling: Telling,
): Promise<{ readonly copy: StoreCopy; readonly folders: CopiedFolders }> {
  const folders = new CopiedFolders(
    { ...from, workspaceCopies: source.workspaceCopies },
    { ...to, workspaceCopies: target.workspaceCopies },
  );
  const copy = await copyStore({
    from: source.store,
    to: target.store,
    signal,
    onCarried: (session) => folders.carry(session, signal),
    onSession: (outcome, progress) => telling.session(outcome, progress),
  });
  return { copy, folders };
}

/** Says what becomes of each session, and of all of them. */
class Telling {
  readonly #context: CommandContext;
  readonly #places: Readonly<Record<'from' | 'to', CopyPlace>>;
  readonly #progress: Progress;

  constructor(context: CommandContext, places: Readonly<Record<'from' | 'to', CopyPlace>>) {
    this.#context = context;
    this.#places = places;
    this.#progress = new Progress(context.err);
    this.#progress.waitFor(`copying to ${places.to.shown}`);
  }

  session(outcome: SessionOutcome, { done, total }: CopyProgress): void {
    const { out, err, json } = this.#context;
    this.#progress.stop();
    if (json) void out.push(`${JSON.stringify({ session: outcome })}\n`);
    else if ('error' in outcome)
      void err.push(
        `${err.styles.red('error:')} ${printable(outcome.error.message)} ${err.styles.dim(`[${outcome.error.code}]`)}\n  ${err.styles.cyan('hint:')} ${printable(textAsTyped(this.#context, outcome.error.hint ?? 'Copy again; what is there is not copied twice.'))}\n`,
      );
    else
      void out.push(
        `${outcome.kind.padEnd(9)}  ${outcome.sessionId}  ${outcome.agentId}  ${counted(outcome.events, 'event')}${outcome.kind === 'completed' ? ` (${outcome.added} new)` : ''}  ${out.styles.dim(outcome.sha256)}\n`,
      );
    this.#progress.waitFor(`copied ${done} of ${counted(total, 'session')} to ${this.#places.to.shown}`);
  }

  async end(copy: StoreCopy, folders: CopiedFolders): Promise<void> {
    this.#progress.stop();
    const { out, json } = this.#context;
    const { from, to } = this.#places;
    if (json)
      return out.record({
        from: from.shown,
        to: to.shown,
        ...copy,
        left: copy.left.map(({ sessionId, agentId, kind, error }) => ({ sessionId, agentId, kind, code: error.code })),
        folders: { copied: folders.copied, left: folders.left, aside: folders.aside },
      });
    await this.#folders(folders);
    const same = copy.copied + copy.completed + copy.unchanged;
    const rest = copy.sessions - same;
    await out.line(
      `${copy.isStopped ? out.styles.yellow('Stopped:') : out.styles.green('Copied:')} ${copy.copied} new, ${copy.completed} completed, ${copy.unchanged} there already; ${counted(copy.added, 'event')} stored, nothing deleted`,
    );
    await out.line(
      `The same in both: ${same} of ${counted(copy.sessions, 'session')}, ${counted(copy.events, 'event')}, SHA-256 ${copy.sha256}`,
    );
    if (folders.copied + folders.left.length > 0)
      await out.line(`Folders of sessions: ${folders.copied} copied, ${folders.left.length} left where they are`);
    if (rest > 0) await out.line(`Not the same: ${counted(rest, 'session')}. Run the same command again to go on.`);
    else
      await out.line(
        'Sessions and what is due were copied. Agents, environments, skills, accounts and schedules are not kept with them and were not.',
      );
  }

  stop(): void {
    this.#progress.stop();
  }

  async #folders({ left, aside }: CopiedFolders): Promise<void> {
    const { err } = this.#context;
    const note = err.styles.yellow('note:');
    for (const { sessionId, where, bound } of left) {
      if (bound === undefined)
        await err.line(`${note} session ${sessionId} was copied without its folder, which is ${printable(where)}`);
      else
        await err.line(
          `${note} session ${sessionId} is bound to this machine, and others leave it alone: ${printable(bound)}. Its folder is ${printable(where)}`,
        );
    }
    for (const { sessionId, setAside } of aside)
      await err.line(
        `${note} what lay in the folder of session ${sessionId} and was in no copy is ${printable(setAside)}`,
      );
  }
}

/**
 * Says that the store is meant which $WAKECHART_STORE names, or a file: its URL need not be written on the command
 * line.
 */
const CHOSEN = 'store';

function placeOf({ home, store: chosen }: CommandContext, text: string, option: string): CopyPlace {
  if (text === CHOSEN) {
    if (chosen === undefined)
      throw usageError(
        `expected a database for ${option} ${CHOSEN}, and none is named`,
        `Set $WAKECHART_STORE, or say --store-file FILE. A folder of that name is ./${CHOSEN}.`,
      );
    return { home, store: chosen, shown: chosen.shown };
  }
  if (isDatabase(text)) {
    const store = storeNamed(text, option);
    return { home, store, shown: store?.shown ?? home };
  }
  // The user meant a database of another kind.
  if (/^[a-z]+:\/\//i.test(text))
    throw usageError(
      `expected ${option} to be ${FILES}, a folder, or the URL of a PostgreSQL database`,
      'Write a URL as postgres://user@host:5432/database.',
    );
  const folder = text === FILES ? home : absolutePath(text);
  return { home: folder, store: undefined, shown: folder };
}

async function isSame(one: CopyPlace, other: CopyPlace): Promise<boolean> {
  if (one.store !== undefined || other.store !== undefined) return one.shown === other.shown;
  const real = (path: string): Promise<string> => realpath(path).catch(() => path);
  return (await real(one.home)) === (await real(other.home));
}
