/** What a model is told of a call that was not allowed, the same where the runtime would have run it and where a backend would. */

/** A person said no. @param note what they said about it */
export function deniedByPerson(note: string | undefined): string {
  return `The call was denied.${note === undefined ? '' : ` ${note}`}`;
}

/** @param because the rule or the lack of one, as a sentence */
export function deniedBecause(because: string): string {
  return `The call was denied: ${because}`;
}

/** What a person allowed is forbidden by now. */
export function deniedAfterAll(because: string): string {
  return `The call was denied after all: ${because}`;
}

export const NOT_ALLOWED_IN_TIME = 'The call was not allowed in time. Ask again only if it is still needed.';

/** What was allowed has expired, or what would happen now is another thing. */
export const ALLOWED_NO_MORE =
  'What was allowed does not count any more: it has expired, or the call would happen elsewhere now.';
