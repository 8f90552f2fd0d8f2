/** The three columns with time beneath them; where there is no space for three, one after the other. */
import type { JSX } from 'preact';
import { ChartPane } from './chart/chart-pane.tsx';
import { EventsPane } from './events/events-pane.tsx';
import { about, chosenSession, middleTab, narrowPane, refusal } from './model/view.ts';
import type { MiddleTab, NarrowPane } from './model/view.ts';
import { FleetPane, SchedulesPane } from './sessions/fleet-pane.tsx';
import { ManyPane } from './sessions/many-pane.tsx';
import { SessionList } from './sessions/session-list.tsx';
import { SessionPane } from './sessions/session-pane.tsx';
import { tickedCount } from './sessions/ticked.ts';
import { Guarded } from './shared/guarded.tsx';
import { Header } from './shared/header.tsx';
import { Help } from './shared/help.tsx';
import { Tabs } from './shared/tabs.tsx';
import { TimeBar } from './time/time-bar.tsx';
import { TimelinePane } from './timeline/timeline-pane.tsx';
import { TreePane } from './tree/tree-pane.tsx';

const NARROW: readonly { readonly id: NarrowPane; readonly text: string }[] = [
  { id: 'left', text: 'Actors' },
  { id: 'middle', text: 'State' },
  { id: 'right', text: 'Events' },
];

const MIDDLE: readonly { readonly id: MiddleTab; readonly text: string }[] = [
  { id: 'session', text: 'Session' },
  { id: 'timeline', text: 'Timeline' },
  { id: 'chart', text: 'Chart' },
  { id: 'fleet', text: 'Fleet' },
  { id: 'schedules', text: 'Schedules' },
  { id: 'many', text: 'Ticked' },
];

export function App(): JSX.Element {
  return (
    <div class="page" data-narrow={narrowPane.value}>
      <Header />
      {refusal.value === undefined ? undefined : (
        <p class="refusal" role="alert">
          <strong>{refusal.value.message}.</strong> {refusal.value.hint}
        </p>
      )}
      <nav class="narrow-nav" aria-label="Parts of the page">
        <Tabs
          label="Parts of the page"
          tabs={NARROW}
          chosen={narrowPane.value}
          onChoose={(id) => {
            narrowPane.value = id;
          }}
        />
      </nav>
      <main class="columns">
        <section class="column left" aria-label="Sessions and actors">
          <Guarded name="The list of sessions">
            <SessionList />
          </Guarded>
          <Guarded name="The tree of actors">
            <TreePane />
          </Guarded>
        </section>
        <section class="column middle" aria-label="State">
          <MiddleColumn />
        </section>
        <section class="column right" aria-label="Events">
          <Guarded name="The events">
            <EventsPane />
          </Guarded>
        </section>
      </main>
      <Guarded name="The time bar">
        <TimeBar />
      </Guarded>
      <Help />
    </div>
  );
}

function MiddleColumn(): JSX.Element {
  const isSession = chosenSession.value !== undefined;
  const isThere = {
    session: isSession,
    timeline: isSession,
    chart: true,
    fleet: about.value?.hasFleet === true,
    schedules: about.value?.hasSchedules === true,
    many: tickedCount.value > 0 || middleTab.value === 'many',
  };
  const tabs = MIDDLE.filter(({ id }) => isThere[id]);
  return (
    <>
      {tabs.length < 2 ? undefined : (
        <Tabs
          label="What is shown"
          tabs={tabs}
          chosen={middleTab.value}
          onChoose={(id) => {
            middleTab.value = id;
          }}
        />
      )}
      {middleTab.value === 'fleet' ? (
        <Guarded name="The fleet" key="fleet">
          <FleetPane />
        </Guarded>
      ) : middleTab.value === 'schedules' ? (
        <Guarded name="The schedules" key="schedules">
          <SchedulesPane />
        </Guarded>
      ) : middleTab.value === 'many' ? (
        <Guarded name="The sessions that are ticked">
          <ManyPane />
        </Guarded>
      ) : chosenSession.value !== undefined && middleTab.value === 'session' ? (
        <Guarded name="The session" key={chosenSession.value}>
          <SessionPane sessionId={chosenSession.value} />
        </Guarded>
      ) : chosenSession.value !== undefined && middleTab.value === 'timeline' ? (
        <Guarded name="The timeline" key={`timeline ${chosenSession.value}`}>
          <TimelinePane sessionId={chosenSession.value} />
        </Guarded>
      ) : (
        <Guarded name="The chart">
          <ChartPane />
        </Guarded>
      )}
    </>
  );
}
