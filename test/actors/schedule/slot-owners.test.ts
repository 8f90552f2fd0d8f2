import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { join } from 'node:path';
import { createSlotOwners } from '../../../src/actors/schedule/slot-owners.ts';
import { createHostLife } from '../../../src/adapters/host-life/socket-host-life.ts';
import type { HostLife } from '../../../src/actors/host/host-life.ts';
import { temporaryHome } from '../../support/temporary-home.ts';
import type { TemporaryHome } from '../../support/temporary-home.ts';

let home: TemporaryHome;
const lives: HostLife[] = [];
beforeEach(async () => {
  home = await temporaryHome();
});
afterEach(async () => {
  await Promise.all(lives.splice(0).map((each) => each.close()));
  await home.remove();
});

function newLife(): HostLife {
  const made = createHostLife({ directory: join(home.path, 'hosts') });
  lives.push(made);
  return made;
}

describe('an owner of slots', () => {
  it('lives as long as its process, and that is known at once', async () => {
    const process = newLife();
    const [one, other] = [createSlotOwners({ life: process }), createSlotOwners({ life: newLife() })];
    const names = [await one.newOwner(), await one.newOwner()];
    expect(new Set(names).size).toBe(2);
    for (const each of [one, other]) expect(await each.isAlive(names[0] ?? '')).toBe(true);
    await process.close();
    expect(await other.isAlive(names[0] ?? '')).toBe(false);
  });

  it('of another place, of an older version or without a process is one of which nobody can tell', async () => {
    const here = createSlotOwners({ life: newLife(), place: async () => 'here' });
    const there = createSlotOwners({ life: newLife(), place: async () => 'there' });
    expect(await here.isAlive(await there.newOwner())).toBeUndefined();
    expect(await here.isAlive(await here.newOwner())).toBe(true);
    expect(await here.isAlive(crypto.randomUUID())).toBeUndefined();
    const without = createSlotOwners();
    expect([await without.isAlive(await here.newOwner()), await here.isAlive(await without.newOwner())]).toEqual([
      undefined,
      undefined,
    ]);
  });
});
