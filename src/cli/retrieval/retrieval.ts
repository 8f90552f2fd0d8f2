/** `wakechart retrieval …`: searches for what an agent knows, as its own tool does, and makes the index anew. */
import { memorySectionsOf } from '../../machines/memory/memory-sections.ts';
import { join } from 'node:path';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { Retrieval } from '../../actors/retrieval/retrieval.ts';
import type { Sessions } from '../../actors/session/sessions.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import type { RetrievalCandidate } from '../../machines/retrieval/candidate.ts';
import { MAX_QUERY_CHARACTERS } from '../../machines/retrieval/retrieval-limits.ts';
import { HINTS_NOTE, retrievalSearchDefinition } from '../../machines/retrieval/retrieval-tool.ts';
import type { SessionRelation } from '../../machines/retrieval/session-relations.ts';
import { parseOrThrow } from '../../machines/validate.ts';
import { FileRetrievalIndex } from '../../adapters/retrieval-files/file-retrieval-index.ts';
import type { CommandContext } from '../context.ts';
import { EXIT_SUCCESS } from '../failure.ts';
import { withSessions } from '../open/stores.ts';
import { toldWhile } from '../terminal/progress.ts';
import { counted, localTime, printable } from '../terminal/text.ts';
import { checkedAgentName, usageError } from '../usage.ts';
import { memoryStores } from '../memory/stores.ts';
import { checkedSessionId } from '../session/session.ts';

export interface SearchOptions {
  readonly agent: string;
  readonly query: string;
  readonly kind?: readonly string[];
  readonly session?: string;
  readonly relation?: string;
  readonly since?: string;
  readonly until?: string;
  readonly tool?: string;
  readonly limit?: number;
}

/** Whether the tool reads it as a time. */
export function isTime(value: string): boolean {
  return retrievalSearchDefinition.inputSchema.safeParse({ query: 'any', since: value }).success;
}

/** The folder of the index in that of an agent. */
const RETRIEVAL_FOLDER = 'retrieval';

export async function searchRetrieval(
  context: CommandContext,
  { agent, session, kind, ...wanted }: SearchOptions,
): Promise<number> {
  const { relation, since, until, tool, limit } = wanted;
  const query = checkedQuery(wanted.query);
  const input = parseOrThrow(
    retrievalSearchDefinition.inputSchema,
    definedOnly({ query, kinds: kind, relation, since, until, tool, limit }),
    { what: 'search', code: 'RETRIEVAL_REQUEST_INVALID' },
  );
  const sessionId = session === undefined ? undefined : checkedSessionId(session);
  checkRelation(input.relation, sessionId);
  const answer = await withRetrieval(context, agent, async (retrieval, agentId, sessions) => {
    if (sessionId !== undefined) await checkAsker(sessionId, agentId, sessions);
    return toldWhile(context, 'reading what is new, and searching', () =>
      retrieval.search({ ...input, agentId, sessionId }),
    );
  });
  const { out, json } = context;
  if (json) await out.document({ ...answer, note: HINTS_NOTE });
  else {
    for (const candidate of answer.candidates) await tell(context, candidate);
    const { sessions, documents } = answer.searched;
    await out.line(
      out.styles.dim(
        `${counted(answer.candidates.length, 'candidate')} from ${counted(sessions, 'session')}, ${counted(documents, 'document')}. What a session holds is the truth; these are hints.`,
      ),
    );
  }
  return EXIT_SUCCESS;
}

export async function rebuildRetrieval(context: CommandContext, agent: string): Promise<number> {
  const report = await withRetrieval(context, agent, async (retrieval, agentId) => {
    await retrieval.clear(agentId);
    return toldWhile(context, 'reading all sessions of the agent', () => retrieval.refresh(agentId));
  });
  const { out, json } = context;
  if (json) await out.document(report);
  else
    await out.line(
      `Made anew from ${counted(report.sessionsRead, 'session')}, ${counted(report.eventsRead, 'event')}.`,
    );
  return EXIT_SUCCESS;
}

/** @throws RuntimeError AGENT_NOT_FOUND */
function withRetrieval<Result>(
  context: CommandContext,
  agent: string,
  work: (retrieval: Retrieval, agentId: string, sessions: Pick<Sessions, 'status'>) => Promise<Result>,
): Promise<Result> {
  const name = checkedAgentName(agent);
  return withSessions(context, async ({ agents, layout, sessions }) => {
    const { agentId } = await agents.get(name);
    const { err } = context;
    const tellNote = (note: string): void => void err.push(`${err.styles.yellow('note:')} ${printable(note)}\n`);
    const onTrouble = (error: unknown): void => tellNote(messageOf(error));
    const index = new FileRetrievalIndex({
      folderOf: (id) => join(layout.agentDirectory(id), RETRIEVAL_FOLDER),
      onTrouble: (error) =>
        tellNote(`the index could not be read or kept, and the logs were read instead: ${messageOf(error)}`),
    });
    const { memory, learnings } = memoryStores(layout);
    const sources = {
      sessions,
      learnings: { learnings: (id: string) => learnings.list(id) },
      memory: { memoryEntries: async (id: string) => memorySectionsOf(await memory.read(id)) },
    };
    try {
      return await work(new Retrieval({ index, sources, clock: createSystemClock(), onTrouble }), agentId, sessions);
    } finally {
      await index.close();
    }
  });
}

async function tell(
  { out }: CommandContext,
  { kind, confidence, sessionId, seqs, at, evidence }: RetrievalCandidate,
): Promise<void> {
  const place =
    sessionId === undefined ? '' : `  session ${sessionId}${seqs.length === 0 ? '' : ` event ${seqs.join(', ')}`}`;
  await out.line(
    `${out.styles.cyan(kind)}  ${confidence}${place}${at === undefined ? '' : `  ${out.styles.dim(localTime(at))}`}`,
  );
  await out.line(`  ${printable(evidence)}`);
}

/** @throws a usage error: the user of a command should not have to know what the tool calls its fields */
function checkedQuery(words: string): string {
  const query = words.trim();
  if (query === '')
    throw usageError(
      'expected words to search for, received none',
      'Names, paths, numbers and error texts help most: wakechart retrieval search --agent NAME "which port does staging use"',
    );
  if (query.length > MAX_QUERY_CHARACTERS)
    throw usageError(
      `expected at most ${MAX_QUERY_CHARACTERS} characters to search for, received ${query.length}`,
      'A few words will do.',
    );
  return query;
}

/**
 * @throws a usage error: without a session nothing is related to anything, and finding nothing would look like an
 * answer
 */
function checkRelation(relation: SessionRelation | undefined, sessionId: string | undefined): void {
  if (relation === undefined || relation === 'agent' || sessionId !== undefined) return;
  throw usageError(
    `expected --session with --relation ${relation}, received none: relations are as seen from a session`,
    `Name it, as in --relation ${relation} --session ID, or leave --relation out to search all sessions of the agent.`,
  );
}

/** @throws RuntimeError SESSION_NOT_FOUND, SESSION_OF_ANOTHER_AGENT */
async function checkAsker(sessionId: string, agentId: string, sessions: Pick<Sessions, 'status'>): Promise<void> {
  const { agentId: owner } = await sessions.status(sessionId);
  if (owner === agentId) return;
  throw new RuntimeError(
    'SESSION_OF_ANOTHER_AGENT',
    `expected a session of agent ${agentId}, ${sessionId} is one of agent ${owner}`,
    {
      category: 'validation',
      hint: `Search what that agent knows with --agent ${owner}, or name a session of ${agentId}.`,
    },
  );
}

function definedOnly(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
