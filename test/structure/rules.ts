/** What a setup rule is, and how a tree is held against a set of them. */
import type { SourceTree } from './source-tree.ts';

export interface Violation {
  readonly rule: string;
  /** Path from the root of the tree. */
  readonly file: string;
  /** 1-based; absent when the whole file or folder is meant. */
  readonly line?: number | undefined;
  /** What is wrong and what to do instead. */
  readonly message: string;
}

export interface Rule {
  readonly name: string;
  /**
   * Files and folders the rule watches over. One that is gone is a violation: a guard of an empty room guards nothing.
   */
  readonly guards: readonly string[];
  check(tree: SourceTree): Omit<Violation, 'rule'>[];
}

export function checkTree(tree: SourceTree, rules: readonly Rule[]): Violation[] {
  return rules.flatMap((rule) => {
    const gone = rule.guards
      .filter((path) => !tree.has(path))
      .map((path) => ({
        rule: rule.name,
        file: path,
        message: 'is guarded by this rule and is not there; move the rule with it',
      }));
    return [...gone, ...rule.check(tree).map((violation) => ({ ...violation, rule: rule.name }))];
  });
}

/** One violation as people read it: `src/machines/a.ts:3 imports node:fs; … [machines-are-pure]`. */
export function describeViolation({ rule, file, line, message }: Violation): string {
  return `${file}${line === undefined ? '' : `:${line}`} ${message} [${rule}]`;
}
