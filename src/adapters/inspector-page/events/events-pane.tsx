/** What has happened: as a list, or between the actors that took part. */
import type { JSX } from 'preact';
import { rightTab } from '../model/view.ts';
import { Tabs } from '../shared/tabs.tsx';
import { EventList } from './event-list.tsx';
import { SequencePane } from './sequence-pane.tsx';
import './events.css';

const TABS = [
  { id: 'events', text: 'Events' },
  { id: 'sequence', text: 'Sequence' },
] as const;

export function EventsPane(): JSX.Element {
  return (
    <>
      <Tabs
        label="How events are shown"
        tabs={TABS}
        chosen={rightTab.value}
        onChoose={(id) => {
          rightTab.value = id;
        }}
      />
      {rightTab.value === 'events' ? <EventList /> : <SequencePane />}
    </>
  );
}
