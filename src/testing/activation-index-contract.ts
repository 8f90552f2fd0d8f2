/**
 * What every index of what is due does, whatever it stands on. Each case wants an index of its own that is fresh and
 * empty.
 */
import { named } from './contract-case.ts';
import type { ContractCase } from './contract-case.ts';
import type { ActivationIndexUnderTest } from './index-case.ts';
import { findingCases } from './index-finding.ts';
import { keepingCases } from './index-keeping.ts';

export const activationIndexContract: readonly ContractCase<ActivationIndexUnderTest>[] = named(
  'an index of what is due',
  [...findingCases, ...keepingCases],
);
