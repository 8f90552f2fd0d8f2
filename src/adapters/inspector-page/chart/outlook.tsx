/** What can happen to an actor now, what happens by itself, and what would do nothing, and why. */
import type { JSX } from 'preact';
import type { InspectionRecordOf } from '../../../machines/inspection-log/inspection-record.ts';
import type {
  ChartOutlook,
  ImpossibleEvent,
  OutlookWay,
  OwnStep,
  PossibleEvent,
} from '../../../machines/inspection/chart-outlook.ts';
import { eventName, writtenName } from '../model/event-names.ts';
import { chooseRecord, shownTime } from '../model/view.ts';
import { visibleText } from '../model/visible-text.ts';
import { counted, duration } from '../model/words.ts';
import { elsewhere, sentenceOf } from './ignored-why.ts';
import type { RunningTimer } from './timers.ts';

const MOST_WAITING = 20;

export interface OutlookProps {
  readonly outlook: ChartOutlook;
  readonly timers: readonly RunningTimer[];
  /** Sent to the actor and not processed. */
  readonly waiting: readonly InspectionRecordOf<'event'>[];
  readonly isOver: boolean;
}

export function Outlook({
  outlook: { possible, byItself, impossible },
  timers,
  waiting,
  isOver,
}: OutlookProps): JSX.Element {
  const offered = isOver ? [] : possible;
  const own = isOver ? [] : byItself;
  const stray = timers.filter(({ name }) => !own.some(({ event }) => event === name));
  return (
    <>
      <Waiting waiting={waiting} />
      <section class="outlook-part" aria-label="Can happen now">
        <h3>Can happen now</h3>
        {offered.length === 0 ? (
          <p class="quiet">
            {isOver ? 'Nothing: it is over.' : 'No event does anything here. It goes on by itself, or not at all.'}
          </p>
        ) : (
          <ul>
            {offered.map((each) => (
              <Possible key={each.event} each={each} />
            ))}
          </ul>
        )}
      </section>
      {own.length + stray.length === 0 ? undefined : (
        <section class="outlook-part" aria-label="Happens by itself">
          <h3>Happens by itself</h3>
          <ul>
            {own.map((each) => (
              <Own key={each.transition} each={each} timer={timers.find(({ name }) => name === each.event)} />
            ))}
            {stray.map((timer) => (
              <li key={timer.id}>
                <div class="outlook-line">
                  <b>{visibleText(timer.name)}</b>
                  <TimeLeft timer={timer} />
                </div>
              </li>
            ))}
          </ul>
        </section>
      )}
      {isOver || impossible.length === 0 ? undefined : (
        <section class="outlook-part" aria-label="Would do nothing now">
          <h3>Would do nothing now</h3>
          <ul>
            {impossible.map((each) => (
              <Impossible key={each.event} each={each} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Waiting({ waiting }: Pick<OutlookProps, 'waiting'>): JSX.Element | undefined {
  if (waiting.length === 0) return undefined;
  return (
    <section class="outlook-part" aria-label="On the way">
      <h3>Sent and not processed</h3>
      <ul>
        {waiting.slice(0, MOST_WAITING).map(({ s, t, type }) => (
          <li key={s}>
            <div class="outlook-line">
              <button class="link" title={visibleText(type)} onClick={() => chooseRecord(s)}>
                {eventName(type)}
              </button>
              <span class="badge is-waiting">waits for {duration(shownTime.value - t)}</span>
            </div>
          </li>
        ))}
      </ul>
      {waiting.length > MOST_WAITING ? (
        <p class="quiet">and {counted(waiting.length - MOST_WAITING, 'more', 'more')}</p>
      ) : undefined}
    </section>
  );
}

function Possible({ each: { event, says, from, ways } }: { readonly each: PossibleEvent }): JSX.Element {
  return (
    <li>
      <div class="outlook-line">
        <b>{visibleText(event)}</b>
        <Ways ways={ways} />
      </div>
      <Says says={says} from={from} />
    </li>
  );
}

function Own({ each, timer }: { readonly each: OwnStep; readonly timer: RunningTimer | undefined }): JSX.Element {
  return (
    <li>
      <div class="outlook-line">
        <b title={visibleText(each.event)}>{writtenName(each.event)}</b>
        <Ways ways={[each]} />
        {timer === undefined ? undefined : <TimeLeft timer={timer} />}
      </div>
    </li>
  );
}

function TimeLeft({ timer: { dueAt, seq } }: { readonly timer: RunningTimer }): JSX.Element {
  const left = dueAt - shownTime.value;
  return (
    <button class="link" title="Show where the timer was set" onClick={() => chooseRecord(seq)}>
      {left >= 0 ? `in ${duration(left)}` : `due ${duration(-left)} ago`}
    </button>
  );
}

function Impossible({ each }: { readonly each: ImpossibleEvent }): JSX.Element {
  return (
    <li class="is-impossible">
      <div class="outlook-line">
        <b>{visibleText(each.event)}</b>
        <span class="quiet">
          {sentenceOf(each, 'this state').replace(/^t/, 'T')}
          {elsewhere(each)}
        </span>
      </div>
    </li>
  );
}

function Ways({ ways }: { readonly ways: readonly OutlookWay[] }): JSX.Element {
  return (
    <span>
      {ways.map(({ transition, to, guard }) => (
        <span key={transition} class="outlook-way">
          {to.length === 0 ? (
            'stays'
          ) : (
            <>
              → <span class="mono">{visibleText(to.join(', '))}</span>
            </>
          )}
          {guard === undefined ? undefined : <span class="outlook-guard"> if {visibleText(guard)}</span>}
        </span>
      ))}
    </span>
  );
}

function Says({
  says,
  from,
}: {
  readonly says: string | undefined;
  readonly from: string | undefined;
}): JSX.Element | undefined {
  if (says === undefined && from === undefined) return undefined;
  return (
    <p class="quiet">
      {says === undefined ? '' : visibleText(says)}
      {from === undefined ? '' : ` Sent by ${visibleText(from).replace(/^T(?=he )/, 't')}.`}
    </p>
  );
}
