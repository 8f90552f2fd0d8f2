/**
 * A contract as data: sentences about what an implementation of a port does, each with the code that finds out. No test
 * framework needed.
 */

export interface ContractCase<Subject> {
  /** A sentence about the subject; no two cases of a contract share one. */
  readonly name: string;
  /**
   * Resolves when the subject does what the name says; rejects with what was expected and what came when it does not.
   */
  readonly run: (subject: Subject) => Promise<void>;
}

/** What the cases of a contract are run with: `ContractSubject<typeof authProfilesContract>`. */
export type ContractSubject<Contract extends readonly ContractCase<never>[]> = Contract extends readonly ContractCase<
  infer Subject
>[]
  ? Subject
  : never;

/** The cases with the same words in front of each name. */
export function named<Subject>(
  beginning: string,
  cases: readonly ContractCase<Subject>[],
): readonly ContractCase<Subject>[] {
  return cases.map(({ name, run }) => ({ name: `${beginning} ${name}`, run }));
}
