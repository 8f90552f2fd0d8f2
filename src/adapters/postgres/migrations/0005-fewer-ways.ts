/**
 * A wake asks for less: the right to wake comes with the append that begins it and goes with the one that ends it, with
 * the view, and what a wake has to know comes with the claim. Functions only; those of the versions before stay for the
 * programs of a rolling deploy.
 */
import type { Migration } from './migration.ts';
import { WAKE_FUNCTIONS } from './wake-functions.ts';

export const fewerWaysMigration: Migration = {
  version: 5,
  name: 'fewer-ways',
  serves: 1,
  formerly: 'e75eb174fd525a50c572115132bcd3817c69a89f86d1fe1a3f080255d5b77eab',
  statements: (schema) => WAKE_FUNCTIONS.replaceAll('$s', schema),
};
