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
  statements: (schema) => WAKE_FUNCTIONS.replaceAll('$s', schema),
};
