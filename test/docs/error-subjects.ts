/** Under which heading an error stands, and how the part of the source that makes it is called. */

interface SubjectOfErrors {
  readonly title: string;
  /** The first that fits counts. */
  readonly codes: RegExp;
}

export const SUBJECTS: readonly SubjectOfErrors[] = [
  {
    title: 'Command line',
    codes: /^(?:USAGE$|INTERNAL$|ID_|DEMO_|ERRORS?_|INPUT_|OUTPUT_FAILED|FILE_UNREADABLE|HOME_)/,
  },
  {
    title: 'Sessions',
    codes: /^(?:SESSION_|EVENT_|EPOCH_|FORK_|MESSAGE_|REQUEST_|RECORD_|ATTACHMENTS?_|CHILD_|TRANSCRIPT_)/,
  },
  { title: 'Wakes and workers', codes: /^(?:WAKE_|WORKER_|ACTIVATION_|CONTEXT_|SUBFLOW_|SLOT_|SPAN_)/ },
  { title: 'Tasks and processes', codes: /^(?:TASK_|PROCESS_|SURVIVORS_)/ },
  { title: 'Subagents and worktrees', codes: /^(?:SUBAGENT_|WORKTREE_|JOB_|HEAD_)/ },
  {
    title: 'Other protocols',
    codes: /^(?:A2A_|ACP_(?:AGENT|FOLDER|PROMPT|SESSION|TURN)_|MCP_(?:ALLOWANCE|CALL|TASK)_|TURN_)/,
  },
  {
    title: 'Agents, models and accounts',
    codes: /^(?:AGENT_|AI_|ACP_|AUTH_|PROVIDERS?_|BACKEND_|DIRECTIVE_|RUN_|CANDIDATE_|SCRIPT_)/,
  },
  {
    title: 'Tools',
    codes:
      /^(?:TOOL_|MCP_|HTTP_|ADDRESS_|HOST_|FILE_|FOLDER_|EDIT_|PATH_|PATTERN_|CONTENT_|NOT_A_|NOT_JSON|OUTPUT_|SHELLS?_)/,
  },
  { title: 'Permissions', codes: /^(?:RULE_|POLICY_)/ },
  {
    title: 'Environments, sandbox and workspace',
    codes: /^(?:ENVIRONMENT_|SANDBOX_|MOUNT_|NETWORK_|QUOTA_|WORKSPACE_|ARTIFACTS_)/,
  },
  { title: 'Vaults and secrets', codes: /^(?:VAULT_|SECRET_)/ },
  { title: 'Schedules', codes: /^SCHEDULES?_/ },
  {
    title: 'Memory, outcomes, skills and retrieval',
    codes:
      /^(?:MEMORY_|LEARNINGS?_|SHARED_FILES_|RESOURCE_|STAGE_|OUTCOMES?_|PROMOTION_|NOTHING_TO_PROMOTE|SKILL_|RETRIEVAL_)/,
  },
  { title: 'Stores and their files', codes: /^(?:STORE_|STORAGE_|POSTGRES_|SOCKET_)/ },
  { title: 'Imports', codes: /^IMPORT_/ },
  {
    title: 'Charts, audits and the inspector',
    codes:
      /^(?:CHART_|AUDITS?_|COVERAGE_|EXPLORATION_|FAST_CHECK_|HITS_|LIFECYCLE_|MODULE_|RENDER_|INSPECT|RECORDER_|STATELY_)/,
  },
  { title: 'The HTTP handler', codes: /^(?:API_|SERVE_)/ },
  { title: 'The runtime', codes: /^(?:RUNTIME_|CONFIG_|HEALTH_|UNREACHABLE$)/ },
];

export function subjectOf(code: string): string {
  const subject = SUBJECTS.find(({ codes }) => codes.test(code));
  if (subject === undefined) throw new Error(`the error ${code} has no subject: add its prefix to ${import.meta.url}`);
  return subject.title;
}

/** Folders of src/machines, src/actors and src/adapters whose name does not say it. */
const PARTS: Readonly<Record<string, string>> = {
  a2a: 'the A2A server',
  acp: 'agents over ACP',
  'acp-agent': 'the ACP server',
  agent: 'agent files',
  agents: 'agent files',
  artifact: 'the facts of a session in its workspace',
  'audit-files': 'the audits of charts',
  'auth-files': 'accounts',
  bubblewrap: 'the sandbox',
  'child-process': 'subagents in processes',
  'cli-agent': 'agents that are programs',
  'command-places': 'the permissions of commands',
  cron: 'schedules',
  diagram: 'diagrams',
  embedded: 'models',
  environment: 'environments',
  'environment-files': 'environments',
  'file-tools': 'the tools for files',
  files: 'the store of files',
  git: 'worktrees',
  health: 'the port for probes and scrapers',
  host: 'the runtime',
  'host-life': 'what tells whether a host lives',
  'http-handler': 'the HTTP handler',
  'http-request': 'the tool for HTTP',
  import: 'imports',
  'import-logs': 'imports',
  inspection: 'the inspection of actors',
  'inspection-files': 'recordings of the inspector',
  'inspection-log': 'recordings of the inspector',
  inspector: 'the inspector',
  mcp: 'MCP servers',
  'mcp-server': 'the MCP server',
  memory: 'memory',
  opentelemetry: 'traces',
  outcome: 'outcomes',
  permission: 'permissions',
  'policy-files': 'permissions',
  postgres: 'PostgreSQL',
  'process-tree': 'process trees',
  protocol: 'servers of other protocols',
  'provider-files': 'providers.yaml',
  retrieval: 'retrieval',
  'retrieval-files': 'retrieval',
  run: 'runs of models',
  schedule: 'schedules',
  'schedule-files': 'schedules',
  script: 'agents that play scripts',
  session: 'sessions',
  'session-tools': 'the tools for sessions',
  shell: 'commands',
  'shell-syntax': 'the permissions of commands',
  skill: 'skills',
  'skill-files': 'skills',
  stately: 'the inspector of Stately',
  subagent: 'subagents',
  'subagent-files': 'subagents',
  'subagent-hooks': 'the hooks of subagents',
  'shared-files': 'memory',
  system: 'the files of a home',
  task: 'tasks',
  telemetry: 'traces',
  turn: 'tools',
  vault: 'vaults',
  'vault-files': 'vaults',
  wake: 'wakes',
  'workspace-copy': 'the folders of sessions on many machines',
  'workspace-copy-files': 'the folders of sessions on many machines',
};

const LAYERS: Readonly<Record<string, string>> = {
  cli: 'the command line',
  node: '`createNodeRuntime`',
  testing: 'the test kit',
};

export function partOf(file: string): string {
  const [layer = '', folder = ''] = file.split('/');
  const part = LAYERS[layer] ?? PARTS[folder] ?? (folder.endsWith('.ts') || folder === '' ? 'the runtime' : undefined);
  if (part === undefined) throw new Error(`${file} makes errors and has no name: add its folder to ${import.meta.url}`);
  return part;
}
