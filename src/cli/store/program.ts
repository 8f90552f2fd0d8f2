/** The words of `wakechart store` and `wakechart fleet`: their commands with their options, help and examples. */
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { withExamples } from '../command-words.ts';
import type { RunWork } from '../command-words.ts';
import { nonEmpty } from '../usage.ts';

interface PruneWords {
  readonly endedBefore?: number;
  readonly idleBefore?: number;
  readonly taskLogsBefore?: number;
  /** False: nowhere. */
  readonly exportTo?: string;
  readonly export: boolean;
  readonly withFiles?: true;
  readonly yes?: true;
}

interface RolesWords {
  readonly schema?: string;
  readonly owner?: string;
  readonly runtime?: string;
  readonly monitor?: string;
  readonly tenant?: string;
}

const PLACE =
  'files (the home), the folder of another home, store (the database that $WAKECHART_STORE or --store-file names), or the URL of a PostgreSQL database';

const DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };

export function addStoreCommands(program: Command, run: RunWork): void {
  const store = program.command('store').description('where sessions are kept: migrate, roles, check, copy, prune');
  addMigrate(store, run);
  addCheck(store, run);
  addRoles(store, run);
  addCopy(store, run);
  addPrune(store, run);
}

function addMigrate(store: Command, run: RunWork): void {
  const migrate = store
    .command('migrate')
    .description('make the tables of a PostgreSQL database, or bring them up to date; programs go on meanwhile');
  withExamples(
    migrate,
    'wakechart store migrate --store postgres://owner@db.example.com/work',
    "wakechart store migrate --store 'postgres://owner@db.example.com/work?schema=team_a'",
  ).action(() => run(migrate, async (context) => (await import('./store.ts')).migrateStore(context)));
}

function addCheck(store: Command, run: RunWork): void {
  const check = store
    .command('check')
    .description(
      'check a PostgreSQL database: its version, its tables, what its user may do, whether news is heard, its clock; and count what is in it',
    );
  withExamples(check, 'wakechart store check --store postgres://worker@db.example.com/work').action(() =>
    run(check, async (context) => (await import('./store.ts')).checkStore(context)),
  );
}

function addRoles(store: Command, run: RunWork): void {
  const roles = store
    .command('roles')
    .description(
      'print the statements that make the roles of a PostgreSQL database, each with the rights it needs; an administrator runs them',
    );
  withExamples(
    roles,
    'wakechart store roles | psql -v ON_ERROR_STOP=1 postgres://postgres@db.example.com/work',
    'wakechart store roles --runtime acme_worker --tenant acme',
  )
    .addOption(new Option('--schema <name>', 'of the tables (default: wakechart)').argParser(nonEmpty))
    .addOption(new Option('--owner <role>', 'who migrates (default: wakechart_owner)').argParser(nonEmpty))
    .addOption(
      new Option('--runtime <role>', 'whom workers and programs connect as (default: wakechart_worker)').argParser(
        nonEmpty,
      ),
    )
    .addOption(
      new Option('--monitor <role>', 'who sees counts, times and states, and nothing that was said').argParser(
        nonEmpty,
      ),
    )
    .addOption(
      new Option('--tenant <name>', 'turn row level security on, and shut the runtime role into this tenant').argParser(
        nonEmpty,
      ),
    )
    .action((words: RolesWords) =>
      run(roles, async (context) => (await import('./roles.ts')).printRoles(context, words)),
    );
}

function addCopy(store: Command, run: RunWork): void {
  const copy = store
    .command('copy')
    .description(
      'copy every session to another store and read the copy again; nothing is deleted, and what was cut short goes on where it was',
    );
  withExamples(
    copy,
    'wakechart store copy --from files --to postgres://worker@db.example.com/work',
    'wakechart store copy --from store --to ./copy --store-file worker.store',
    'wakechart store copy --from postgres://worker@db.example.com/work --to ./copy',
  )
    .addOption(new Option('--from <place>', PLACE).argParser(nonEmpty).makeOptionMandatory())
    .addOption(new Option('--to <place>', PLACE).argParser(nonEmpty).makeOptionMandatory())
    .action((places: { readonly from: string; readonly to: string }) =>
      run(copy, async (context) => (await import('./copy.ts')).copyStores(context, places)),
    );
}

function addPrune(store: Command, run: RunWork): void {
  const prune = store
    .command('prune')
    .description(
      'delete sessions that ended long ago, or have rested for long, once they are exported and the exports were read again; and old logs of tasks; without --yes it only says which',
    );
  withExamples(
    prune,
    'wakechart store prune --ended-before 90d --export-to ./archive',
    'wakechart store prune --ended-before 90d --idle-before 26w --export-to ./archive --yes',
    'wakechart store prune --ended-before 30d --task-logs-before 30d --no-export --with-files --yes',
  )
    .option('--ended-before <age>', 'sessions that were terminated this long ago, such as 90d, 12h or 4w', age)
    .option(
      '--idle-before <age>',
      'sessions that rest, with nothing to do, to answer or to wait for, and have for this long; with their children or not at all',
      age,
    )
    .option('--task-logs-before <age>', 'logs of tasks of the home that nothing was written to for this long', age)
    .option('--export-to <dir>', 'the folder for the exports of sessions; made when it is not there', nonEmpty)
    .option('--no-export', 'delete sessions without an export of them')
    .option('--with-files', 'also sessions whose workspace holds files: those go with them, and no export holds them')
    .option('--yes', 'do it')
    .action((words: PruneWords) =>
      run(prune, async (context) => (await import('./prune.ts')).pruneStore(context, words)),
    );
}

/** In milliseconds. */
function age(value: string): number {
  const [, count = '', unit = ''] = /^(\d{1,6})([mhdw])$/.exec(value) ?? [];
  const unitMs = UNITS[unit];
  if (unitMs === undefined) throw new InvalidArgumentError('Expected a whole number and m, h, d or w, such as 90d.');
  return Number(count) * unitMs;
}

export function addFleetCommand(program: Command, run: RunWork): void {
  const fleet = program
    .command('fleet')
    .description(
      'the workers over a PostgreSQL database: who lives, which sessions each wakes, what is due and not taken, which sessions are parked',
    );
  withExamples(fleet, 'wakechart fleet --store postgres://worker@db.example.com/work', 'wakechart fleet --json').action(
    () => run(fleet, async (context) => (await import('./fleet.ts')).showFleet(context)),
  );
}
