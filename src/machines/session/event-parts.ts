/** What several events have in common: names, amounts, bounds, and who allowed what. Persisted with them, and API as they are. */
import * as z from 'zod';
import { candidate } from '../run/candidate.ts';
import { MAX_SUMMARY_CHARACTERS } from './limits.ts';

export const id = z.string().min(1).max(200);
export const summary = z.string().max(MAX_SUMMARY_CHARACTERS);
export const time = z.iso.datetime();

/**
 * Any JSON value. Only its absence is refused here: what is stored went through JSON, and a deep check would cost more
 * than the parsing.
 */
export const json = z
  .unknown()
  .refine(
    (value) => value !== undefined && typeof value !== 'function' && typeof value !== 'symbol',
    'expected a JSON value',
  );

/**
 * When a message is read: `queue` after the turn that runs, `steer` by its next step, `interrupt` after the turn has
 * been cut short.
 */
export const deliveryMode = z.enum(['queue', 'steer', 'interrupt']);

export type DeliveryMode = z.output<typeof deliveryMode>;

/**
 * How far an approval reaches: this call; whatever its rules cover, in this session; the same in every session of the
 * agent.
 */
export const approvalScope = z.enum(['once', 'session', 'always']);

/**
 * A file that came with a message, by reference: `path` from the session's workspace, `sha256` in hexadecimal digits.
 */
export const attachment = z.object({
  kind: z.enum(['image', 'file']),
  name: z.string().min(1).max(200),
  mediaType: z.string().min(1).max(100),
  bytes: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  path: z.string().min(1).max(1_000),
});

export type Attachment = Readonly<z.output<typeof attachment>>;

/** Files of one message. */
export const MAX_ATTACHMENTS = 20;

export const skippedCandidate = z.object({ candidate, because: z.string() });

/** When a message that comes in during a model step is read by the model. */
export const messageIntake = z.enum(['next_step', 'running', 'next_turn']);

export type MessageIntake = z.output<typeof messageIntake>;

/** Why a call may run without a person being asked, or who was. */
export const allowedBy = z.object({
  kind: z.enum(['preapproved', 'read_only', 'safe_command', 'session_rule', 'policy', 'person']),
  rule: z.string().optional(),
});

export type AllowedBy = Readonly<z.output<typeof allowedBy>>;

/** What a piece of work may use up: tokens in and out, and money in US dollars. */
export const allowance = z.object({
  tokens: z.number().int().nonnegative().optional(),
  cost: z.number().nonnegative().optional(),
});

export type Allowance = Readonly<z.output<typeof allowance>>;

/**
 * What holds for a session whatever its own agent may do: no mode that allows more than this one, rules that forbid or
 * ask, and the tools that were taken from its parent. `tools`: the only ones.
 */
export const restriction = z.object({
  /** Environments whose bounds hold besides those of its own one. */
  environments: z.array(id).optional(),
  mode: z.enum(['preapproved', 'ask', 'deny']),
  deny: z.array(z.string()),
  ask: z.array(z.string()),
  tools: z.array(z.string()).optional(),
  withoutTools: z.array(z.string()).optional(),
  /** `none`: whatever would ask is denied, as it is for its parent. */
  humans: z.literal('none').optional(),
});

export type Restriction = Readonly<z.output<typeof restriction>>;

/**
 * How a session's agent differs from its file, as the caller that asked for the session decided. What its parent may
 * not do it may not do in any case.
 */
export const narrowing = z.object({
  model: z.string().min(1).optional(),
  /** The only tools, by name. */
  tools: z.array(z.string()).optional(),
  withoutTools: z.array(z.string()).optional(),
  mode: z.enum(['preapproved', 'deny']).optional(),
  /** `none`: whatever would ask is denied. */
  humans: z.literal('none').optional(),
  /** Rules that allow, besides its own. */
  allow: z.array(z.string()).optional(),
});

export type Narrowing = Readonly<z.output<typeof narrowing>>;

export const note = z.string().max(2_000);
