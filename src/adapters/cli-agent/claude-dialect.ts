/** How Claude Code is started for one turn: `claude -p` with JSON in both directions. */
import { randomUUID } from 'node:crypto';
import { ClaudeConversation } from './claude-conversation.ts';
import type { CliDialect, CliTurn } from './dialect.ts';
import { flagsOf } from './program-options.ts';

/** Names of options that the backend sets itself, or that would make the stream another one. */
const TAKEN_OPTIONS: ReadonlySet<string> = new Set([
  'print',
  'p',
  'output-format',
  'input-format',
  'verbose',
  'include-partial-messages',
  'permission-prompt-tool',
  'replay-user-messages',
  'model',
  'resume',
  'r',
  'continue',
  'c',
  'session-id',
  'sdk-url',
]);

/** Tokens that `claude setup-token` gives; they are no API keys. */
const OAUTH_TOKEN = /^sk-ant-oat/;

/** What they plan would come after the program has ended with its turn. Our wakes are there for that. */
const TOOLS_FOR_LATER = 'ScheduleWakeup,Monitor';

const BUDGET_OPTION = 'max-budget-usd';
/** In US dollars. The program takes no 0. */
const LEAST_BUDGET = 0.000_001;
const BUDGET_DIGITS = 6;

export const claudeDialect: CliDialect = {
  name: 'claude',
  howToLogIn: 'run "claude" once and log in, or add an account with "wakechart auth add"',
  accountVariables: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'CLAUDE_CODE_OAUTH_TOKEN'],
  toldVariables: [],
  nestingVariables: ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SSE_PORT', 'CLAUDE_CODE_SESSION_ID'],
  defaultVariables: {
    // A program that replaces itself while it runs is not the one that was started.
    DISABLE_AUTOUPDATER: '1',
    // What it would leave running or planned ends with its turn.
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
    CLAUDE_CODE_DISABLE_CRON: '1',
  },
  secretVariable: (secret) => (OAUTH_TOKEN.test(secret) ? 'CLAUDE_CODE_OAUTH_TOKEN' : 'ANTHROPIC_API_KEY'),
  converse: (turn) => new ClaudeConversation(turn, { args: argumentsFor(turn), newId: randomUUID }),
};

function argumentsFor({
  model,
  resumedSessionId,
  maxCost,
  options: { [BUDGET_OPTION]: ownBudget, ...options },
}: CliTurn): readonly string[] {
  return [
    '-p',
    '--output-format=stream-json',
    '--input-format=stream-json',
    '--verbose',
    '--include-partial-messages',
    '--permission-prompt-tool=stdio',
    // Settings in the workspace are the agent's to write: they must not permit it anything, nor run hooks.
    ...('setting-sources' in options ? [] : ['--setting-sources=user']),
    // Its user may have it decide by itself: what our permissions bind, it asks for.
    ...(saysMode(options) ? [] : ['--permission-mode=default']),
    `--disallowedTools=${TOOLS_FOR_LATER}`,
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(resumedSessionId === undefined ? [] : [`--resume=${resumedSessionId}`]),
    ...flagsOf({ ...options, [BUDGET_OPTION]: budgetOf(ownBudget, maxCost) }, TAKEN_OPTIONS),
  ];
}

function saysMode({
  'permission-mode': mode = null,
  'dangerously-skip-permissions': skips,
}: CliTurn['options']): boolean {
  return (mode !== null && mode !== false) || skips === true;
}

/** The least of what its own option and the budget of the agent allow. */
function budgetOf(own: unknown, maxCost: number | undefined): unknown {
  if (maxCost === undefined || !Number.isFinite(maxCost)) return own ?? null;
  const ownLimit = own === undefined || own === null || own === false ? Infinity : Number(own);
  return ownLimit <= maxCost ? own : Math.max(LEAST_BUDGET, maxCost).toFixed(BUDGET_DIGITS);
}
