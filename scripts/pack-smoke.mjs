// @ts-check
/**
 * Packs the project as it would be published, installs it into a project of its own, and uses it as a stranger would:
 * imports every published subpath, compiles against its types, holds its store against its contracts, runs its command
 * line, bundles what uses it, and serves it under Next; meanwhile publint, attw and the reports of its types are asked.
 * Usage: node scripts/pack-smoke.mjs
 */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from './build.mjs';
import { IN_MEMORY, isFastEnough } from './in-memory.mjs';
import { bundleEach } from './pack-bundlers.mjs';
import { serveUnderNext } from './pack-next.mjs';

const checkout = dirname(dirname(fileURLToPath(import.meta.url)));
/** Of what lies in the workplace, Next above all. */
const MOST_BYTES = 1024 ** 3;
const parent = isFastEnough(IN_MEMORY, MOST_BYTES) ? IN_MEMORY : tmpdir();
const workplace = realpathSync(mkdtempSync(join(parent, 'wakechart-smoke-')));
const STEP_LIMIT_MS = 300_000;
const call = promisify(execFile);
/** Ends what still runs once something has failed. */
const underWay = new AbortController();

/** A file of a package that the checkout has. @param {string} specifier */
const ours = (specifier) => createRequire(join(checkout, 'package.json')).resolve(specifier);

/** What is downloaded with each installation. */
const MAX_PACKED_BYTES = 3_000_000;

/** What may be in the package; a file that matches none of these was not meant to be published. */
const PUBLISHED = [
  /^dist\/(?!inspector-page\/).+\.(?:js|d\.ts)$/,
  /^dist\/inspector-page\/(?:index\.html|icon\.svg|assets\/[\w-]+\.(?:js|css))\.gz$/,
  /^deploy\/(?:backup-home\.sh|compose\.yaml|Dockerfile(?:\.dockerignore)?|wakechart-[\w.-]+)$/,
  /^(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md|docs\/errors(?:\/[A-Z0-9_]+)?\.md)$/,
];
const NEEDED = [
  'package.json',
  'README.md',
  'LICENSE',
  'CHANGELOG.md',
  'docs/errors.md',
  'docs/errors/SESSION_NOT_FOUND.md',
  'dist/inspector-page/index.html.gz',
];

/** What a user writes who gives names to what he gets, to parts of it too, and whose library has declarations. */
const NAMES_TYPES = `
import { RuntimeError } from 'wakechart';
import type { NewSession, SendOptions, SendReceipt, SessionIngress, SessionState, SessionWorker, SessionWorkerEvent, SessionWorkerOptions, SessionWorkerSummary, Sessions } from 'wakechart';
import { createNodeRuntime } from 'wakechart/node';
import type { NewSchedule, NodeRuntime, ScheduleDefinition, ScheduleOverview, ScheduleView } from 'wakechart/node';
import { sessionNotFound } from 'wakechart/ports';
import type { ActivationIndex, AppendOptions, AppendResult, EventStore, NewSessionEvents, WakeClaim, WakeRight } from 'wakechart/ports';
import { LogAdmission, auditChart, charts } from 'wakechart/machines';
import type { LogRecord, Verdict } from 'wakechart/machines';
import { activationIndexContract, authProfilesContract, eventStoreContract, wakeRightContract } from 'wakechart/testing';
import type { ContractCase, ContractSubject } from 'wakechart/testing';

export const open = (home: string): Promise<NodeRuntime> => createNodeRuntime({ home });

export async function work(runtime: NodeRuntime, message: SessionIngress, options: SendOptions): Promise<SessionWorkerSummary> {
  const wanted: NewSession = { agentId: 'hello' };
  const session: SessionState = await runtime.sessions.create(wanted);
  const receipt: SendReceipt = await runtime.sessions.send(session.sessionId, message, options);
  const settings: SessionWorkerOptions = { untilIdle: receipt.seq > 0 };
  const worker: SessionWorker = runtime.startWorker(settings);
  worker.events$.subscribe((event: SessionWorkerEvent) => console.log(event.type));
  return worker.ended;
}

export async function plan(runtime: NodeRuntime, schedule: NewSchedule): Promise<readonly ScheduleView[]> {
  const { id }: ScheduleDefinition = await runtime.schedules.add(schedule);
  const added: ScheduleOverview = await runtime.schedules.get(id);
  return [added, ...(await runtime.schedules.list())];
}

export abstract class LoggedStore implements Pick<EventStore, 'append' | 'activations' | 'acquireWakeRight'> {
  abstract readonly activations: ActivationIndex;
  readonly admission = new LogAdmission();

  judge(record: LogRecord): Verdict {
    return this.admission.judge(record);
  }

  async append(sessionId: string, events: NewSessionEvents, options?: AppendOptions): Promise<AppendResult> {
    throw sessionNotFound([sessionId, events.length, options?.idempotencyKey].join());
  }

  async acquireWakeRight(sessionId: string, claim: WakeClaim): Promise<WakeRight> {
    throw new RuntimeError('WAKE_CONFLICT', sessionId + claim.epoch, { category: 'conflict' });
  }
}

export const cases: readonly ContractCase<EventStore>[] = [...eventStoreContract, ...wakeRightContract];
export const count: number = cases.length + activationIndexContract.length;
export const ids: readonly string[] = charts.map(({ machine }) => machine.id);

export type ForkOptions = NonNullable<Parameters<Sessions['fork']>[1]>;
export type OpenWake = NonNullable<SessionState['openWake']>;
export type AccountsUnderTest = ContractSubject<typeof authProfilesContract>;

export const begin = (runtime: NodeRuntime) => runtime.startWorker();
export const audits = () => charts.map((chart) => auditChart(chart));
export const follow = (sessions: Sessions, sessionId: string) => sessions.events$(sessionId);
`;

