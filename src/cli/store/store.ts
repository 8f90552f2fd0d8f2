/**
 * `wakechart store migrate | check`: the tables of a database, and whether everything about them is as it has to be.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { createSystemClock } from '../../actors/clock/system-clock.ts';
import { OLDEST_SERVER, checkPostgres, migratePostgres } from '../../adapters/postgres/migrate.ts';
import type { SchemaState } from '../../adapters/postgres/migrate.ts';
import { PostgresEventStore } from '../../adapters/postgres/postgres-event-store.ts';
import { mayChooseTenant, tenancyOf } from '../../adapters/postgres/tenancy.ts';
import type { ChosenStore } from '../open/chosen-store.ts';
import type { CommandContext } from '../context.ts';
import { textAsTyped } from '../context.ts';
import { EXIT_FAILURE, EXIT_SUCCESS } from '../failure.ts';
import { Progress } from '../terminal/progress.ts';
import { isPublicOpen, storeCounts, storeRefusals } from './facts.ts';
import type { StoreCounts } from './facts.ts';
import { counted, printable } from '../terminal/text.ts';
import { usageError } from '../usage.ts';

/** How long news may take to be heard for the first time, and between two checks, in milliseconds. */
const HEARING_MS = 2_000;
const CHECK_MS = 20;

/** A difference between two clocks that people should know of, in milliseconds. */
const NOTABLE_DIFFERENCE_MS = 60_000;

export async function migrateStore(context: CommandContext): Promise<number> {
  const { out, err, json } = context;
  const { url, schema, shown } = databaseOf(context);
  const progress = new Progress(err);
  progress.waitFor(`migrating ${shown}`);
  const { applied, version } = await migratePostgres({ url, schema, clock: createSystemClock() }).finally(() =>
    progress.stop(),
  );
  if (json) await out.document({ store: shown, applied, version });
  else {
    for (const name of applied) await out.line(`${out.styles.green('Applied')} ${name}`);
    await out.line(
      applied.length === 0
        ? `Nothing to do: ${shown} is at version ${version}.`
        : `${shown} is at version ${version} now.`,
    );
  }
  return EXIT_SUCCESS;
}

/** One thing that was checked. */
interface Check {
  readonly name: string;
  readonly is: 'ok' | 'note' | 'problem';
  readonly what: string;
  readonly remedy?: string;
}

