/** The processes that work for a session, as trees: those of this machine, and those of the program that wakes it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ShownProcess, ShownProcesses, ShownSession } from '../../../actors/inspection/shown-answers.ts';
import { failureOf, server } from '../model/transport.ts';
import { about, now } from '../model/view.ts';
import { visibleLines, visibleText } from '../model/visible-text.ts';
import { bytes, counted, duration } from '../model/words.ts';
import { When } from '../shared/when.tsx';
import type { SessionWatch, Trouble } from './session-watch.ts';
import { SideSection } from './side-section.tsx';
import { OwnCommand, WorkerLine } from './worker-line.tsx';

interface ProcessesSectionProps {
  readonly session: ShownSession;
  readonly watch: SessionWatch;
  /** A session at work, or whose process died: what runs is what one wants to see. */
  readonly isOpenAtFirst: boolean;
}

export function ProcessesSection({ watch, session, isOpenAtFirst }: ProcessesSectionProps): JSX.Element {
  const far = watch.sides.processes.value.value?.far;
  return (
    <SideSection
      title="Processes"
      watch={watch}
      name="processes"
      isOpenAtFirst={isOpenAtFirst}
      none={
        about.value?.kind === 'log'
          ? 'Processes are not recorded.'
          : session.worker === undefined
            ? `None is known to work for it${session.formerWorkers === undefined ? '' : ' now'}.`
            : WORKED_ALONE[session.worker.place]
      }
      above={<WorkerLine session={session} aheadMs={watch.aheadMs} isTold={far?.is === 'told'} />}
      isNone={({ processes }) => processes.length === 0 && far === undefined}
      count={({ processes }) =>
        counted(
          countOf(processes) + countOf(far?.processes ?? []) + (session.worker === undefined ? 0 : 1),
          'process',
          'processes',
        )
      }
    >
      {({ processes }) => (
        <>
          {far === undefined ? undefined : <Far far={far} watch={watch} />}
          <Branches branches={processes} watch={watch} />
        </>
      )}
    </SideSection>
  );
}

const WORKED_ALONE = {
  this: 'It has started no other.',
  here: 'No other is known to work for it.',
  elsewhere: 'Nothing of it runs on this machine.',
} as const;

interface FarProps {
  readonly far: NonNullable<ShownProcesses['far']>;
  readonly watch: SessionWatch;
}

/** What the program that wakes it has answered. */
function Far({ far: { owner, is, processes }, watch }: FarProps): JSX.Element {
  const name = <code>{visibleText(owner, 200)}</code>;
  if (is === 'dead')
    return (
      <p role="status">
        {name} does not say any more that it lives: what it left running is not known here. A worker that starts there
        over its home ends it.
      </p>
    );
  if (is === 'silent')
    return (
      <p role="status">
        {name} was asked what runs there, and has not answered: it is busy or suspended, hears no questions, or may not
        be asked from here.
      </p>
    );
  return (
    <>
      <p class="quiet">
        {processes.length === 0 ? 'Nothing runs for it, says ' : 'As told by '}
        {name}
        {processes.length === 0 ? '.' : ':'}
      </p>
      <Branches branches={processes} watch={watch} isFar />
    </>
  );
}

const STATES = {
  running: { text: 'runs', status: 'running' },
  gone: { text: 'gone', status: 'quiet' },
  unknown: { text: 'not known', status: 'quiet' },
} as const satisfies Record<ShownProcess['state'], unknown>;

function countOf(branches: readonly ShownProcess[]): number {
  return branches.reduce((sum, { children }) => sum + 1 + countOf(children), 0);
}

const HOSTS = {
  this: undefined,
  other: 'started by another process',
  dead: 'left by a process that died',
} as const satisfies Record<ShownProcess['host'], string | undefined>;

const FAR_HOSTS = { ...HOSTS, other: 'started by another process there' } as const;

/** A command that puts out nothing for as long may hang. */
const SILENT_MS = 10_000;

interface BranchesProps {
  readonly branches: readonly ShownProcess[];
  readonly watch: SessionWatch;
  /** Those below are ended with the one above. */
  readonly isBelow?: boolean;
  /** Of the program that wakes the session. */
  readonly isFar?: boolean;
}

