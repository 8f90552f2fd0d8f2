/** `wakechart learnings …`: what agents have learned, taking it out, and making it anew of the logs. */
import { rebuildLearnings } from '../../actors/memory/captured-learnings.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { KeptLearning } from '../../machines/memory/learning.ts';
import type { CommandContext } from '../context.ts';
import { nextCommand, textAsTyped } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { withStore } from '../open/store.ts';
import { fieldLines, tableLines } from '../terminal/table.ts';
import { counted, localTime, printable } from '../terminal/text.ts';
import { withMemory } from './stores.ts';

export interface LearningsFilter {
  readonly agent: string;
  readonly kind: KeptLearning['kind'] | undefined;
  readonly text: string | undefined;
  readonly all: boolean;
}

export async function listLearnings(
  context: CommandContext,
  { agent, kind, text, all }: LearningsFilter,
): Promise<number> {
  const { out, err, json } = context;
  const { agentId, learnings, damagedLines } = await withMemory(context, agent, async (stores, id) => ({
    agentId: id,
    learnings: await stores.learnings.list(id, { kind, text, includeForgotten: all }),
    ...(await stores.learnings.examine(id).then(({ damagedLines: damaged }) => ({ damagedLines: damaged }))),
  }));
  if (json) await out.document({ agentId, learnings, damagedLines });
  else if (learnings.length === 0)
    await out.line(
      `Agent ${agentId} has learned nothing${kind === undefined && text === undefined ? ' yet' : ' of this kind'}.`,
    );
  else
    for (const line of tableLines(['LEARNING', 'KIND', 'TIMES', 'LAST', 'TITLE'], learnings.map(row), out))
      await out.line(line);
  if (damagedLines > 0)
    await err.line(
      `${err.styles.yellow('note:')} ${counted(damagedLines, 'record')} cannot be read; \`${textAsTyped(context, 'wakechart learnings rebuild')}\` makes them anew of the logs`,
    );
  return EXIT_SUCCESS;
}

export async function showLearning(
  context: CommandContext,
  { agent, learning }: { readonly agent: string; readonly learning: string },
): Promise<number> {
  const { out, json } = context;
  const found = await withMemory(context, agent, async ({ learnings }, agentId) => {
    const each = await learnings.get(agentId, learning);
    if (each === undefined) throw notFound(agentId, learning);
    return each;
  });
  if (json) await out.document(found);
  else for (const line of fieldLines(fieldsOf(found), out)) await out.line(line);
  return EXIT_SUCCESS;
}

export async function forgetLearning(
  context: CommandContext,
  { agent, learning }: { readonly agent: string; readonly learning: string },
): Promise<number> {
  const { out, json } = context;
  const { agentId, isInMemory } = await withMemory(context, agent, async ({ learnings, memory }, id) => {
    if (!(await learnings.forget(id, learning))) throw notFound(id, learning);
    return {
      agentId: id,
      isInMemory: (await memory.read(id)).entries.some(({ learningId }) => learningId === learning),
    };
  });
  if (json) await out.document({ agentId, learningId: learning, forgotten: true, isInMemory });
  else {
    await out.line(`${out.styles.green('Forgotten')} ${printable(learning)}`);
    if (isInMemory)
      await out.line(
        `It is in the memory too: ${nextCommand(context, 'memory', 'forget', '--agent', agentId, '--entry', printable(learning))}`,
      );
  }
  return EXIT_SUCCESS;
}

export async function rebuildAgentLearnings(context: CommandContext, agent: string): Promise<number> {
  const { out, err, json } = context;
  const unreadable: { sessionId: string; error: string }[] = [];
  const { agentId, learnings } = await withMemory(context, agent, async (stores, id) => {
    const onUnreadable = (sessionId: string, error: unknown): void =>
      void unreadable.push({ sessionId, error: messageOf(error) });
    const result = await withStore(context, ({ store }) =>
      rebuildLearnings({ agentId: id, store, learnings: stores.learnings, onUnreadable }),
    );
    return { agentId: id, ...result };
  });
  if (json) await out.document({ agentId, learnings, unreadable });
  else {
    for (const each of unreadable)
      await err.line(
        `${err.styles.yellow('note:')} session ${each.sessionId} cannot be read: ${printable(each.error)}`,
      );
    await out.line(`${out.styles.green('Rebuilt')} ${counted(learnings, 'learning')} of agent ${agentId}`);
  }
  return unreadable.length === 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

function row({ learningId, kind, count, lastSeenAt, title, isForgotten }: KeptLearning): string[] {
  return [learningId, kind, String(count), localTime(lastSeenAt), isForgotten ? `(taken out) ${title}` : title];
}

function fieldsOf({
  learningId,
  kind,
  title,
  detail,
  count,
  at,
  lastSeenAt,
  sessionId,
  seq,
  dedupeKey,
}: KeptLearning): [string, string | undefined][] {
  return [
    ['learning', printable(learningId)],
    ['kind', kind],
    ['title', printable(title)],
    ['detail', printable(detail)],
    ['learned', `${localTime(at)}${count === 1 ? '' : `, ${count} times, last ${localTime(lastSeenAt)}`}`],
    ['from', `session ${sessionId}, event ${seq}`],
    ['key', dedupeKey === undefined ? undefined : printable(dedupeKey)],
  ];
}

function notFound(agentId: string, learningId: string): RuntimeError {
  return new RuntimeError('LEARNING_NOT_FOUND', `agent ${agentId} has no learning ${JSON.stringify(learningId)}`, {
    category: 'not_found',
    hint: `List them: wakechart learnings list --agent ${agentId}`,
  });
}
