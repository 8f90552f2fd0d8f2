/** The variables of the environment that Wakechart reads: what people set. */

export interface EnvironmentVariable {
  readonly name: string;
  readonly takes: string;
  readonly fallback: string;
  readonly text: string;
  readonly guide: string;
}

const COMMAND_LINE = '[command line](command-line.md#what-holds-for-every-command)';

export const ENVIRONMENT_VARIABLES: readonly EnvironmentVariable[] = [
  {
    name: 'WAKECHART_HOME',
    takes: 'path of a folder',
    fallback: '`.wakechart` in the working directory',
    text: 'The home. `--home` and the option `home` go before it.',
    guide: COMMAND_LINE,
  },
  {
    name: 'WAKECHART_CONFIG',
    takes: 'path of a module, or `none`',
    fallback: '`wakechart.config.ts`, `.mts`, `.mjs` or `.js` in the working directory',
    text: 'What is given in code, for the command line. `--config` goes before it.',
    guide: '[agents in code](agents-in-code.md#one-module-for-all-processes)',
  },
  {
    name: 'WAKECHART_STORE',
    takes: 'URL, or `files`',
    fallback: '`files`',
    text: 'The PostgreSQL that holds the sessions, for the command line. `--store` and `--store-file` go before it.',
    guide: '[postgres](postgres.md)',
  },
  {
    name: 'WAKECHART_STORE_FILE',
    takes: 'path of a file of mode 600',
    fallback: '',
    text: 'A file whose first line is that URL, so that no password is in the environment. Not together with `WAKECHART_STORE`.',
    guide: '[postgres](postgres.md#who-can-read-the-url)',
  },
  {
    name: 'WAKECHART_PASS_ENV',
    takes: 'names, separated by commas',
    fallback: 'none',
    text: 'Variables that commands of agents get besides PATH, HOME and the like.',
    guide: '[environments](environments.md#commands)',
  },
  {
    name: 'WAKECHART_A2A_TOKEN',
    takes: '16 to 200 characters',
    fallback: 'a new one, which is told',
    text: 'What clients of `wakechart serve a2a` send as `Authorization: Bearer`.',
    guide: '[protocols](protocols.md#a2a)',
  },
  {
    name: 'WAKECHART_HTTP_TOKEN',
    takes: '16 characters at least',
    fallback: '',
    text: 'What clients of `wakechart serve http` send as `Authorization: Bearer`, where no `--token-file` is named.',
    guide: '[over HTTP](http.md)',
  },
  {
    name: 'WAKECHART_DEBUG',
    takes: '`1`',
    fallback: '',
    text: 'Adds the stack to errors of the command line.',
    guide: COMMAND_LINE,
  },
  {
    name: 'NO_COLOR',
    takes: 'anything',
    fallback: '',
    text: 'No colors on a terminal. `TERM=dumb` does the same.',
    guide: COMMAND_LINE,
  },
];

/** What processes of ours say to each other. */
export const BETWEEN_PROCESSES: readonly string[] = [
  'WAKECHART_SUBAGENT_LEVEL',
  'WAKECHART_TASK',
  'WAKECHART_WORKER_EXCHANGE',
  'WAKECHART_WORKER_LIFELINE',
];
