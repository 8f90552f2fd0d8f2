/** The tool `retrieval_search` as data. */
import * as z from 'zod';
import { readsOnly } from '../turn/tool-definition.ts';
import type { ToolDefinition } from '../turn/tool-definition.ts';
import { retrievalKind } from './retrieval-document.ts';
import { DEFAULT_CANDIDATES, MAX_CANDIDATES, MAX_QUERY_CHARACTERS } from './retrieval-limits.ts';
import { sessionRelation } from './session-relations.ts';

/** What stands with every list of candidates. */
export const HINTS_NOTE =
  'These are hints. Before you rely on one, open it with its expansionPlan: what the session holds is the truth.';

export const retrievalCandidate = z.strictObject({
  id: z.string(),
  kind: retrievalKind,
  sessionId: z.string().optional(),
  seqs: z.array(z.number()).readonly(),
  at: z.string().optional(),
  score: z.number(),
  confidence: z.enum(['low', 'medium', 'high']),
  because: z.string(),
  evidence: z.string(),
  expansionPlan: z
    .array(z.strictObject({ tool: z.string(), input: z.record(z.string(), z.unknown()).readonly() }))
    .readonly(),
});

const time = z.iso.datetime({ offset: true }).or(z.iso.date());

const searchInput = z.strictObject({
  query: z
    .string()
    .trim()
    .min(1)
    .max(MAX_QUERY_CHARACTERS)
    .describe('What you search for, in plain words: names, paths, numbers and error texts help most.'),
  kinds: z
    .array(retrievalKind)
    .min(1)
    .max(5)
    .optional()
    .describe(
      'Only these: "learning" (kept lessons), "memory" (MEMORY.md), "checkpoint" (summaries and outcomes), "text" (messages), "trace" (tool calls). Default: all.',
    ),
  relation: sessionRelation
    .optional()
    .describe(
      'Only sessions related to this one: "self", "ancestors", "descendants", "siblings", "family" (all of these). Default "agent": every session of yours, with learnings and memory.',
    ),
  since: time.optional().describe('Only what happened at this time or later, such as 2026-03-01.'),
  until: time.optional().describe('Only what happened at this time or before; a date counts from its beginning.'),
  tool: z.string().min(1).max(200).optional().describe('Only calls of this tool.'),
  limit: z
    .number()
    .int()
    .min(1)
    .max(MAX_CANDIDATES)
    .optional()
    .describe(`Candidates at most. Default ${DEFAULT_CANDIDATES}.`),
});

const searchOutput = z.strictObject({
  candidates: z.array(retrievalCandidate),
  searched: z.strictObject({ sessions: z.number(), documents: z.number(), characters: z.number() }),
  note: z.string(),
});

export type RetrievalSearchInput = Readonly<z.output<typeof searchInput>>;
export type RetrievalSearchOutput = Readonly<z.output<typeof searchOutput>>;

export const retrievalSearchDefinition: ToolDefinition<RetrievalSearchInput> = {
  name: 'retrieval_search',
  description:
    'Searches what your agent knows: learnings, memory, summaries, messages and tool calls of all its sessions, but for the current turn of this one. Gives candidates with evidence and with the calls that open them. ' +
    'Candidates are hints; what those calls show is the truth.',
  inputSchema: searchInput,
  outputSchema: searchOutput,
  ...readsOnly,
  family: 'retrieval',
  effects: ['reads_sessions'],
};
