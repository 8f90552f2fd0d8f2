/**
 * `wakechart memory …`: what an agent remembers, its versions, and changing it: through the gate for a session, or as
 * people may.
 */
import { keepLearnings, promoteForSession } from '../../actors/memory/session-promotion.ts';
import { requirePromotion } from '../../actors/outcome/promotion-gate.ts';
import { createIdSource } from '../../actors/session/id-source.ts';
import { SessionJournal } from '../../actors/session/session-journal.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { MEMORY_FILE } from '../../machines/memory/shared-file-path.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { withSessions } from '../open/stores.ts';
import { tableLines } from '../terminal/table.ts';
import { counted, localTime, printable } from '../terminal/text.ts';
import { listVersions, memoryStores, withMemory } from './stores.ts';
import { checkedSessionId } from '../session/session.ts';
import { showDifference } from './shared-difference.ts';
import type { DifferenceOptions } from './shared-difference.ts';

export async function showMemory(
  context: CommandContext,
  { agent, version }: { readonly agent: string; readonly version: number | undefined },
): Promise<number> {
  const { out, err, json } = context;
  const { agentId, ...reading } = await withMemory(context, agent, async ({ memory }, id) => ({
    agentId: id,
    ...(await memory.read(id, version)),
  }));
  if (json) await out.document({ agentId, ...reading });
  else if (reading.text === '') await out.line(`Agent ${agentId} remembers nothing yet (version ${reading.version}).`);
  else {
    await out.line(out.styles.dim(`version ${reading.version}`));
    const rows = reading.entries.map(({ learningId, kind, at, title }) => [learningId, kind, localTime(at), title]);
    if (rows.length > 0)
      for (const line of tableLines(['ENTRY', 'KIND', 'LEARNED', 'TITLE'], rows, out)) await out.line(line);
    await out.line('');
    for (const line of reading.text.trimEnd().split('\n')) await out.line(printable(line));
  }
  if (reading.problem !== undefined && !json)
    await err.line(`${err.styles.yellow('note:')} ${printable(reading.problem)}`);
  return EXIT_SUCCESS;
}

export function listMemoryVersions(context: CommandContext, agent: string): Promise<number> {
  return listVersions(context, agent, {
    isListed: ({ changed }) => changed.includes(MEMORY_FILE),
    none: (agentId) => `The memory of agent ${agentId} has no versions yet.`,
  });
}

export function diffMemory(context: CommandContext, options: Omit<DifferenceOptions, 'paths'>): Promise<number> {
  return showDifference(context, { ...options, paths: [MEMORY_FILE] });
}

export interface PromoteOptions {
  readonly session: string;
  /** None: those that wait for it. */
  readonly learning: readonly string[];
  readonly expectedVersion: number | undefined;
}

export async function promoteMemory(
  context: CommandContext,
  { session, learning, expectedVersion }: PromoteOptions,
): Promise<number> {
  const { out, json } = context;
  const result = await withSessions(context, async ({ layout, sessions, store, clock }) => {
    const { sessionId, agentId } = await sessions.status(checkedSessionId(session));
    const journal = await SessionJournal.open(sessionId, { store, clock, ids: createIdSource({ clock }) });
    const writing = {
      state: () => journal.state,
      append: async (drafts: Parameters<SessionJournal['append']>[0]) => void (await journal.append(drafts)),
    };
    // The gate first: what is kept besides is no business of a session that may not promote.
    requirePromotion(journal.state);
    const { sharedFiles, learnings, memory } = memoryStores(layout);
    await keepLearnings(writing, { store, learnings });
    return {
      sessionId,
      agentId,
      ...(await promoteForSession(
        writing,
        { store, sharedFiles, learnings, memory },
        { learningIds: learning, expectedVersion },
      )),
    };
  });
  if (json) await out.document(result);
  else
    await out.line(
      `${out.styles.green('Promoted')} ${counted(result.learningIds.length, 'learning')}: the memory of agent ${result.agentId} is at version ${result.version}`,
    );
  return EXIT_SUCCESS;
}

export async function restoreMemory(
  context: CommandContext,
  {
    agent,
    version,
    expectedVersion,
  }: { readonly agent: string; readonly version: number; readonly expectedVersion: number | undefined },
): Promise<number> {
  const { out, json } = context;
  const result = await withMemory(context, agent, async ({ sharedFiles, memory }, agentId) => ({
    agentId,
    ...(await memory.people.restore({
      agentId,
      version,
      expectedVersion: expectedVersion ?? (await sharedFiles.head(agentId)).version,
    })),
  }));
  if (json) await out.document(result);
  else
    await out.line(
      result.isNew
        ? `${out.styles.green('Restored')} the entries of version ${version} as version ${result.version}`
        : `The entries are those of version ${version} already.`,
    );
  return EXIT_SUCCESS;
}

export async function forgetMemory(
  context: CommandContext,
  { agent, entry }: { readonly agent: string; readonly entry: string },
): Promise<number> {
  const { out, json } = context;
  const result = await withMemory(context, agent, async ({ memory }, agentId) => {
    const forgotten = await memory.people.forget(agentId, entry);
    if (forgotten === undefined)
      throw new RuntimeError(
        'MEMORY_ENTRY_NOT_FOUND',
        `the memory of agent ${agentId} has no entry ${JSON.stringify(entry)}`,
        { category: 'not_found', hint: `Check those that it has: wakechart memory show --agent ${agentId}` },
      );
    return { agentId, ...forgotten };
  });
  if (json) await out.document({ ...result, entry });
  else
    await out.line(`${out.styles.green('Forgotten')} ${printable(entry)}: the memory is at version ${result.version}`);
  return EXIT_SUCCESS;
}
