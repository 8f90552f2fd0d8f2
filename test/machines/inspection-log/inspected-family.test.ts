/** A family by place is the list of its members. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InspectedFamily } from '../../../src/machines/inspection-log/inspected-family.ts';
import { InspectionTimeline } from '../../../src/machines/inspection-log/inspection-timeline.ts';
import type { InspectedActorState, InspectionWorld } from '../../../src/machines/inspection-log/inspection-world.ts';
import { randomRecords } from './random-records.ts';

function goneThrough(family: InspectedFamily, time: number): readonly (readonly [number, boolean])[] {
  const told: (readonly [number, boolean])[] = [];
  family.eachFrom(0, time, (place, isOver) => void told.push([place, isOver]));
  return told;
}

function expectSame(world: InspectionWorld, key: string | undefined, members: readonly InspectedActorState[]): void {
  const family = world.family(key);
  const places = members.map((_, place) => place);
  expect(family.count).toBe(members.length);
  expect(places.map((place) => family.keyAt(place))).toEqual(members.map((member) => member.key));
  for (const time of [-Infinity, world.moment?.t ?? 0, (world.moment?.t ?? 0) - 1, Infinity])
    expect(goneThrough(family, time)).toEqual(
      members.flatMap(({ status, since }, place) =>
        status === 'active' || since.t > time ? [[place, status !== 'active']] : [],
      ),
    );
  expect(members.map((member) => family.placeOf(member.key, world.orderOf(member.key) ?? -1))).toEqual(places);
  const orders = places.map((place) => family.orderAt(place));
  expect(orders).toEqual(orders.toSorted((one, other) => one - other));
  expect(family.placeOf('nobody', 0)).toBe(-1);
}

describe('a family', () => {
  it('has the members that a list of it has, at every moment, also after the oldest were forgotten', () => {
    fc.assert(
      fc.property(randomRecords(60), (records) => {
        const timeline = new InspectionTimeline();
        timeline.append(records);
        for (const { s } of records) {
          const world = timeline.at(s);
          expectSame(world, undefined, world.roots());
          for (const { key } of world.actors()) expectSame(world, key, world.children(key));
          expect(world.family('nobody').count).toBe(0);
          expect(world.orderOf('nobody')).toBeUndefined();
          expect(world.actors({ status: 'over' })).toEqual(world.actors().filter(({ status }) => status !== 'active'));
        }
      }),
      { numRuns: 60 },
    );
  });
});
