/**
 * How an actor can stand. It stands by itself, without imports: the page of the inspector counts by these and must not
 * carry the schemas.
 */
export const ACTOR_STATUSES = ['active', 'done', 'error', 'stopped'] as const;
