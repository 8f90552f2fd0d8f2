/**
 * What the context of a session is spent on. Each share is one of the whole context, cut to a whole number, so that
 * none says more than its level does.
 */
import { contextPressure } from '../turn/context-pressure.ts';
import type { ContextReport } from '../turn/context-report.ts';
import { jsonArtifact, table, textArtifact } from './artifact.ts';
import type { Artifact } from './artifact.ts';
import { budgetTable } from './budget-facts.ts';
import type { BudgetFact } from './budget-facts.ts';

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
export function contextArtifacts(
  report: ContextReport | undefined,
  budgets: readonly BudgetFact[],
): readonly Artifact[] {
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
