/** All that is known of one record: what led to it, what came of it, what it carried. */
import type { ComponentChildren, JSX } from 'preact';
import { leavesOfValue } from '../../../machines/inspection-log/actor-outcome.ts';
import type { InspectionRecord, InspectionRecordOf } from '../../../machines/inspection-log/inspection-record.ts';
import { HANDLED_BY_LOGIC } from '../../../machines/inspection-log/taken-words.ts';
import type { ChartDescription } from '../../../machines/inspection/chart-description.ts';
import { ignoredBecause } from '../chart/ignored-why.ts';
import { chooseActor, chosenRecord, recording } from '../model/view.ts';
import { visibleLines, visibleText } from '../model/visible-text.ts';
import { amount, clockTime, duration, stateText, wholeTime } from '../model/words.ts';
import { JsonView } from '../shared/json-view.tsx';
import { Sign } from '../shared/sign.tsx';
import type { ContextChange } from './context-change.ts';
import { contextBefore, contextChanges, stepBefore } from './context-change.ts';
import { latestNames } from './latest-names.ts';
import { RecordLink } from './record-row.tsx';
import { isIgnoring, recordWords } from './record-words.ts';

interface Shown {
  readonly record: InspectionRecord;
}

const MOST_EFFECTS = 40;
const MOST_MESSAGE = 4_000;

