/** The managed tools around outcomes: what a model is told of each, what it may send and what it gets. */
import * as z from 'zod';
import { outcomeGrade, outcomeVerdict } from '../session/improvement-events.ts';
import { readsOnly } from '../turn/tool-definition.ts';
import type { ToolDefinition } from '../turn/tool-definition.ts';
import { parseOrThrow } from '../validate.ts';

const DEFAULT_HISTORY_ENTRIES = 20;
const MAX_HISTORY_ENTRIES = 100;

const historyLimit = z.number().int().min(1).max(MAX_HISTORY_ENTRIES);

/** @throws RuntimeError SESSION_REQUEST_INVALID */
export function checkHistoryLimit(limit: unknown = DEFAULT_HISTORY_ENTRIES): number {
  return parseOrThrow(historyLimit, limit, { what: 'limit of the history', code: 'SESSION_REQUEST_INVALID' });
}

const defineInput = z.strictObject({
  title: z.string().trim().min(1).max(200).describe('What is to be achieved, in one sentence.'),
  detail: z.string().max(2_000).optional().describe('More about it.'),
  criteria: z
    .array(z.string().trim().min(1).max(500))
    .max(20)
    .optional()
    .describe(
      'How to tell that it is achieved. "<command> exits with <n>" is understood as it stands; everything else takes a check or a judge.',
    ),
});

const noInput = z.strictObject({});
const historyInput = z.strictObject({
  limit: historyLimit
    .optional()
    .describe(`Evaluations to give at most, the newest. Default ${DEFAULT_HISTORY_ENTRIES}.`),
});

export type OutcomeDefineInput = Readonly<z.output<typeof defineInput>>;
export type OutcomeHistoryInput = Readonly<z.output<typeof historyInput>>;

const evidence = z.object({
  kind: z.string(),
  speaks: z.enum(['for', 'against', 'neither']),
  text: z.string(),
  seq: z.number().optional(),
});

const outcome = z.object({
  title: z.string(),
  detail: z.string().optional(),
  criteria: z.array(z.string()).optional(),
  by: z.enum(['person', 'agent']),
  hasCheck: z.boolean(),
});

const outputs = {
  define: z.object({ defined: z.literal(true), title: z.string() }),
  grade: z.object({
    grade: outcomeGrade,
    because: z.string(),
    outcome: outcome.optional(),
    evaluation: z.object({ verdict: outcomeVerdict, because: z.string() }).optional(),
    mayPromote: z.boolean(),
    promotionProblem: z.string().optional(),
  }),
  evaluate: z.object({
    verdict: outcomeVerdict,
    because: z.string(),
    grade: outcomeGrade,
    evidence: z.array(evidence),
    throughSeq: z.number(),
    evaluators: z.array(z.string()),
  }),
  history: z.object({
    entries: z.array(
      z.object({
        seq: z.number(),
        at: z.string(),
        verdict: outcomeVerdict,
        because: z.string(),
        throughSeq: z.number(),
        evaluators: z.array(z.string()),
        isOfEarlierOutcome: z.literal(true).optional(),
      }),
    ),
    trend: z.enum(['better', 'worse', 'same', 'flapping']),
    fromSeq: z.number(),
  }),
};

export type GradedOutcome = Readonly<z.output<typeof outputs.grade>>;

const managed = {
  ownership: 'managed',
  family: 'outcome',
  permissionPolicy: 'always_allow',
  destructive: false,
} as const;
const checking = { ...readsOnly, family: 'outcome', effects: ['reads_sessions'] } as const;

export const outcomeDefineDefinition: ToolDefinition<OutcomeDefineInput> = {
  ...managed,
  name: 'outcome_define',
  description:
    'Says what this session is to achieve, where no client has said it. What a client has defined stands. It cannot set a command that checks the outcome: only people do.',
  inputSchema: defineInput,
  outputSchema: outputs.define,
  effects: ['writes_session'],
  readOnly: false,
  interruptBehavior: 'finish',
};

export const outcomeGradeDefinition: ToolDefinition<Readonly<z.output<typeof noInput>>> = {
  ...checking,
  name: 'outcome_grade',
  description:
    'Tells how far this session has come with its outcome, how it was evaluated last, and whether it may promote anything now, and why not.',
  inputSchema: noInput,
  outputSchema: outputs.grade,
};

export const outcomeEvaluateDefinition: ToolDefinition<Readonly<z.output<typeof noInput>>> = {
  ...managed,
  name: 'outcome_evaluate',
  description:
    'Evaluates whether the outcome is reached: by the exit codes and results in the log, the checks that people have set, and the judge where there is one; never by what was said about it. ' +
    'Call it alone, when the work is done. After the last change run the tests of the project with shell_run, as one plain command in the workspace, such as npm test.',
  inputSchema: noInput,
  outputSchema: outputs.evaluate,
  effects: ['reads_sessions', 'writes_session', 'runs_processes'],
  readOnly: false,
  interruptBehavior: 'cancel',
};

export const outcomeHistoryDefinition: ToolDefinition<OutcomeHistoryInput> = {
  ...checking,
  name: 'outcome_history',
  description:
    'Lists how the outcome of this session was evaluated so far, oldest first, and whether it is getting better or worse.',
  inputSchema: historyInput,
  outputSchema: outputs.history,
};