export async function checkStore(context: CommandContext): Promise<number> {
  const { out, err, json } = context;
  const chosen = databaseOf(context);
  const progress = new Progress(err);
  progress.waitFor(`checking ${chosen.shown}`);
  const { checks, ...found } = await examined(chosen).finally(() => progress.stop());
  const problems = checks.filter(({ is }) => is === 'problem').length;
  if (json) await out.document({ store: chosen.shown, ...found, checks, problems });
  else {
    const { styles } = out;
    const labels = { ok: styles.green('ok     '), note: styles.yellow('note   '), problem: styles.red('problem') };
    for (const { name, is, what, remedy } of checks) {
      await out.line(`${labels[is]}  ${name}: ${printable(what)}`);
      if (remedy !== undefined) await out.line(`         ${styles.dim(textAsTyped(context, remedy))}`);
    }
    await out.line(
      problems === 0
        ? `${styles.green('Healthy:')} ${chosen.shown}`
        : `${counted(problems, 'problem')} in ${chosen.shown}`,
    );
  }
  return problems === 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

interface Examined {
  readonly schema: SchemaState;
  readonly counts?: StoreCounts;
  readonly isHearing?: boolean;
  /** The database's clock before ours, in milliseconds. */
  readonly clockDifferenceMs?: number;
  readonly checks: readonly Check[];
}

async function examined(chosen: ChosenStore): Promise<Examined> {
  const { url, schema: name } = chosen;
  const clock = createSystemClock();
  const schema = await checkPostgres({ url, schema: name, clock });
  const basis = [serverCheck(schema), schemaCheck(schema, chosen), ...syncChecks(schema)];
  if (basis.some(({ is }) => is === 'problem')) return { schema, checks: basis };
  const store = await PostgresEventStore.open({ url, schema: name, clock, patienceMs: 0, owner: 'store check' });
  try {
    const refusals = await storeRefusals(store.database);
    if (refusals.length > 0) return { schema, checks: [...basis, rightsCheck(refusals)] };
    const tenancy = await tenantChecks(store.database);
    const isHearing = await hears(store);
    const open = (await isPublicOpen(store.database)) ? [OPEN_TO_ALL] : [];
    const { differenceMs, counts } = await storeCounts(store.database);
    return {
      schema,
      counts,
      isHearing,
      clockDifferenceMs: differenceMs,
      checks: [
        ...basis,
        rightsCheck(refusals),
        ...tenancy,
        ...open,
        newsCheck(isHearing),
        clockCheck(differenceMs),
        countsCheck(counts),
      ],
    };
  } finally {
    await store.close();
  }
}

function serverCheck({ server }: SchemaState): Check {
  const version = `PostgreSQL ${Math.trunc(server / 10_000)}.${server % 10_000}`;
  return server >= OLDEST_SERVER
    ? { name: 'server', is: 'ok', what: version }
    : { name: 'server', is: 'problem', what: `${version} is older than 15`, remedy: 'Upgrade the server.' };
}

/** Nothing where all is as it has to be. */
function syncChecks({ isSynced }: SchemaState): readonly Check[] {
  const remedy = 'Let an administrator run: ALTER ROLE NAME SET synchronous_commit = on';
  return isSynced
    ? []
    : [
        {
          name: 'disk',
          is: 'problem',
          what: 'commits of this user do not wait for the disk (synchronous_commit is off): what was acknowledged is lost when the server crashes',
          remedy,
        },
      ];
}

function schemaCheck({ version, wanted, serves }: SchemaState, { word }: ChosenStore): Check {
  const name = 'schema';
  if (version < wanted)
    return {
      name,
      is: 'problem',
      what: version === 0 ? 'there are no tables yet' : `version ${version} of ${wanted}`,
      remedy: `As the owner of the schema, run: wakechart store migrate --store ${word}`,
    };
  if (serves > wanted)
    return {
      name,
      is: 'problem',
      what: `version ${version} serves no program as old as this one, which knows ${wanted}`,
      remedy: 'Upgrade Wakechart on this machine.',
    };
  return version === wanted
    ? { name, is: 'ok', what: `version ${version}` }
    : {
        name,
        is: 'note',
        what: `version ${version}, which a newer program has made and which serves this one`,
        remedy: 'Upgrade Wakechart on this machine when it suits you.',
      };
}

function rightsCheck(refusals: readonly string[]): Check {
  if (refusals.length === 0) return { name: 'rights', is: 'ok', what: 'this user may do what a worker does' };
  return {
    name: 'rights',
    is: 'problem',
    what: `this user may not ${refusals.join(', ')}`,
    remedy:
      'Use the user of the workers, or let an administrator run what `wakechart store roles` prints: it gives this and no more.',
  };
}

/** Nothing where no row is kept from this user. */
async function tenantChecks(database: PostgresEventStore['database']): Promise<readonly Check[]> {
  const name = 'tenant';
  const tenancy = await tenancyOf(database);
  const choice: readonly Check[] = (await mayChooseTenant(database))
    ? [
        {
          name,
          is: 'problem',
          what: 'this user may give himself another tenant, and so sees what he likes',
          remedy: 'As the owner of the schema, run: REVOKE ALL ON tenant_role FROM the user',
        },
      ]
    : [];
  switch (tenancy.is) {
    case 'open':
    case 'watched':
      return choice;
    case 'tenant':
      return choice.length > 0
        ? choice
        : [{ name, is: 'ok', what: `this user sees what belongs to ${tenancy.tenant}, and nothing else` }];
    case 'none':
      return [
        ...choice,
        {
          name,
          is: 'problem',
          what: 'tenants are shut apart here, and this user works for none: it sees nothing',
          remedy:
            'Use the user of a tenant, or give this one a tenant: wakechart store roles --runtime ROLE --tenant NAME',
        },
      ];
  }
}

const OPEN_TO_ALL: Check = {
  name: 'public',
  is: 'note',
  what: 'every role may make functions and operators in the schema public, which those who scan it run with their own rights',
  remedy: 'As an administrator, run: REVOKE CREATE ON SCHEMA public FROM PUBLIC',
};

function newsCheck(isHearing: boolean): Check {
  if (isHearing) return { name: 'news', is: 'ok', what: 'is heard at once, with LISTEN' };
  return {
    name: 'news',
    is: 'note',
    what: 'is not heard with LISTEN: workers search for it twice a second',
    remedy: 'That is so behind a pooler of transactions. Connect to the server itself to hear it at once.',
  };
}

function clockCheck(differenceMs: number): Check {
  const what = `the server is ${Math.abs(differenceMs)} ms ${differenceMs < 0 ? 'behind' : 'ahead of'} this machine`;
  if (Math.abs(differenceMs) < NOTABLE_DIFFERENCE_MS) return { name: 'clock', is: 'ok', what };
  return {
    name: 'clock',
    is: 'note',
    what,
    remedy: 'Sessions go by the clock of the server; logs of this machine do not. Set its clock.',
  };
}

function countsCheck({ sessions, events, due, workers }: StoreCounts): Check {
  return {
    name: 'holds',
    is: 'ok',
    what: `${counted(sessions, 'session')} with ${counted(events, 'event')}, ${due} due or planned; ${counted(workers, 'worker')} alive`,
  };
}

/** It is told by itself once its own voice came back. */
async function hears(store: PostgresEventStore): Promise<boolean> {
  for (let waited = 0; !store.isHearing && waited < HEARING_MS; waited += CHECK_MS) await pause(CHECK_MS);
  return store.isHearing;
}

function databaseOf({ store }: CommandContext): ChosenStore {
  if (store !== undefined) return store;
  throw usageError(
    'expected a database',
    'Name it with --store URL or $WAKECHART_STORE. The store in a home has no tables; check it with `wakechart doctor`.',
  );
}