function Branches({ branches, watch, isBelow = false, isFar = false }: BranchesProps): JSX.Element | undefined {
  if (branches.length === 0) return undefined;
  return (
    <ul class="processes">
      {branches.map((process) => {
        const { pid, title, state, host, startedAt, taskId, children } = process;
        return (
          <li key={`${pid} ${taskId ?? ''}`}>
            <p class="process">
              <code class="quiet">{pid}</code>
              <span class={`badge is-${host === 'dead' && state === 'running' ? 'error' : STATES[state].status}`}>
                {STATES[state].text}
              </span>
              <code class="process-title" title={taskId}>
                {visibleText(title, 400)}
              </code>
              <When iso={startedAt} tell={(began) => duration(now.value - began)} />
              {isBelow || state !== 'running' ? undefined : <End watch={watch} process={process} isFar={isFar} />}
            </p>
            {process.commandLine === undefined ? undefined : <OwnCommand line={process.commandLine} />}
            <Uses process={process} isFar={isFar} />
            {process.output === undefined || process.output.length === 0 ? undefined : (
              <pre class="process-output" aria-label={`What ${pid} put out last`}>
                {visibleLines(process.output.join('\n'), 4_000)}
              </pre>
            )}
            <Branches branches={children} watch={watch} isFar={isFar} isBelow />
          </li>
        );
      })}
    </ul>
  );
}

/** What it uses, since when it says nothing, and which process started it. */
function Uses({ process, isFar }: Omit<EndProps, 'watch'>): JSX.Element | undefined {
  const { state, host, lastActivityAt, startedAt, limitMs, processorMs, residentBytes, isSuspended } = process;
  const quietMs = now.value - Date.parse(lastActivityAt ?? startedAt ?? '');
  const isTimed = state === 'running' && host !== 'dead' && limitMs !== undefined && startedAt !== undefined;
  const told = [
    ...(isSuspended === true ? ['suspended (stopped)'] : []),
    ...(isTimed ? [`${duration(Date.parse(startedAt) + limitMs - now.value)} left of ${duration(limitMs)}`] : []),
    ...(processorMs === undefined ? [] : [`${duration(processorMs)} of processor`]),
    ...(residentBytes === undefined ? [] : [`${bytes(residentBytes)} of memory`]),
    ...(state === 'running' && quietMs >= SILENT_MS ? [`silent for ${duration(quietMs)}`] : []),
    ...(HOSTS[host] === undefined ? [] : [isFar ? FAR_HOSTS[host] : HOSTS[host]]),
  ];
  return told.length === 0 ? undefined : <p class="process-uses quiet">{told.join(' · ')}</p>;
}

interface EndProps {
  readonly watch: SessionWatch;
  readonly process: ShownProcess;
  readonly isFar: boolean;
}

/** Asks once more: what is ended is gone. */
function End({ watch, process, isFar }: EndProps): JSX.Element | undefined {
  const [stage, setStage] = useState<'ready' | 'asked' | 'ending' | Trouble>('ready');
  // What another process runs that is no task has a name of several words.
  const isOthers = process.host === 'other' && (isFar || process.taskId?.includes(' ') !== false);
  if (about.value?.canAnswer !== true || isOthers) return undefined;
  const end = async (): Promise<void> => {
    setStage('ending');
    try {
      await server.endProcess(watch.id, process.pid, isFar);
      await watch.refresh();
      setStage('ready');
    } catch (error) {
      setStage(failureOf(error));
    }
  };
  if (typeof stage === 'object')
    return (
      <span class="process-refused" role="alert">
        {visibleText(`${stage.message}. ${stage.hint}`, 400)}
      </span>
    );
  return stage === 'asked' ? (
    <span>
      <button onClick={() => void end()}>End {process.pid} and all below it</button>{' '}
      <button class="link" onClick={() => setStage('ready')}>
        Leave it
      </button>
    </span>
  ) : (
    <button disabled={stage === 'ending'} onClick={() => setStage('asked')}>
      {stage === 'ending' ? 'Ending …' : 'End …'}
    </button>
  );
}