/** What somebody writes who holds a store against its contracts, in a test framework of his choice. */
const RUNS_CONTRACTS = `
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FileEventStore, createSystemClock } from 'wakechart/node';
import { activationIndexContract, eventStoreContract, wakeRightContract } from 'wakechart/testing';

const ofIndex = activationIndexContract.map(({ name, run }) => ({ name, run: (store) => run({ index: store.activations }) }));

for (const { name, run } of [...eventStoreContract, ...wakeRightContract, ...ofIndex]) {
  test(name, async () => {
    const home = await mkdtemp(join(tmpdir(), 'store-'));
    const store = new FileEventStore({ home, clock: createSystemClock() });
    try {
      await run(store);
    } finally {
      await store.close();
      await rm(home, { recursive: true });
    }
  });
}
`;

/**
 * Runs a program to its end, whatever that is. @param {string} cwd @param {string} command @param {readonly string[]}
 * arguments_ @returns {Promise<{ readonly stdout: string, readonly stderr: string, readonly failure?: string }>}
 */
async function attempt(cwd, command, arguments_) {
  const running = call(command, [...arguments_], {
    cwd,
    timeout: STEP_LIMIT_MS,
    maxBuffer: 2 ** 26,
    signal: underWay.signal,
    // What the programs leave in the temporary folder goes when the workplace goes.
    env: { ...process.env, TMPDIR: workplace, NO_COLOR: '1' },
  });
  running.child.stdin?.end();
  try {
    return await running;
  } catch (error) {
    const failed =
      /** @type {Error & { code?: number | string, signal?: string, stdout?: string, stderr?: string }} */ (error);
    const { code, signal, stdout = '', stderr = '', message } = failed;
    const how = typeof code === 'number' ? `exit code ${code}` : message;
    return { stdout, stderr, failure: typeof signal === 'string' ? `signal ${signal}` : how };
  }
}

/**
 * Runs a program that must succeed and returns what it printed.
 * @param {string} cwd @param {string} command @param {readonly string[]} arguments_
 */
async function run(cwd, command, arguments_) {
  const { stdout, stderr, failure } = await attempt(cwd, command, arguments_);
  if (failure !== undefined)
    throw new Error(`${[command, ...arguments_].join(' ')}: ${failure}\n${stdout}${stderr}`.trim());
  return stdout;
}

/**
 * What can be done at the same time. When one fails, the others are ended. @param {readonly Promise<unknown>[]} works
 */
async function together(...works) {
  try {
    await Promise.all(works);
  } catch (error) {
    underWay.abort();
    await Promise.allSettled(works);
    throw error;
  }
}

/**
 * What somebody writes who checks a program that has it installed: the page and a chart come from the package, and
 * nothing is left when the runtime has ended.
 */
const CHECKS = `
import { createInspector, createNodeRuntime } from 'wakechart/node';

const runtime = await createNodeRuntime({ home: 'looked-at' });
const inspector = await createInspector(runtime);
const address = new URL(inspector.signInAddress());
const place = inspector.origin + address.pathname;
const { headers, status } = await fetch(place + address.search, { redirect: 'manual' });
const cookie = headers.getSetCookie()[0].split(';')[0];
const page = await (await fetch(place, { headers: { cookie } })).text();
const chart = await (await fetch(place + 'api/charts/taskSupervisor.svg', { headers: { cookie } })).text();
if (status !== 303 || !page.includes('<script') || !chart.includes('data-state')) throw new Error('the page or a chart is missing: ' + status + page.slice(0, 200) + chart.slice(0, 200));
await runtime.shutdown();
`;

/** What somebody sees who asks for a database and has no driver for it. */
const WITHOUT_DRIVER = `
import { createNodeRuntime } from 'wakechart/node';
import { PostgresEventStore, migratePostgres } from 'wakechart/postgres';

if (typeof migratePostgres !== 'function' || typeof PostgresEventStore.open !== 'function') throw new Error('wakechart/postgres is not what it was');
const failure = await createNodeRuntime({ home: 'no-driver', store: { postgres: 'postgres://somebody:secret@127.0.0.1:1/work' } }).catch((error) => error);
if (failure.code !== 'POSTGRES_DRIVER_MISSING' || !failure.hint.includes('npm install pg')) throw new Error('expected to be told to install pg, received ' + failure);
`;

/**
 * What npm tells about a tarball. @typedef {{ filename: string, size: number, unpackedSize: number, files: { path: string }[] }}
 * Packed
 */

/** Packs the checkout and returns the path of the tarball. */
async function pack() {
  const { ok, output } = build(checkout);
  if (!ok) throw new Error(`the project does not compile:\n${output}`);
  const printed = await run(checkout, 'npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', workplace]);
  const [packed] = /** @type {Packed[]} */ (JSON.parse(printed));
  if (packed === undefined) throw new Error('npm pack made nothing');
  const paths = packed.files.map(({ path }) => path);
  const unexpected = paths.filter((path) => !PUBLISHED.some((pattern) => pattern.test(path)));
  const missing = NEEDED.filter((path) => !paths.includes(path));
  if (unexpected.length > 0) throw new Error(`the package carries what nobody needs: ${unexpected.join(', ')}`);
  if (missing.length > 0) throw new Error(`the package lacks ${missing.join(', ')}`);
  if (packed.size > MAX_PACKED_BYTES)
    throw new Error(`expected at most ${MAX_PACKED_BYTES} bytes in the tarball, it has ${packed.size}`);
  console.log(
    `packed ${paths.length} files, ${Math.ceil(packed.size / 1000)} of ${Math.ceil(packed.unpackedSize / 1000)} kB`,
  );
  return join(workplace, packed.filename);
}

/**
 * Installs the tarball with nothing beside it but its own dependencies. @param {string} project @param {string} tarball
 */
async function install(project, tarball) {
  writeFileSync(join(project, 'package.json'), '{ "name": "stranger", "private": true, "type": "module" }\n');
  await run(project, 'npm', [
    'install',
    '--omit=dev',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    tarball,
  ]);
  console.log('installed into a project of its own');
}

/**
 * The import specifiers of every module that the installed package publishes. @param {string} project @param {string}
 * name
 */
function publishedModules(project, name) {
  const manifest = JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8'));
  const subpaths = Object.keys(manifest.exports).filter((subpath) => !subpath.endsWith('.json'));
  return subpaths.map((subpath) => name + subpath.slice(1));
}

/** @param {string} project @param {readonly string[]} specifiers */
async function importEach(project, specifiers) {
  for (const specifier of specifiers) {
    await run(project, process.execPath, ['--input-type=module', '-e', `await import(${JSON.stringify(specifier)});`]);
  }
  console.log(`imported ${specifiers.join(', ')}`);
}

/**
 * Compiles files as strictly as a user may, by the compiler of today and the one before. Complaints about the types of our dependencies are not ours to mend.
 * @param {string} project @param {string} name @param {{ readonly files: readonly string[], readonly options: object }}
 * what
 */
async function compile(project, name, { files, options }) {
  const strictly = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const compilerOptions = { target: 'ES2023', noEmit: true, skipLibCheck: false, ...strictly, ...options };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const compilers = ['typescript', 'typescript-api'].map((each) =>
    join(dirname(ours(`${each}/package.json`)), 'bin/tsc'),
  );
  await Promise.all(compilers.map((compiler) => compileBy(compiler, { project, name })));
}

/** @param {string} compiler @param {{ readonly project: string, readonly name: string }} what */
async function compileBy(compiler, { project, name }) {
  const { stdout, failure } = await attempt(project, process.execPath, [compiler, '-p', '.', '--pretty', 'false']);
  const complaints = stdout.split('\n').filter((line) => /error TS\d+/.test(line));
  const aboutUs = complaints.filter(
    (line) => !line.startsWith('node_modules/') || line.startsWith(`node_modules/${name}/`),
  );
  if (aboutUs.length > 0) throw new Error(`a user cannot compile against the package:\n${aboutUs.join('\n')}`);
  if (failure !== undefined && complaints.length === 0)
    throw new Error(`the compiler did not run: ${failure} ${stdout}`);
}

/**
 * Compiles what touches the types of every subpath, and what names them; and for a browser, without the types of Node,
 * the subpath that is made for it.
 * @param {string} project @param {string} name @param {readonly string[]} specifiers
 */
async function compileAgainst(project, name, specifiers) {
  const imports = specifiers.map((specifier, index) => `import * as module${index} from '${specifier}';\n`);
  const uses = specifiers.map((_, index) => `export const names${index}: string[] = Object.keys(module${index});\n`);
  writeFileSync(join(project, 'consumer.ts'), [...imports, ...uses].join(''));
  writeFileSync(join(project, 'names.ts'), NAMES_TYPES);
  const typeRoots = [dirname(dirname(ours('@types/node/package.json')))];
  await compile(project, name, {
    files: ['consumer.ts', 'names.ts'],
    options: {
      lib: ['ES2023', 'ESNext.Disposable'],
      module: 'NodeNext',
      declaration: true,
      typeRoots,
      types: ['node'],
    },
  });
  writeFileSync(join(project, 'page.ts'), `export * from '${name}/machines';\n`);
  await compile(project, name, {
    files: ['page.ts'],
    options: { lib: ['ES2023', 'DOM'], module: 'ESNext', moduleResolution: 'Bundler', types: [] },
  });
  // What is built here later is no TypeScript.
  for (const file of ['consumer.ts', 'names.ts', 'page.ts', 'tsconfig.json']) rmSync(join(project, file));
  console.log('compiled against its types, for Node and for a browser');
}

/** @param {string} project */
async function runContracts(project) {
  writeFileSync(join(project, 'store.test.mjs'), RUNS_CONTRACTS);
  const report = await run(project, process.execPath, ['--test', '--test-reporter=tap', 'store.test.mjs']);
  const passed = Number(/^# pass (?<count>\d+)$/m.exec(report)?.groups?.['count'] ?? 0);
  if (passed < 70) throw new Error(`expected more than 70 cases of contracts to pass, ${passed} did:\n${report}`);
  console.log(`held its store against ${passed} cases of its contracts`);
}

/** @param {string} project */
async function useCommandLine(project) {
  const help = await run(project, 'npx', ['--no-install', 'wakechart', '--help']);
  if (!/usage/i.test(help)) throw new Error(`wakechart --help does not show its usage:\n${help}`);
  console.log('ran wakechart --help');
  await run(project, 'npx', ['--no-install', 'wakechart', 'demo']);
  await run(project, process.execPath, ['--input-type=module', '-e', CHECKS]);
  await run(project, process.execPath, ['--input-type=module', '-e', WITHOUT_DRIVER]);
  console.log('ran wakechart demo');
}

/** What needs no installation. @param {string} tarball */
async function judge(tarball) {
  const ofPackages = (/** @type {string} */ name) => join(checkout, 'node_modules/.bin', name);
  // A resolver that takes the entries, in whichever way there is for modules, finds types that are those of the code.
  await run(workplace, ofPackages('attw'), ['--profile', 'esm-only', tarball]);
  await run(workplace, ofPackages('publint'), ['--strict', tarball]);
  await run(checkout, process.execPath, [join(checkout, 'scripts/api-report.mjs'), '--check']);
  console.log('attw, publint and the reports of its types complain of nothing');
}

/** @param {string} project @param {string} name */
async function use(project, name) {
  const specifiers = publishedModules(project, name);
  await importEach(project, specifiers);
  await compileAgainst(project, name, specifiers);
  await runContracts(project);
  await useCommandLine(project);
  await bundleEach(project, run);
}

/** @param {string} project @param {string} tarball @param {string} name */
async function installAndUse(project, tarball, name) {
  await install(project, tarball);
  // Next is installed beside it, where the others are to have nothing more.
  const served = join(workplace, 'served project');
  cpSync(project, served, { recursive: true, verbatimSymlinks: true });
  await together(use(project, name), serveUnderNext(served, run));
}

try {
  const project = join(workplace, 'project with a space');
  mkdirSync(project);
  const { name } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const tarball = await pack();
  await together(judge(tarball), installAndUse(project, tarball, name));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
} finally {
  rmSync(workplace, { recursive: true, force: true });
}
