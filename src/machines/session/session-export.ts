/**
 * A session's log as lines of text:
 *
 *   {"format":"wakechart-export/1","sessionId":"…","agentId":"…","head":123,"exportedAt":"…"}
 *   {"seq":1,"id":"…","at":"…","type":"session.created","v":1,"data":{…}}
 *   …
 *   {"events":123,"sha256":"…"}
 *
 * The hash is chained over blocks of lines: h(n) = SHA-256(h(n-1) as hex, then the lines of block n with their
 * newlines).
 */
import * as z from 'zod';
import { agentId, sessionId } from '../ids.ts';

export const EXPORT_FORMAT = 'wakechart-export/1';

/** Lines of one block of the chained hash, the header being the first line of the first block. */
export const EXPORT_BLOCK_LINES = 512;

export const exportHeader = z.object({
  format: z.literal(EXPORT_FORMAT),
  sessionId,
  agentId,
  head: z.number().int().positive(),
  exportedAt: z.iso.datetime(),
});

export const exportFooter = z.strictObject({
  events: z.number().int().positive(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});

export type ExportHeader = z.output<typeof exportHeader>;
