/** How sessions are related: by the session that each works for. */
import * as z from 'zod';
import { SESSION_RELATIONS } from './retrieval-words.ts';

export const sessionRelation = z.enum(SESSION_RELATIONS);

export type SessionRelation = z.output<typeof sessionRelation>;

export type Relationship = 'self' | 'ancestors' | 'descendants' | 'siblings' | 'none';

/** A log that was brought from elsewhere may name parents in a circle. */
const MAX_GENERATIONS = 64;

/** What `other` is to `own`. @param parentOf knows every session above both */
export function relationshipOf(
  own: string,
  other: string,
  parentOf: (sessionId: string) => string | undefined,
): Relationship {
  if (own === other) return 'self';
  if (ancestorsOf(own, parentOf).includes(other)) return 'ancestors';
  if (ancestorsOf(other, parentOf).includes(own)) return 'descendants';
  const parent = parentOf(own);
  return parent !== undefined && parentOf(other) === parent ? 'siblings' : 'none';
}

export function isWithin(kinship: Relationship, relation: SessionRelation): boolean {
  if (relation === 'agent') return true;
  return relation === 'family' ? kinship !== 'none' : kinship === relation;
}

/** Nearest first. */
function ancestorsOf(sessionId: string, parentOf: (sessionId: string) => string | undefined): readonly string[] {
  const ancestors: string[] = [];
  for (
    let next = parentOf(sessionId);
    next !== undefined && !ancestors.includes(next) && ancestors.length < MAX_GENERATIONS;
    next = parentOf(next)
  )
    ancestors.push(next);
  return ancestors;
}
