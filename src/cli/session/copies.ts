/** `wakechart session fork | export | import | delete`: sessions made from the log of another, and the end of one. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { ScriptRecorder, scriptText } from '../../machines/session/session-script.ts';
import { nextCommand } from '../context.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { homeOf } from './workspace-copies.ts';
import { withSessions } from '../open/stores.ts';
import { toldWhile } from '../terminal/progress.ts';
import { printable } from '../terminal/text.ts';
import { checkedSessionId } from './session.ts';

export interface ForkOptions {
  readonly session: string;
  readonly at: number | undefined;
  readonly title: string | undefined;
}

export async function forkSession(context: CommandContext, { session, at, title }: ForkOptions): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async ({ sessions }) => {
    const state = await sessions.fork(checkedSessionId(session), {
      ...(at === undefined ? {} : { atSeq: at }),
      ...(title === undefined ? {} : { title }),
    });
    if (json) return out.document(state);
    await out.line(
      `${out.styles.green('Forked')} at event ${state.forkOf?.seq ?? state.head}: session ${out.styles.bold(state.sessionId)}`,
    );
    await out.line(
      `Next: ${nextCommand(context, 'session', 'send', '--session', state.sessionId, '--message', 'TEXT')}`,
    );
  });
  return EXIT_SUCCESS;
}

export async function exportSession(
  context: CommandContext,
  { session, as }: { readonly session: string; readonly as: 'log' | 'script' },
): Promise<number> {
  const { out, err } = context;
  await withSessions(context, async ({ sessions }) => {
    const id = checkedSessionId(session);
    if (as === 'log') {
      const copy = async (): Promise<void> => {
        for await (const line of sessions.export(id)) await out.line(line.trimEnd());
      };
      // On a terminal the log itself is to be seen.
      await (out.isTerminal ? copy() : toldWhile(context, 'writing its log', copy));
    } else {
      const recorder = new ScriptRecorder();
      for await (const event of sessions.events(id)) recorder.ingest(event);
      const script = recorder.get();
      await out.line(scriptText(script));
      // A user who redirects the script into a file sees them too.
      for (const note of script.notes ?? []) await err.line(`${err.styles.yellow('note')} ${note}`);
    }
  });
  return EXIT_SUCCESS;
}

export async function importSession(
  context: CommandContext,
  { file, isTrusted }: { readonly file: string; readonly isTrusted: boolean },
): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async ({ sessions }) => {
    const state = await toldWhile(context, 'bringing its log in', () => sessions.import(linesOf(file), { isTrusted }));
    if (json) return out.document(state);
    await out.line(
      `${out.styles.green('Imported')} session ${out.styles.bold(state.sessionId)} of agent ${state.agentId}, ${state.head} events`,
    );
    if (!isTrusted)
      await out.line(
        '  works in the environment of its agent, and asks before each call that no rule allows; --trusted keeps the bounds that the export names',
      );
  });
  return EXIT_SUCCESS;
}

export async function deleteSession(context: CommandContext, session: string): Promise<number> {
  const { out, json } = context;
  await withSessions(context, async ({ sessions, workspaceCopies }) => {
    const id = checkedSessionId(session);
    const home = await homeOf(id, workspaceCopies);
    await sessions.delete(id);
    if (json) return out.document({ deleted: id, ...(home === undefined ? {} : { folderOn: home.host }) });
    await out.line(
      `${out.styles.green('Deleted')} session ${id}${workspaceCopies === undefined ? '' : ', with its log and the copy of its folder'}`,
    );
    if (home !== undefined)
      await out.line(
        `  The folder itself stays on ${printable(home.host)}, and what machines before it have put aside stays there; \`${nextCommand(context, 'doctor')}\` names it on each.`,
      );
  });
  return EXIT_SUCCESS;
}

async function* linesOf(file: string): AsyncGenerator<string, void, undefined> {
  try {
    yield* createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity });
  } catch (cause) {
    throw new RuntimeError('FILE_UNREADABLE', `could not read ${file}: ${messageOf(cause)}`, {
      category: 'storage',
      hint: 'Name a file that `session export` wrote.',
      cause,
    });
  }
}
