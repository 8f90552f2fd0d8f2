/** Every property of a file draws its cases from the seed of the run (property-seed-of-commit.ts). */
import fc from 'fast-check';
import { inject } from 'vitest';

// Absent under configurations that do not set it.
const seed = inject('propertySeed') as number | undefined;
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });
