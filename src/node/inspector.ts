/**
 * Chooses what an inspector of a living runtime, of a home or of a stored log is made of. Loaded when the first one is
 * asked for.
 */
import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { createRecorder } from '../actors/inspection/recorder.ts';
import type { Recorder } from '../actors/inspection/recorder.ts';
import type { FactsOf } from '../actors/inspection/recorded-facts.ts';
import type { InspectionSource } from '../actors/inspection/inspection-source.ts';
import { learnedSecrets, notesOnSecrets } from '../actors/inspection/learned-secrets.ts';
import { createRecorderSource } from '../actors/inspection/recorder-source.ts';
import { createRuntimeSource } from '../actors/inspection/runtime-source.ts';
import type { ClosableSource } from '../actors/inspection/runtime-source.ts';
import type { TasksElsewhere } from '../actors/task/tasks-elsewhere.ts';
import { packageAround } from '../adapters/child-process/default-worker-path.ts';
import { diagramHash } from '../adapters/diagram/diagram-hash.ts';
import { inPassing } from '../adapters/diagram/elk-thread.ts';
import { renderChart } from '../adapters/diagram/render-chart.ts';
import type { ChartPictures, InspectorAccess } from '../adapters/inspector/inspector-options.ts';
import type { InspectorServer } from '../adapters/inspector/inspector-server.ts';
import { startInspector } from '../adapters/inspector/inspector.ts';
import { createTaskOutputs } from '../adapters/shell/log-tail.ts';
import { RuntimeError } from '../machines/errors.ts';
import type { InspectionHeader } from '../machines/inspection-log/inspection-record.ts';
import type { RecorderLimits } from '../machines/inspection-log/recorder-limits.ts';
import { isRecord, parseOrThrow } from '../machines/validate.ts';
import type { Runtime } from '../runtime.ts';
import type { HomeSchedules } from './schedules.ts';
import { conditionsOf } from './conditions.ts';
import { TASK_LOGS_FOLDER } from './tasks.ts';

/** What an inspector can show: a runtime, or as much of one as there is. */
export type Inspectable = Pick<Runtime, 'inspection'> &
  Partial<
    Pick<Runtime, 'sessions' | 'agents' | 'worktrees' | 'trigger'> &
      Pick<HomeSchedules, 'schedules'> & { readonly tasksElsewhere: Pick<TasksElsewhere, 'cancel'> }
  >;

export interface RecorderAttachment {
  /** Of the program, in a few words. Default: the name of the script that runs. */
  readonly title?: string | undefined;
  readonly limits?: Partial<RecorderLimits> | undefined;
  /** Hears what goes wrong in the recorder, and what those who follow it throw. Default: writes to the console. */
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

export interface CreateInspectorOptions extends InspectorAccess {
  /** What the page is headed with. Default: the name of the script that runs. */
  readonly title?: string | undefined;
  /** Further sentences for the page, about what is not to be seen there; asked anew each time. */
  readonly notes?: (() => readonly string[]) | undefined;
  /** How much is recorded. */
  readonly recorderLimits?: Partial<RecorderLimits> | undefined;
  /** One that records this runtime already. Its maker detaches it. Default: one of its own, from now on */
  readonly recorder?: Recorder | undefined;
  /** Absolute path of the folder with the page. Default: the page that comes with Wakechart. */
  readonly pageDirectory?: string | undefined;
  /** Hears what browsers are not told: why something inside failed. Default: writes to the console. */
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

export interface Inspector extends InspectorServer {
  readonly recorder: Recorder;
}

const PAGE_FOLDER = 'inspector-page';
const MAX_TITLE_CHARACTERS = 200;

const isFunction = (value: unknown): boolean => typeof value === 'function';

/** What the server and the recorder are given, they check themselves. */
const others = z.unknown().optional();
const ownOptions = z.strictObject({
  ...{
    host: others,
    port: others,
    exposeBeyondThisMachine: others,
    limits: others,
    pageDirectory: others,
    recorderLimits: others,
  },
  title: z.string().min(1).max(MAX_TITLE_CHARACTERS).optional(),
  recorder: z
    .custom<Recorder>(
      (value) => typeof value === 'object' && value !== null && 'follow' in value,
      'expected a recorder',
    )
    .optional(),
  onProblem: z.custom<(error: unknown) => void>(isFunction, 'expected a function').optional(),
  notes: z.custom<() => readonly string[]>(isFunction, 'expected a function').optional(),
});

/**
 * Records all systems of actors of a runtime from now on, with its redaction, and what tasks and jobs are called.
 * Secrets that this process has not used yet are known to it only after `runtime.inspection.learnSecrets()`, which
 * `createInspector` calls.
 * @throws RuntimeError RECORDER_OPTIONS_INVALID
 */
export function attachRecorder(
  { inspection: { systems, clock, redact } }: Inspectable,
  { title = scriptName(), limits, onProblem }: RecorderAttachment = {},
): Recorder {
  return createRecorder({
    root: systems.map(({ tasks }) => tasks.supervisor),
    clock,
    redact,
    factsOf: factsIn(systems),
    program: programOf(title),
    ...(limits === undefined ? {} : { limits }),
    ...(onProblem === undefined ? {} : { onListenerError: onProblem }),
  });
}

/** What the program knows of the tasks that its actors are. */
function factsIn(systems: Inspectable['inspection']['systems']): FactsOf {
  const known = new Map(systems.map((system) => [system.tasks.supervisor.system, system]));
  return (ref) => {
    const system = known.get(ref.system);
    const task = system?.tasks.get(ref.id);
    if (task === undefined)
      return system !== undefined && ref._parent === undefined ? { label: system.label } : undefined;
    const { kind, label, parentSessionId, parentTaskId } = task;
    return {
      label,
      kind,
      ...(parentSessionId === undefined ? {} : { sessionId: parentSessionId }),
      ...(parentTaskId === undefined ? {} : { parentTaskId }),
    };
  };
}

/**
 * Opens the inspector of a runtime: everything its actors do from now on, and its sessions, in a browser on this
 * machine. The runtime closes it when it is shut down.
 * @throws RuntimeError INSPECTOR_OPTIONS_INVALID, RECORDER_OPTIONS_INVALID, INSPECTOR_PAGE_MISSING,
 * INSPECTOR_PORT_TAKEN, INSPECTOR_CANNOT_LISTEN, RUNTIME_SHUT_DOWN
 */
export async function createInspector(
  inspected: Inspectable,
  options: CreateInspectorOptions = {},
): Promise<Inspector> {
  checkRuntime(inspected);
  const { title = scriptName(), notes, recorderLimits, recorder: given, ...server } = checkedOptions(options);
  const leave = inspected.inspection.onShutdown(async () => (await opening.catch(() => undefined))?.close());
  const releases = [leave];
  const releaseAll = (): void => {
    for (const release of releases.splice(0)) release();
  };
  const open = async (): Promise<Inspector> => {
    const unknown = await learnedSecrets(inspected.inspection, server.onProblem ?? reportToConsole);
    const recorder = given ?? attachRecorder(inspected, { title, limits: recorderLimits, onProblem: server.onProblem });
    if (given === undefined) releases.push(() => recorder.detach());
    const source = sourceOf(inspected, {
      recorder,
      title,
      notes: () => [...notesOnSecrets(unknown), ...(notes?.() ?? [])],
      onProblem: server.onProblem,
    });
    releases.push(() => source.close());
    return { ...(await openSource(source, { ...server, onClosed: releaseAll })), recorder };
  };
  const opening = open();
  opening.catch(releaseAll);
  return opening;
}

interface Checked {
  /** Absent: there is nothing to check but the sessions. */
  readonly recorder?: Recorder | undefined;
  readonly title: string;
  readonly notes?: (() => readonly string[]) | undefined;
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

function sourceOf(
  { inspection, sessions, agents, worktrees, schedules, trigger, tasksElsewhere }: Inspectable,
  { recorder, title, notes, onProblem = reportToConsole }: Checked,
): ClosableSource {
  const {
    systems,
    clock,
    redact,
    live,
    prices,
    processTree,
    changes,
    fleet,
    storeWord,
    home,
    owner,
    hasEnded,
    lackedHere,
  } = inspection;
  if (sessions === undefined)
    return createRecorderSource({ recorder: recorder ?? attachRecorder({ inspection }), title });
  return createRuntimeSource({
    title,
    home,
    store: storeWord,
    sessions,
    commands: { sessions, wake: trigger },
    clock,
    recorder,
    redact,
    agents,
    prices,
    tasks: systems.map(({ tasks }) => tasks),
    tasksElsewhere,
    processTree,
    outputs: home === undefined ? undefined : createTaskOutputs(join(home, TASK_LOGS_FOLDER)),
    owner,
    live,
    fleet,
    schedules,
    lackedHere,
    conditions: () => conditionsOf({ home, schedules, onProblem }),
    changes: changes === undefined ? undefined : { ...changes, worktrees },
    notes,
    hasEnded,
    onProblem,
  });
}

/**
 * The sessions of a home, without anything of what its runtime does: for a runtime that does nothing. The caller closes
 * the source.
 */
export function createHomeSource(
  { trigger: _none, ...inspected }: Inspectable,
  options: Pick<Checked, 'title' | 'notes' | 'onProblem'>,
): ClosableSource {
  return sourceOf(inspected, options);
}

export interface SourceInspectorOptions extends Pick<
  CreateInspectorOptions,
  'host' | 'port' | 'exposeBeyondThisMachine' | 'limits' | 'pageDirectory' | 'onProblem'
> {
  /** Called once, when it has been closed. */
  readonly onClosed?: (() => void) | undefined;
}

/** The same page over any source: a stored log, a home, other programs. @throws as createInspector does */
export async function openSource(
  source: InspectionSource,
  { pageDirectory, onProblem = reportToConsole, onClosed, ...server }: SourceInspectorOptions,
): Promise<InspectorServer> {
  const opened = await startInspector({
    ...server,
    source,
    onProblem,
    pageDirectory: pageDirectory ?? ownPage(),
    pictures: PICTURES,
  });
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => (closing ??= opened.close().finally(onClosed));
  return { origin: opened.origin, signInAddress: () => opened.signInAddress(), close, [Symbol.asyncDispose]: close };
}

/** Charts may be those of strangers: what takes longer is shown as a list. */
const LAYOUT_MS = 5_000;

/** The page has their style sheet. One that waits for a picture keeps the process by its connection. */
const PICTURES: ChartPictures = {
  hash: diagramHash,
  draw: (chart) => inPassing(() => renderChart(chart, { styles: 'outside', layoutMs: LAYOUT_MS })),
};

function reportToConsole(error: unknown): void {
  console.error('the inspector:', error);
}

/** @throws RuntimeError INSPECTOR_PAGE_MISSING */
function ownPage(): string {
  const root = packageAround(dirname(fileURLToPath(import.meta.url)));
  const folder = root === undefined ? undefined : join(root, 'dist', PAGE_FOLDER);
  // The package has it compressed only.
  const names = ['index.html', 'index.html.gz'];
  if (folder !== undefined && names.some((name) => isFile(join(folder, name)))) return folder;
  throw new RuntimeError(
    'INSPECTOR_PAGE_MISSING',
    folder === undefined
      ? 'the page of the inspector cannot be found: no folder around this module is the package wakechart'
      : `the page of the inspector is not there: expected ${join(folder, 'index.html')}`,
    {
      category: 'not_found',
      hint: 'In a checkout, run "npm run build". In an application that was bundled, leave wakechart out of the bundle, or pass pageDirectory.',
    },
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function checkedOptions(options: CreateInspectorOptions): CreateInspectorOptions {
  parseOrThrow(ownOptions, options, { what: 'options of the inspector', code: 'INSPECTOR_OPTIONS_INVALID' });
  return options;
}

function checkRuntime(inspected: unknown): void {
  if (isRecord(inspected) && isRecord(inspected['inspection'])) return;
  throw new RuntimeError('INSPECTOR_OPTIONS_INVALID', 'the inspector needs a runtime', {
    category: 'validation',
    hint: 'Pass the one that createNodeRuntime resolves with: createInspector(runtime).',
  });
}

function programOf(name: string): NonNullable<InspectionHeader['program']> {
  return { name, version: versionOf(), pid: process.pid };
}

function scriptName(): string {
  return basename(process.argv[1] ?? '') || 'node';
}

function versionOf(): string {
  const root = packageAround(dirname(fileURLToPath(import.meta.url)));
  const manifest: unknown = root === undefined ? {} : JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown';
}
