/**
 * How Codex is started for one turn: `codex exec --json`, with the prompt on its input. It cannot ask a person while it
 * runs.
 */
import { CodexConversation } from './codex-conversation.ts';
import type { CliDialect, CliTurn } from './dialect.ts';
import { flagsOf, tomlOverrides } from './program-options.ts';

/** Names of options that the backend sets itself, or that would make the stream another one. */
const TAKEN_OPTIONS: ReadonlySet<string> = new Set([
  'json',
  'experimental-json',
  'cd',
  'C',
  'model',
  'm',
  'c',
  'image',
  'i',
  'last',
  'color',
  'output-last-message',
  'o',
]);

export const codexDialect: CliDialect = {
  name: 'codex',
  howToInstall: 'install Codex (npm install -g @openai/codex)',
  howToLogIn: 'run "codex login", or add an account with "wakechart auth add"',
  accountVariables: ['CODEX_API_KEY', 'OPENAI_API_KEY'],
  nestingVariables: ['CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED', 'CODEX_THREAD_ID'],
  defaultVariables: {},
  secretVariable: () => 'CODEX_API_KEY',
  converse: (turn) => new CodexConversation(turn, argumentsFor(turn)),
};

/** All of them before `resume`, whose own arguments differ from one version to the next. */
function argumentsFor({ model, resumedSessionId, workspaceDir, options }: CliTurn): readonly string[] {
  const { config = {}, ...flags } = options;
  return [
    'exec',
    '--json',
    // No person can be asked: what the sandbox does not allow fails, and the model is told.
    ...['approval_policy="never"', ...tomlOverrides(config)].flatMap((override) => ['--config', override]),
    ...(model === undefined ? [] : [`--model=${model}`]),
    ...(SANDBOX_OPTIONS.some((name) => name in flags) ? [] : ['--sandbox=workspace-write']),
    `--cd=${workspaceDir}`,
    ...('skip-git-repo-check' in flags ? [] : ['--skip-git-repo-check']),
    ...flagsOf(flags, TAKEN_OPTIONS),
    ...(resumedSessionId === undefined ? [] : ['resume', resumedSessionId]),
  ];
}

/** One of these says already how much the program may do. */
const SANDBOX_OPTIONS: readonly string[] = ['sandbox', 'full-auto', 'dangerously-bypass-approvals-and-sandbox', 'yolo'];
