/** What a reader of an inspection log found on its way, in sentences for the user who sees what was read. */
import type { ReadReport } from './read-report.ts';

const MAX_NAMES = 5;

/** Nothing, where all of the log could be read. */
export function notesOfReport({
  broken,
  hasTornTail,
  unknownKinds,
  unknownFields,
  gaps,
  outOfOrder,
}: ReadReport): readonly string[] {
  const [firstBroken] = broken.places;
  const [firstGap] = gaps.places;
  return [
    ...(broken.count === 0
      ? []
      : [
          `${lines(broken.count)} could not be read${firstBroken === undefined ? '' : `; the first is line ${firstBroken.line}: ${firstBroken.because}`}.`,
        ]),
    ...(hasTornTail ? ['The last line has no end: the writer of the log stopped in the middle of it.'] : []),
    ...(gaps.count === 0
      ? []
      : [
          `${gaps.missing} ${gaps.missing === 1 ? 'record is' : 'records are'} missing in ${gaps.count === 1 ? 'one place' : `${gaps.count} places`}${firstGap === undefined ? '' : `; the first between records ${firstGap.after} and ${firstGap.before}`}.`,
        ]),
    ...(outOfOrder === 0
      ? []
      : [
          outOfOrder === 1
            ? 'One record was passed over, since its number was there already or cannot be true.'
            : `${outOfOrder} records were passed over, since their numbers were there already or cannot be true.`,
        ]),
    ...(unknownKinds.count === 0
      ? []
      : [
          `${lines(unknownKinds.count)} could not be shown, since this version does not know ${unknownKinds.count === 1 ? 'the kind' : 'the kinds'} of record (${names(unknownKinds.names)}).`,
        ]),
    ...(unknownFields.count === 0
      ? []
      : [
          `${unknownFields.count === 1 ? 'One field was' : `${unknownFields.count} fields were`} passed over, since this version does not know what ${unknownFields.count === 1 ? 'it means' : 'they mean'} (${names(unknownFields.names)}).`,
        ]),
  ];
}

function lines(count: number): string {
  return count === 1 ? 'One line' : `${count} lines`;
}

function names(all: readonly string[]): string {
  const shown = all
    .slice(0, MAX_NAMES)
    .map((name) => JSON.stringify(name.slice(0, 60)))
    .join(', ');
  return all.length > MAX_NAMES ? `${shown} and others` : shown;
}
