/**
 * One step of the schema, forward only. What was released is never changed, its comments neither: a step that comes after
 * it mends it.
 */

export interface Migration {
  /** Dense from 1. */
  readonly version: number;
  readonly name: string;
  /**
   * The oldest version that programs may know who still work with a schema of this one: those of a rolling deploy
   * overlap.
   */
  readonly serves: number;
  /** What was applied before 0.1.0, and differs in a comment: its checksum. */
  readonly formerly?: string | undefined;
  /** Statements, separated by semicolons. @param schema quoted for use in statements */
  statements(schema: string): string;
}

/** How functions are made: operators are those of PostgreSQL, whatever others have put into schemas that come first. */
export const OWN_OPERATORS = 'LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp';
