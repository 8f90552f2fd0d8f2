/** The processes that work for a session, as a tree. */
import type { JSX } from 'preact';
import type { ShownProcess } from '../../../actors/inspection/shown-answers.ts';
import { visibleText } from '../model/visible-text.ts';
import { now } from '../model/view.ts';
import { counted, duration } from '../model/words.ts';
import { When } from '../shared/when.tsx';
import type { SessionWatch } from './session-watch.ts';
import { SideSection } from './side-section.tsx';

export function ProcessesSection({ watch }: { readonly watch: SessionWatch }): JSX.Element {
  return (
    <SideSection
      title="Processes"
      watch={watch}
      name="processes"
      none="None is known to work for it."
      count={(processes) => counted(countOf(processes), 'process', 'processes')}
    >
      {(processes) => <Branches branches={processes} />}
    </SideSection>
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

function Branches({ branches }: { readonly branches: readonly ShownProcess[] }): JSX.Element {
  return (
    <ul class="processes">
      {branches.map(({ pid, title, state, startedAt, taskId, children }) => (
        <li key={`${pid} ${taskId ?? ''}`}>
          <p class="process">
            <code class="quiet">{pid}</code>
            <span class={`badge is-${STATES[state].status}`}>{STATES[state].text}</span>
            <code class="process-title" title={taskId}>
              {visibleText(title, 400)}
            </code>
            <When iso={startedAt} tell={(began) => duration(now.value - began)} />
          </p>
          {children.length === 0 ? undefined : <Branches branches={children} />}
        </li>
      ))}
    </ul>
  );
}
