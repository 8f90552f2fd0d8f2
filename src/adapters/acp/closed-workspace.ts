/**
 * What a repository holds, or its user has set for its folder, must not widen what our permissions bind: hooks, MCP
 * servers, plugins and permissions of a workspace would run or hold unasked. Agents that speak ACP are told in ways of
 * their own; what one does not know means nothing to it, and a program that stands in for another hears it too.
 */

/** Variables of an agent, unless its provider sets them otherwise. */
export const CLOSING_VARIABLES: Readonly<Record<string, string>> = {
  // OpenCode: neither opencode.json nor .opencode of the workspace.
  OPENCODE_DISABLE_PROJECT_CONFIG: '1',
  // Gemini CLI: it reads .gemini of folders that are trusted. None is, by its list or by other settings.
  GEMINI_CLI_TRUST_WORKSPACE: 'false',
  GEMINI_CLI_TRUSTED_FOLDERS_PATH: '/dev/null/trustedFolders.json',
};

/** What is said of a session when it is begun or taken up. Claude Agent: the settings of its user alone. */
export const CLOSING_META: Readonly<Record<string, unknown>> = {
  claudeCode: { options: { settingSources: ['user'] } },
};