export function RecordDetail({ seq }: { readonly seq: number }): JSX.Element {
  const record = recording.value.timeline.record(seq);
  const close = (): void => {
    chosenRecord.value = undefined;
  };
  if (record === undefined)
    return (
      <section class="detail" aria-label="The record">
        <p class="empty">Record {seq} is not here: it was not read yet, or it is forgotten.</p>
      </section>
    );
  const { sign, kind, name } = recordWords(record, latestNames.value);
  return (
    <section class="detail" aria-label="The record">
      <header>
        <Sign of={sign} size={12} />
        <h2 title={'type' in record ? visibleText(record.type) : undefined}>{name}</h2>
        <span class="badge">{kind}</span>
        <button class="quiet" aria-label="Close the record" title="Close" onClick={close}>
          ×
        </button>
      </header>
      <dl class="detail-facts">
        <Fact name="Actor">
          <ActorLink actor={record.a} />
        </Fact>
        <Particulars record={record} />
        <Fact name="Time">
          <time title={wholeTime(record.t)}>{clockTime(record.t)}</time>{' '}
          <span class="quiet">record {amount(record.s)}</span>
        </Fact>
      </dl>
      <Causes record={record} />
      <Payloads record={record} />
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function ActorLink({ actor }: { readonly actor: string }): JSX.Element {
  return (
    <button class="link" title={visibleText(actor, 600)} onClick={() => chooseActor(actor)}>
      {latestNames.value.of(actor)}
    </button>
  );
}

function Particulars({ record }: Shown): JSX.Element | undefined {
  switch (record.k) {
    case 'event':
      return (
        <Fact name="From">
          {record.from === undefined ? 'outside: a sender that is no actor' : <ActorLink actor={record.from} />}
        </Fact>
      );
    case 'step':
      return <StepFacts record={record} />;
    case 'actor':
      return (
        <Fact name="Made by">
          {record.parent === undefined ? 'no actor: it stands by itself' : <ActorLink actor={record.parent} />}
        </Fact>
      );
    case 'timer':
      return (
        <Fact name="Due">
          after {duration(record.delayMs)}, {wholeTime(record.dueAt)}
        </Fact>
      );
    case 'error':
      return (
        <Fact name="Because">
          {visibleLines(record.message, MOST_MESSAGE)}
          {record.code === undefined ? '' : ` [${visibleText(record.code)}]`}
        </Fact>
      );
    case 'snap':
      return (
        <Fact name="State">
          {record.error === undefined
            ? `${visibleText(stateText(record.value))} ${record.status}`
            : visibleLines(record.error.message, MOST_MESSAGE)}
        </Fact>
      );
    case 'machine':
    case 'action':
    case 'emit':
    case 'cancel':
      return undefined;
  }
}

function StepFacts({ record }: { readonly record: InspectionRecordOf<'step'> }): JSX.Element {
  const { timeline } = recording.value;
  const before = stepBefore(timeline, record);
  const chart = latestNames.value.state(record.a)?.chart;
  const description = chart === undefined ? undefined : timeline.chart(chart);
  if (isIgnoring(record)) {
    return (
      <Fact name="Ignored">
        <span class="ignored-why">{ignoredBecause(description, leavesOfValue(record.value), record.type)}</span>
      </Fact>
    );
  }
  return (
    <>
      <Fact name="State">
        {before === undefined ? '' : `${visibleText(stateText(before))} → `}
        <b>{visibleText(stateText(record.value))}</b>
        {record.status === 'active' ? '' : ` (${record.status})`}
      </Fact>
      {record.taken.length === 0 ? undefined : (
        <Fact name={record.taken.length === 1 ? 'Transition' : 'Transitions'}>
          {record.taken.map((id) => (
            <div key={id} title={visibleText(id)}>
              {takenText(id, description)}
            </div>
          ))}
        </Fact>
      )}
    </>
  );
}

function Causes({ record }: Shown): JSX.Element {
  const { timeline } = recording.value;
  const cause = timeline.causeOf(record.s);
  const effects = timeline.effectsOf(record.s, MOST_EFFECTS + 1);
  return (
    <div>
      <h3>Cause</h3>
      {cause === undefined ? (
        <p class="quiet">
          {record.k === 'event' && record.from === undefined
            ? 'It came from outside.'
            : 'Nothing before it is known to have led to it.'}
        </p>
      ) : (
        <RecordLink record={cause} />
      )}
      <h3>Effects</h3>
      {effects.length === 0 ? <p class="quiet">Nothing is known to have come of it.</p> : undefined}
      {effects.slice(0, MOST_EFFECTS).map((each) => (
        <RecordLink key={each.s} record={each} />
      ))}
      {effects.length > MOST_EFFECTS ? (
        <p class="quiet">There are more; the list shows them after this one.</p>
      ) : undefined}
    </div>
  );
}

function Payloads({ record }: Shown): JSX.Element | undefined {
  const isCut = 'cut' in record && record.cut === true;
  switch (record.k) {
    case 'event':
    case 'emit':
      return record.data === undefined ? undefined : <JsonView label="Payload" value={record.data} isCut={isCut} />;
    case 'action':
      return record.params === undefined ? undefined : (
        <JsonView label="Parameters" value={record.params} isCut={isCut} />
      );
    case 'snap':
      return record.output === undefined ? undefined : <JsonView label="Output" value={record.output} isCut={isCut} />;
    case 'actor':
      return record.facts === undefined || Object.keys(record.facts).length === 0 ? undefined : (
        <JsonView label="Facts" value={record.facts} />
      );
    case 'step': {
      if (record.context === undefined) return undefined;
      const before = contextBefore(recording.value.timeline, record);
      return (
        <>
          <ContextDifference changes={before.isKnown ? contextChanges(before.context, record.context) : undefined} />
          <JsonView label="Context" value={record.context} isCut={isCut} />
        </>
      );
    }
    case 'machine':
    case 'timer':
    case 'cancel':
    case 'error':
      return undefined;
  }
}

// A transition in words.

/** Ids are `state|event|index`. */
export function takenText(id: string, chart: ChartDescription | undefined): string {
  const transition = chart?.transitions.find((each) => each.id === id);
  if (transition === undefined) return id === HANDLED_BY_LOGIC ? 'none: no change of state' : visibleText(id);
  const source = transition.source === '' ? 'any state' : transition.source;
  const to = transition.targets.length === 0 ? 'stays' : transition.targets.join(', ');
  const guard = transition.guard === undefined ? '' : ` if ${transition.guard.name}`;
  return visibleText(`${source} — ${transition.event}${guard} → ${to}`);
}

// What a step changed in the context.

const MOST = 160;

/** @param changes undefined: the context before it is not known */
function ContextDifference({ changes }: { readonly changes: readonly ContextChange[] | undefined }): JSX.Element {
  return (
    <section class="context-change" aria-label="Context change">
      <h3>Context change</h3>
      {changes === undefined ? (
        <p class="quiet">No context was recorded before this one, so there is nothing to compare it with.</p>
      ) : undefined}
      {changes?.length === 0 ? <p class="quiet">Nothing that was recorded is different.</p> : undefined}
      {changes === undefined || changes.length === 0 ? undefined : (
        <ul class="mono">
          {changes.map(({ path, kind, before, after }) => (
            <li key={path} class={`is-${kind}`}>
              <span class="context-path">{path === '' ? 'context' : visibleText(path)}</span>
              <span class="unseen"> {kind}: </span>
              {kind === 'added' ? undefined : <del>{short(before)}</del>}
              {kind === 'changed' ? ' → ' : ' '}
              {kind === 'removed' ? undefined : <ins>{short(after)}</ins>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function short(value: unknown): string {
  return visibleText(typeof value === 'string' ? `“${value}”` : (JSON.stringify(value) ?? 'undefined'), MOST);
}
