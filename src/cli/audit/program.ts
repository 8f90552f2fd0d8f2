/** The words of `wakechart audit`: arguments, options, help and examples. */
import { Option } from 'commander';
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty, wholeNumber } from '../usage.ts';

interface AuditWords {
  readonly module?: string;
  readonly write?: boolean;
  readonly check?: boolean;
  readonly diff?: string;
  readonly out: string;
  readonly picture?: string;
  readonly logs?: string;
  readonly coverage?: string;
  readonly floor?: number;
}

/** Only one of them at a time. */
const MODES = ['write', 'check', 'diff', 'logs', 'coverage'] as const;

export function addAuditCommand(program: Command, run: RunWork): void {
  const audit = program
    .command('audit')
    .description(
      'audit statecharts, ours or your own: what every state does with every event, how it is reached, what is wrong, what has changed, what was ever seen',
    );
  const mode = (name: (typeof MODES)[number], flags: string, words: string): Option =>
    new Option(flags, words).conflicts(MODES.filter((other) => other !== name));
  withExamples(
    audit,
    'wakechart audit',
    'wakechart audit task session',
    'wakechart audit --module ./my-machines.js',
    'wakechart audit --check',
    'wakechart audit --diff main',
    'wakechart audit --logs .wakechart',
    'wakechart audit --module ./my-machines.js --coverage coverage.json --picture pages',
  )
    .argument('[charts...]', 'ids of charts (default: all)')
    .option('--module <file>', 'audit the machines that this JavaScript module exports; its code runs', nonEmpty)
    .addOption(mode('write', '--write', 'write a page, the audit as JSON and a diagram for each chart, and an index'))
    .addOption(mode('check', '--check', 'fail when a written audit is stale, or an error is found'))
    .addOption(
      mode(
        'diff',
        '--diff <ref>',
        'compare with the audits of a git revision, or of a folder; fail when a major change is found',
      ).argParser(nonEmpty),
    )
    .option('--out <dir>', 'the folder of the written audits', nonEmpty, 'docs/audits')
    .option(
      '--picture <dir>',
      'with --diff: draw both versions side by side, one file for each chart that has changed; with --coverage or --logs: a page for each chart, with what was taken and the shortest way to what was not',
      nonEmpty,
    )
    .addOption(
      mode(
        'logs',
        '--logs <dir>',
        'say which transitions the session logs below this folder show, and which they never do',
      ).argParser(nonEmpty),
    )
    .addOption(
      mode(
        'coverage',
        '--coverage <dir>',
        'say which transitions a test run took, from the hits in this folder or file',
      ).argParser(nonEmpty),
    )
    .option(
      '--floor <percent>',
      'with --logs or --coverage: fail when fewer of the transitions of a chart were seen',
      wholeNumber({ min: 0, max: 100 }),
    )
    .action((charts: readonly string[], words: AuditWords) =>
      run(audit, async (context) => (await import('./audit.ts')).auditCharts(context, { charts, ...words })),
    );
}
