/** When a session wakes next, and what its wakes so far did and used. */
import type { JSX } from 'preact';
import type { ShownSession, ShownUsage, ShownWake } from '../../../actors/inspection/shown-answers.ts';
import type { SessionState } from '../../../machines/session/session-state.ts';
import { visibleText } from '../model/visible-text.ts';
import { now } from '../model/view.ts';
import { amount, clockTime, duration, instant } from '../model/words.ts';
import { When } from '../shared/when.tsx';
import { Section } from './section.tsx';

export interface WakesSectionProps {
  readonly session: ShownSession;
  readonly aheadMs: number;
}

export function WakesSection({ session: { state, usage }, aheadMs }: WakesSectionProps): JSX.Element {
  return (
    <>
      {state.queuedWakes.length === 0 ? undefined : (
        <Section title="Queued wakes" isOpenAtFirst aside={amount(state.queuedWakes.length)}>
          {() => <Queue wakes={state.queuedWakes} time={now.value + aheadMs} />}
        </Section>
      )}
      <Section title="Wakes so far" aside={usage.words}>
        {() => <Wakes usage={usage} time={now.value + aheadMs} />}
      </Section>
    </>
  );
}

function Queue({
  wakes,
  time,
}: {
  readonly wakes: readonly SessionState['queuedWakes'][number][];
  readonly time: number;
}): JSX.Element {
  const due = wakes
    .map((wake) => ({ wake, at: instant(wake.dueAt) ?? time }))
    .toSorted((one, other) => one.at - other.at);
  const span = Math.max(1, (due.at(-1)?.at ?? time) - time);
  const placeOf = (at: number): string => `${Math.min(100, Math.max(0, ((at - time) / span) * 100))}%`;
  return (
    <>
      <div class="queue-line" aria-hidden="true">
        <span>now</span>
        <div class="queue-track">
          {due.map(({ wake, at }) => (
            <span
              key={wake.queuedWakeId}
              class={at <= time ? 'queue-mark is-due' : 'queue-mark'}
              style={{ left: placeOf(at) }}
              title={visibleText(wake.reason)}
            />
          ))}
        </div>
        <span>{duration(span)}</span>
      </div>
      <ol class="queue">
        {due.map(({ wake, at }) => (
          <li key={wake.queuedWakeId}>
            <When
              iso={wake.dueAt}
              tell={() => (at <= time ? `due for ${duration(time - at)}` : `in ${duration(at - time)}`)}
            />
            <span>
              <strong>{visibleText(wake.reason, 300)}</strong>
              {wake.priority === 'normal' ? '' : `, priority ${wake.priority}`}
              {wake.note === undefined ? undefined : (
                <span class="quiet">
                  <br />
                  It will say: {visibleText(wake.note, 600)}
                </span>
              )}
            </span>
          </li>
        ))}
      </ol>
    </>
  );
}

function Wakes({
  usage: { wakes, wakeCount },
  time,
}: {
  readonly usage: ShownUsage;
  readonly time: number;
}): JSX.Element {
  if (wakeCount === 0 || wakes.length === 0) return <p class="empty">It has not been awake yet.</p>;
  return (
    <div class="wakes" role="region" aria-label="Wakes" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Began</th>
            <th scope="col">Took</th>
            <th scope="col">Outcome</th>
            <th scope="col" class="number">
              Steps
            </th>
            <th scope="col" class="number">
              Tool calls
            </th>
            <th scope="col" class="number">
              Tokens
            </th>
            <th scope="col" class="number">
              Cost
            </th>
          </tr>
        </thead>
        <tbody>
          {wakes.toReversed().map((wake) => (
            <WakeRow key={wake.wakeId} wake={wake} time={time} />
          ))}
        </tbody>
      </table>
      {wakeCount > wakes.length ? (
        <p class="left-out">{amount(wakeCount - wakes.length)} older wakes are counted and not listed.</p>
      ) : undefined}
    </div>
  );
}

function WakeRow({
  wake: {
    wakeId,
    startedAt,
    endedAt,
    outcome,
    words: { text, status },
    steps,
    toolCalls,
    tokens,
    price,
  },
  time,
}: {
  readonly wake: ShownWake;
  readonly time: number;
}): JSX.Element {
  const from = instant(startedAt);
  const to = instant(endedAt) ?? (outcome === undefined ? time : undefined);
  return (
    <tr title={wakeId}>
      <td>{from === undefined ? 'no time' : <When iso={startedAt} tell={(at) => clockTime(at).slice(0, 8)} />}</td>
      <td>{from === undefined || to === undefined ? '' : duration(to - from)}</td>
      <td>
        <span class={`badge is-${status}`}>{visibleText(text, 40)}</span>
      </td>
      <td class="number">{amount(steps)}</td>
      <td class="number">{amount(toolCalls)}</td>
      <td class="number">{amount(tokens)}</td>
      <td class="number">{price}</td>
    </tr>
  );
}
