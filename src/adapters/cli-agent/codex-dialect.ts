/** How Codex is started for one turn: its app server, which speaks over its input and output. */
import { CodexConversation } from './codex-conversation.ts';
import { codexSettings } from './codex-settings.ts';
import { realPathOrItself } from '../system/real-path.ts';
import type { CliDialect } from './dialect.ts';

const KEY_VARIABLE = 'CODEX_API_KEY';

export const codexDialect: CliDialect = {
  name: 'codex',
  howToLogIn: 'run "codex login", or add an account with "wakechart auth add"',
  accountVariables: [KEY_VARIABLE, 'OPENAI_API_KEY'],
  toldVariables: [KEY_VARIABLE],
  nestingVariables: ['CODEX_SANDBOX', 'CODEX_SANDBOX_NETWORK_DISABLED', 'CODEX_THREAD_ID'],
  defaultVariables: {},
  secretVariable: () => KEY_VARIABLE,
  converse(turn) {
    const { options, environment = {}, permissionsBind = false, workspaceDir } = turn;
    const apiKey = environment[KEY_VARIABLE];
    const settings = codexSettings({
      options,
      permissionsBind,
      hasKey: apiKey !== undefined,
      workspacePaths: [...new Set([workspaceDir, realPathOrItself(workspaceDir)])],
    });
    return new CodexConversation(turn, { settings, apiKey });
  },
};
