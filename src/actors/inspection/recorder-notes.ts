/** What a recorder could not keep, in sentences. */
import type { Recorder } from './recorder.ts';

export type NotedRecorder = Pick<Recorder, 'isAttached' | 'statistics'>;

export function recorderNotes({ statistics }: Pick<NotedRecorder, 'statistics'>): readonly string[] {
  const { records, keptRecords, droppedPayloads, untoldCharts, untoldActors, faults } = statistics;
  const counted: readonly (readonly [number, string])[] = [
    [
      records - keptRecords,
      'of the oldest records are not kept any more; how everything stood before the first that is kept is told.',
    ],
    [droppedPayloads, 'payloads were left out, since too much happened at once.'],
    [untoldCharts, 'charts were too many, too large or broken, and are not shown.'],
    [untoldActors, 'actors that were there before the recorder are still to be told.'],
    [faults, 'times the recorder failed, and what it was about is missing.'],
  ];
  return counted.flatMap(([count, what]) => (count > 0 ? [`${count} ${what}`] : []));
}
