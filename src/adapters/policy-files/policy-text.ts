/**
 * A policy as YAML that people write and read too. A rule is a text, or a text with where it comes from:
 *
 *   rules:
 *     - deny write(config/**)
 *     - rule: allow shell_run(npm test)
 *       since: 2026-11-22T04:43:00.000Z
 *       by: { sessionId: …, requestId: … }
 */
import { LineCounter, isMap, isSeq, parseDocument } from 'yaml';
import type { Document, Node } from 'yaml';
import * as z from 'zod';
import type { KeptRule } from '../../actors/permission/permission-ports.ts';
import { RuntimeError, messageOf } from '../../machines/errors.ts';
import { formatRule, parseRule } from '../../machines/permission/permission-rule.ts';
import { pathOf } from '../../machines/validate.ts';
import { yamlNodeAt } from '../system/yaml-places.ts';
import { policyInvalid } from './policy-errors.ts';
import type { Complaint } from './policy-errors.ts';

export const MAX_POLICY_BYTES = 1_000_000;
const MAX_RULES = 10_000;
const MAX_COMPLAINTS = 20;

const writtenRule = z.union([
  z.string(),
  z.strictObject({
    rule: z.string(),
    since: z.iso.datetime({ offset: true }).optional(),
    by: z.strictObject({ sessionId: z.string().min(1).max(200), requestId: z.string().min(1).max(200) }).optional(),
  }),
]);

/** A list that was left empty is written as nothing at all. */
const policyFile = z.strictObject({ rules: z.array(writtenRule).max(MAX_RULES).nullish() });

type WrittenRule = z.output<typeof writtenRule>;

export interface PolicyText {
  readonly source: string;
  /** What errors call it. */
  readonly fileName: string;
  readonly isForEveryAgent: boolean;
}

/** @throws RuntimeError POLICY_INVALID naming each wrong line */
export function parsePolicy({ source, fileName, isForEveryAgent }: PolicyText): readonly KeptRule[] {
  const { document, lineAt } = parseYaml(source, fileName);
  const value = plainValue(document, fileName) ?? {};
  const parsed = policyFile.safeParse(value);
  if (!parsed.success) {
    const complaints = parsed.error.issues.map((issue) => complaintOf(issue, lineAt));
    throw policyInvalid(fileName, complaints.slice(0, MAX_COMPLAINTS));
  }
  const complaints: Complaint[] = [];
  const rules = (parsed.data.rules ?? []).flatMap((written, index): KeptRule[] => {
    try {
      return [keptRule(written, isForEveryAgent)];
    } catch (error) {
      if (!RuntimeError.is(error)) throw error;
      complaints.push({ line: lineAt(['rules', index]), message: error.message });
      return [];
    }
  });
  if (complaints.length > 0) throw policyInvalid(fileName, complaints.slice(0, MAX_COMPLAINTS));
  return Object.freeze(rules);
}

/** The text with one rule more; everything else, comments too, stays where it is. The text must be a policy. */
export function withRule(source: string, { rule, since, by }: Pick<KeptRule, 'rule' | 'since' | 'by'>): string {
  const document = parseDocument(source);
  const written = {
    rule: formatRule(rule),
    ...(since === undefined ? {} : { since }),
    ...(by === undefined ? {} : { by: { ...by } }),
  };
  if (!isMap(document.contents)) document.contents = document.createNode({}) as unknown as typeof document.contents;
  const rules = document.get('rules');
  if (isSeq(rules)) {
    // A list that was left empty is written in brackets; one that is filled reads better without.
    if (rules.items.length === 0) rules.flow = false;
    rules.add(document.createNode(written));
  } else {
    document.set('rules', document.createNode([written]));
  }
  return document.toString({ lineWidth: 0 });
}

/** The text without the rule at this place among its rules. */
export function withoutRule(source: string, index: number): string {
  const document = parseDocument(source);
  document.deleteIn(['rules', index]);
  return document.toString({ lineWidth: 0 });
}

function keptRule(written: WrittenRule, isForEveryAgent: boolean): KeptRule {
  if (typeof written === 'string') return Object.freeze({ rule: parseRule(written), isForEveryAgent });
  const { rule, since, by } = written;
  return Object.freeze({
    rule: parseRule(rule),
    isForEveryAgent,
    ...(since === undefined ? {} : { since }),
    ...(by === undefined ? {} : { by }),
  });
}

function parseYaml(
  source: string,
  fileName: string,
): { readonly document: Document; readonly lineAt: (path: readonly PropertyKey[]) => number } {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const problems = [...document.errors, ...document.warnings];
  if (problems.length > 0)
    throw policyInvalid(
      fileName,
      problems.slice(0, MAX_COMPLAINTS).map(({ pos, message }) => ({ line: lines.linePos(pos[0]).line, message })),
    );
  const nodeAt = (path: readonly PropertyKey[]): Node | null => yamlNodeAt(document, path) ?? document.contents;
  return { document, lineAt: (path) => lines.linePos(nodeAt(path)?.range?.[0] ?? 0).line };
}

function plainValue(document: Document, fileName: string): unknown {
  try {
    return document.toJS() as unknown;
  } catch (cause) {
    // Too many aliases, which is how a small file grows into a large one.
    throw policyInvalid(fileName, [{ line: 1, message: messageOf(cause) }]);
  }
}

function complaintOf(issue: z.core.$ZodIssue, lineAt: (path: readonly PropertyKey[]) => number): Complaint {
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : issue.path;
  const message =
    issue.code === 'invalid_union'
      ? 'expected the text of a rule, or an object with rule, since and by'
      : issue.message.replace(/^Invalid (input|string|option): /, '');
  return { line: lineAt(path), message: path.length === 0 ? message : `${pathOf(path)}: ${message}` };
}
