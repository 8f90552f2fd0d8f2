/**
 * Everything that is laid out for an agent about its session, as files: a pure function of what is known, so that the
 * same facts give the same files.
 */
import type { SessionState } from '../session/session-state.ts';
import { contextPressure } from '../turn/context-pressure.ts';
import type { ContextReport } from '../turn/context-report.ts';
import type { AgentFacts } from './agent-artifacts.ts';
import { permissionArtifacts, toolArtifacts } from './agent-artifacts.ts';
import type { Artifact } from './artifact.ts';
import { jsonArtifact, list, oneLine, table, textArtifact } from './artifact.ts';
import type { BudgetFact } from './budget-facts.ts';
import { budgetFacts, budgetTable } from './budget-facts.ts';
import { feedArtifacts } from './event-feed.ts';
import type { EnvironmentFacts } from './isolation-artifacts.ts';
import { environmentArtifacts } from './isolation-artifacts.ts';
import type { LogTail } from './log-tail.ts';
import type { ShownShell } from './shell-artifacts.ts';
import { shellArtifacts } from './shell-artifacts.ts';
import { traceArtifacts } from './trace-list.ts';

// What the context of a session is spent on. Each share is one of the whole context, cut to a whole number, so that
// none says more than its level does.

const PARTS = [
  ['instructions', 'instructions'],
  ['tools', 'tools'],
  ['messages', 'messages'],
  ['attachments', 'images and files'],
  ['reserved', 'kept for the answer'],
  ['total', 'all of that'],
  ['free', 'free'],
] as const satisfies readonly (readonly [keyof ContextReport, string])[];

/** @param budgets what the session may use up @returns none before the first step */
function contextArtifacts(report: ContextReport | undefined, budgets: readonly BudgetFact[]): readonly Artifact[] {
  if (report === undefined) return [];
  const { level } = contextPressure(report);
  const { maxTokens, total } = report;
  const share = (tokens: number): string => (maxTokens > 0 ? `${Math.floor((100 * tokens) / maxTokens)} %` : '');
  const tokenBudgets = budgets.filter(
    ({ bound, used }) => used !== undefined && (bound.startsWith('maxTokens') || bound.startsWith('maxCost')),
  );
  return [
    jsonArtifact('context', { pressure: level, report, budgets: tokenBudgets }),
    textArtifact(
      'context',
      'Context',
      `Pressure: ${level}. About ${total} of ${maxTokens} tokens (${share(total)}) are spent, by estimate.${total > maxTokens ? ` ${total - maxTokens} are too many.` : ''}`,
      table(
        ['part', 'tokens', 'of the context'],
        PARTS.map(([part, words]) => [words, String(report[part]), share(report[part])]),
      ),
      leftOutWords(report),
      tokenBudgets.length === 0 ? '' : '## What may be used up',
      budgetTable(tokenBudgets),
    ),
  ];
}

function leftOutWords({ omittedMessages, shortenedMessages, compactedThroughSeq }: ContextReport): string {
  return [
    ...(omittedMessages + shortenedMessages === 0
      ? []
      : [
          `Earlier messages are left out (${omittedMessages}) or shortened (${shortenedMessages}); the log keeps them.`,
        ]),
    ...(compactedThroughSeq === undefined
      ? []
      : [`A summary stands for everything up to event ${compactedThroughSeq}.`]),
  ].join(' ');
}

export interface SessionFacts {
  readonly state: SessionState;
  readonly agent: AgentFacts;
  /** Absent where the runtime knows of none. */
  readonly environment?: EnvironmentFacts | undefined;
  /** Of the step that comes, or came last. */
  readonly context?: ContextReport | undefined;
  /** Absent where it is unknown. */
  readonly shells?: readonly ShownShell[] | undefined;
  readonly tail: LogTail;
}

export function sessionArtifacts({
  state,
  agent,
  environment,
  context,
  shells,
  tail,
}: SessionFacts): readonly Artifact[] {
  const budgets = budgetFacts({ budget: agent.definition.budget, environment: environment?.definition.budget, state });
  const artifacts = [
    ...environmentArtifacts(environment),
    ...toolArtifacts(agent),
    ...permissionArtifacts(agent, { state, environment, budgets }),
    ...contextArtifacts(context, budgets),
    ...outcomeArtifacts(state),
    ...relationArtifacts(state),
    ...shellArtifacts(shells, tail),
    ...feedArtifacts(tail.feed),
    ...traceArtifacts(tail.traces),
  ];
  return [indexArtifact(state, artifacts), ...artifacts];
}

