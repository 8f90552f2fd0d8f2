/** The processes that work for a session, as a tree. */
import type { JSX } from 'preact';
import { useCallback } from 'preact/hooks';
import type { InspectedProcess } from '../../../actors/inspection/inspection-source.ts';
import { visibleText } from '../model/visible-text.ts';
import { now } from '../model/view.ts';
import { counted, duration, instant } from '../model/words.ts';
import { treeOfProcesses } from './process-tree.ts';
import type { ProcessBranch } from './process-tree.ts';
import { Section } from './section.tsx';
import type { SessionWatch } from './session-watch.ts';
import type { Told } from './side-views.ts';

export function ProcessesSection({ watch }: { readonly watch: SessionWatch }): JSX.Element {
  const told = watch.sides.processes.value;
  const look = useCallback(() => watch.sides.look('processes'), [watch]);
  return <Section title="Processes" whileOpen={look} aside={told.value === undefined ? undefined : counted(told.value.length, 'process', 'processes')}>{() => <Processes told={told} />}</Section>;
}

function Processes({ told: { value, because } }: { readonly told: Told<readonly InspectedProcess[]> }): JSX.Element {
  return (
    <>
      {because === undefined ? undefined : <p class="sessions-note" role="status">Not up to date: {visibleText(because, 500)}</p>}
      {value === undefined ? (because === undefined ? <p class="empty">They are looked up.</p> : undefined) : value.length === 0 ? <p class="empty">None is known to work for it.</p> : <Branches branches={treeOfProcesses(value)} />}
    </>
  );
}

const STATES = { running: { text: 'runs', standing: 'running' }, gone: { text: 'gone', standing: 'quiet' }, unknown: { text: 'not known', standing: 'quiet' } } as const satisfies Record<InspectedProcess['state'], unknown>;

function Branches({ branches }: { readonly branches: readonly ProcessBranch[] }): JSX.Element {
  return (
    <ul class="processes">
      {branches.map(({ process: { pid, title, state, startedAt, taskId }, children }) => (
        <li key={`${pid} ${taskId ?? ''}`}>
          <p class="process">
            <code class="pid">{pid}</code>
            <span class={`badge is-${STATES[state].standing}`}>{STATES[state].text}</span>
            <code class="process-title" title={taskId}>{visibleText(title, 400)}</code>
            <Age startedAt={startedAt} />
          </p>
          {children.length === 0 ? undefined : <Branches branches={children} />}
        </li>
      ))}
    </ul>
  );
}

function Age({ startedAt }: { readonly startedAt: string | undefined }): JSX.Element | undefined {
  const began = instant(startedAt);
  return began === undefined ? undefined : <time dateTime={startedAt}>{duration(now.value - began)}</time>;
}
