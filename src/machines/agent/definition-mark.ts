/** Says under which definition of its agent a wake ran: the same words have the same mark, others have another. */
import * as z from 'zod';

/** Hexadecimal digits of a hash. */
export const MARK_DIGITS = 12;

export const definitionMark = z.object({
  /** Of what the definition says, and of the tools that the program brings for it. */
  hash: z.string().length(MARK_DIGITS),
  /** As the definition calls itself. */
  version: z.string().max(64).optional(),
});

export type DefinitionMark = Readonly<z.output<typeof definitionMark>>;

/** `1.4.0 (0a1b2c3d4e5f)` */
export function markText({ hash, version }: DefinitionMark): string {
  return version === undefined ? hash : `${version} (${hash})`;
}