const ABOUT: Readonly<Record<string, string>> = {
  environment: 'how the session is shut in: sandbox, network, quotas, bounds, names of variables',
  mounts: 'the folders that there are, what tools and commands call them, what may be done in each',
  vaults: 'which secrets there are, by name',
  tools: 'every tool by name, what it may do, and why others are not there',
  permissions: 'mode, rules and who said them, grants, budgets and what is left of them, what waits for an answer',
  context: 'what the context is spent on, and how full it is',
  outcome: 'what the session is to achieve, and whether it did',
  relations: 'parent, children, jobs, forks',
  shells: 'open shells, names of their variables, commands run last',
  'last-shell-output': 'what the last command put out',
  events: 'the newest events of the log',
  traces: 'the newest model steps and tool calls, with how long they took',
};

function indexArtifact({ sessionId, agentId }: SessionState, artifacts: readonly Artifact[]): Artifact {
  const subjectOf = (name: string): string => name.slice(0, name.lastIndexOf('.'));
  const names = artifacts.map(({ name }) => name);
  const rows = [...new Set(names.map(subjectOf))].map((subject) => [
    names.filter((name) => subjectOf(name) === subject).join(', '),
    ABOUT[subject] ?? '',
  ]);
  const intro = `Facts about session ${sessionId} of agent ${agentId}, laid out by the runtime before each model step. What is written here is overwritten, and changes nothing. The log of the session is the truth.`;
  return textArtifact(
    'index',
    'What is here',
    intro,
    table(['file', 'what it says'], rows),
    'Outputs that were too long to be shown whole are in `outputs` in the folder above them all, `.wakechart-runtime`.',
  );
}

function outcomeArtifacts({ outcome, evaluation, changedAtSeq }: SessionState): readonly Artifact[] {
  const isStale =
    evaluation !== undefined &&
    ((changedAtSeq ?? 0) > evaluation.throughSeq || (outcome?.seq ?? 0) > evaluation.throughSeq);
  const facts = { outcome: outcome ?? null, evaluation: evaluation ?? null, evaluationIsOutOfDate: isStale };
  if (outcome === undefined)
    return [
      jsonArtifact('outcome', facts),
      textArtifact('outcome', 'Outcome', 'No outcome is defined for the session.'),
    ];
  const { title, detail = '', criteria = [], by, seq } = outcome;
  const judged =
    evaluation === undefined
      ? 'It was not evaluated yet.'
      : `Evaluated at event ${evaluation.seq}: ${evaluation.verdict}. ${oneLine(evaluation.because, 2_000)}${isStale ? ' Something has changed since: evaluate again.' : ''}`;
  return [
    jsonArtifact('outcome', facts),
    textArtifact(
      'outcome',
      'Outcome',
      `**${oneLine(title)}** (said by ${by === 'person' ? 'a person' : 'the agent'} at event ${seq})`,
      detail,
      list(criteria),
      judged,
    ),
  ];
}

function relationArtifacts(state: SessionState): readonly Artifact[] {
  const { sessionId, agentId, title, createdAt, parent, forkOf, jobId, children, jobs } = state;
  const facts = {
    sessionId,
    agentId,
    title,
    createdAt,
    parent,
    forkOf,
    jobId,
    children,
    jobs: jobs.map(({ jobId: id, childSessionId, agentId: worker, label }) => ({
      jobId: id,
      childSessionId,
      agentId: worker,
      label,
    })),
  };
  const rows = [
    ['session', sessionId, `agent ${agentId}${title === undefined ? '' : `, "${title}"`}`],
    ...(parent === undefined ? [] : [['parent', parent.sessionId, `depth ${parent.depth}`]]),
    ...(forkOf === undefined ? [] : [['fork of', forkOf.sessionId, `at event ${forkOf.seq}`]]),
    ...(jobId === undefined ? [] : [['works for job', jobId, '']]),
    ...children.map(({ sessionId: id, agentId: childAgent, label, rest }) => [
      'child',
      id,
      [
        `agent ${childAgent}`,
        ...(label === undefined ? [] : [label]),
        ...(rest === undefined ? ['at work'] : [`${rest.reason}: ${rest.summary}`]),
      ].join(', '),
    ]),
    ...facts.jobs.map(({ jobId: id, childSessionId, agentId: worker, label }) => [
      'open job',
      id,
      [`session ${childSessionId}`, `agent ${worker}`, ...(label === undefined ? [] : [label])].join(', '),
    ]),
  ];
  return [jsonArtifact('relations', facts), textArtifact('relations', 'Relations', table(['what', 'id', ''], rows))];
}
