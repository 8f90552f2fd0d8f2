/** Time: where in what was recorded one checks, and the ways to check elsewhere. */
import type { ComponentChildren, JSX } from 'preact';
import { failures, showFailure } from '../model/failures.ts';
import { isHeard } from '../model/server-watch.ts';
import { about, cursor, goLive, isInPast, now, recording, step, world } from '../model/view.ts';
import { amount, clockTime, duration, wholeTime } from '../model/words.ts';
import { Sign } from '../shared/sign.tsx';
import type { SignName } from '../shared/sign.tsx';
import { Scrubber } from './scrubber.tsx';
import { goFirst, shownRecord } from './time-view.ts';
import './time.css';

interface ButtonProps {
  readonly sign: SignName;
  readonly label: string;
  readonly keys?: string;
  readonly isOff: boolean;
  readonly onPress: () => void;
}

function Button({ sign, label, keys, isOff, onPress }: ButtonProps): JSX.Element {
  return (
    <button
      class="quiet"
      aria-label={label}
      title={keys === undefined ? label : `${label} (${keys})`}
      disabled={isOff}
      onClick={onPress}
    >
      <Sign of={sign} />
    </button>
  );
}

export function TimeBar(): JSX.Element {
  const { timeline } = recording.value.watched;
  const isEmpty = timeline.first === undefined;
  const isFirst = isEmpty || shownRecord.value <= (timeline.first?.s ?? 0);
  const isLive = !isInPast.value;
  return (
    <section class="time-bar" aria-label="Time">
      <div class="transport" role="group" aria-label="Move through time">
        <Button sign="first" label="First record" isOff={isFirst} onPress={goFirst} />
        <Button sign="back" label="One record back" keys="←" isOff={isFirst} onPress={() => step(-1)} />
        <Button sign="on" label="One record on" keys="→" isOff={isLive} onPress={() => step(1)} />
        <button
          class={`live${isHeard.value ? '' : ' is-lost'}`}
          aria-pressed={isLive}
          title={`${liveText()} (L)`}
          disabled={isEmpty}
          onClick={goLive}
        >
          <span class="dot" aria-hidden="true" />
          {liveText()}
        </button>
        <Button
          sign="failureBack"
          label="Previous failure"
          keys="Shift E"
          isOff={failures.value.back === undefined}
          onPress={() => showFailure('back')}
        />
        <Button
          sign="failureOn"
          label="Next failure"
          keys="E"
          isOff={failures.value.on === undefined}
          onPress={() => showFailure('on')}
        />
      </div>
      <Scrubber />
      <Moment />
    </section>
  );
}

/** What the end of the line is called: what has ended is not live, and what is not heard of may not be. */
function liveText(): string {
  const { hasEnded, kind } = about.value ?? {};
  return hasEnded === true || kind === 'log' ? 'End' : isHeard.value ? 'Live' : 'Newest';
}

function Moment(): JSX.Element {
  const { moment } = world.value;
  const { timeline } = recording.value.watched;
  const last = timeline.last?.s ?? 0;
  let text: ComponentChildren = 'Nothing was recorded yet';
  if (moment !== undefined) text = <time dateTime={new Date(moment.t).toISOString()}>{clockTime(moment.t)}</time>;
  else if (last > 0) text = 'Before the first record';
  return (
    <div class="moment" title={moment === undefined ? undefined : wholeTime(moment.t)}>
      <span class="mono">{text}</span>
      <span class="of">
        {moment === undefined
          ? ' '
          : cursor.value === 'live'
            ? `record ${amount(moment.s)}, ${duration(now.value - moment.t)} ago`
            : `record ${amount(moment.s)} of ${amount(last)}`}
      </span>
    </div>
  );
}
