/**
 * What a room may not reach without importing it: clocks and randomness in the machines, and what the oldest supported
 * Node lacks.
 */
import ts from 'typescript-api';
import type { Rule, Violation } from './rules.ts';
import { foundInNodes, isCode, lineOf, mayMention } from './source-tree.ts';

const ASK_AN_ACTOR = 'a machine is a pure function of its input; let an actor bring it in';

/** What makes a function answer differently each time, or do something. */
const IMPURE: ReadonlySet<string> = new Set([
  'Buffer',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'console',
  'crypto',
  'fetch',
  'globalThis',
  'performance',
  'process',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
  'Date.now',
  'Math.random',
  'new Date()',
]);

/** Missing in Node 20. Their types are there, so the compiler lets them pass. */
const NEWER_THAN_THE_FLOOR: ReadonlyMap<string, string> = new Map([
  ['AsyncDisposableStack', 'Node 24'],
  ['DisposableStack', 'Node 24'],
  ['SuppressedError', 'Node 24'],
  ['Array.fromAsync', 'Node 22'],
  ['Promise.try', 'Node 24'],
  ['Promise.withResolvers', 'Node 22'],
]);
/** The last word of each, behind its point where it has one: `try` alone stands in most files. */
const NEWER_WORDS = new RegExp(
  [...NEWER_THAN_THE_FLOOR.keys()]
    .map((name) => `${name.includes('.') ? '\\.\\s*' : '\\b'}${name.split('.').at(-1)}\\b`)
    .join('|'),
);
/** The first word of each that is impure, without `new`. */
const IMPURE_WORDS = new RegExp(
  `\\b(?:${[...IMPURE].map((name) => name.replace('new ', '').split(/\W/)[0]).join('|')})\\b`,
);
const NEWER_MODULES: ReadonlySet<string> = new Set(['node:sqlite', 'node:sea']);

/** Whether an identifier is used as a value here, and not as the name of a property, a declaration or a type. */
function isValueUse(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.expression === node;
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  if (ts.isShorthandPropertyAssignment(parent)) return true;
  if (ts.isTypeNode(parent) || ts.isTypeElement(parent) || ts.isQualifiedName(parent)) return false;
  const isName = 'name' in parent && parent.name === node;
  return !isName && !ts.isImportSpecifier(parent) && !ts.isExportSpecifier(parent);
}

/** What a node reads from its surroundings, as it would be called: `Date.now`, `setTimeout`, `new Date()`. */
function ambientName(node: ts.Node): string | undefined {
  if (ts.isIdentifier(node)) return isValueUse(node) ? node.text : undefined;
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression))
    return `${node.expression.text}.${node.name.text}`;
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return undefined;
  const isDate = ts.isIdentifier(node.expression) && node.expression.text === 'Date';
  const isNow = ts.isCallExpression(node) || (node.arguments ?? []).length === 0;
  return isDate && isNow ? 'new Date()' : undefined;
}

/** Names that the file declares itself: there, `process` is whatever it says, not the one of Node. */
function declaredNames(nodes: readonly ts.Node[]): ReadonlySet<string> {
  const names = nodes.flatMap((node) =>
    ts.isVariableDeclaration(node) ||
    ts.isParameter(node) ||
    ts.isBindingElement(node) ||
    ts.isFunctionDeclaration(node)
      ? [node.name]
      : [],
  );
  return new Set(names.flatMap((name) => (name !== undefined && ts.isIdentifier(name) ? [name.text] : [])));
}

const machinesReadNoSurroundings: Rule = {
  name: 'machines-read-no-surroundings',
  guards: ['src/machines'],
  check: (tree) =>
    tree
      .under('src/machines')
      .filter((file) => isCode(file) && mayMention(file, IMPURE_WORDS))
      .flatMap((file) => {
        const { syntax } = file;
        const nodes = foundInNodes(syntax, (node) => node);
        const declared = declaredNames(nodes);
        return nodes.flatMap((node) => {
          const name = ambientName(node);
          if (name === undefined || declared.has(name) || !IMPURE.has(name)) return [];
          return [{ file: file.path, line: lineOf(syntax, node), message: `uses ${name}; ${ASK_AN_ACTOR}` }];
        });
      }),
};

const nothingNewerThanTheFloor: Rule = {
  name: 'nothing-newer-than-the-floor',
  guards: ['src'],
  check: (tree) =>
    tree
      .under('src')
      .filter(isCode)
      .flatMap((file) => {
        const newer = (node: ts.Node): Omit<Violation, 'rule'> | undefined => {
          const name = ambientName(node);
          const since = NEWER_THAN_THE_FLOOR.get(name ?? '');
          if (since === undefined) return undefined;
          return {
            file: file.path,
            line: lineOf(file.syntax, node),
            message: `uses ${String(name)}, new in ${since}; Node 20.19 is the floor`,
          };
        };
        const names = mayMention(file, NEWER_WORDS) ? foundInNodes(file.syntax, newer) : [];
        const modules = file.imports
          .filter(({ specifier }) => specifier !== undefined && NEWER_MODULES.has(specifier))
          .map(({ specifier, line }) => ({
            file: file.path,
            line,
            message: `imports ${specifier}; Node 20.19 is the floor`,
          }));
        return [...names, ...modules];
      }),
};

export const purityRules: readonly Rule[] = [machinesReadNoSurroundings, nothingNewerThanTheFloor];
