/**
 * Which of our types a user meets in the declarations of the published entry points, and which of them can be imported
 * from one.
 */
import { join } from 'node:path';
import ts from 'typescript-api';

/** A type of ours that has to be exported by an entry point and is not. */
export interface UnreachableType {
  readonly name: string;
  /** The public names whose declarations need it. */
  readonly usedBy: string;
}

type Named = ts.ClassDeclaration | ts.InterfaceDeclaration | ts.TypeAliasDeclaration | ts.EnumDeclaration;

const COMPILER_OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  types: [],
  // What belongs to the language needs no export, and reading all of it takes longer than the rest: this much is
  // needed to know what `Exclude` and the like come to.
  lib: ['lib.es5.d.ts'],
  noEmit: true,
};

/**
 * Reads the declarations `entries` of the package at `root`. A type has a name of its own where two public names share
 * it, and where a function of a public name gives it back: what a caller holds. One that stands in a single public name
 * is a part of that, written as `Whole['part']` or `Parameters<typeof use>[0]`. An alias that a file keeps to itself is
 * written out wherever the compiler meets it.
 */
export function unreachableTypes(root: string, entries: readonly string[]): readonly UnreachableType[] {
  const search = new Search(root, entries);
  return search.run();
}

/** What each entry exports, by the path of its declarations. */
export function publicNames(root: string, entries: readonly string[]): ReadonlyMap<string, readonly string[]> {
  return new Search(root, entries).names;
}

class Search {
  readonly names: ReadonlyMap<string, readonly string[]>;
  readonly #checker: ts.TypeChecker;
  readonly #root: string;
  readonly #published = new Set<ts.Symbol>();
  /** Those that can be used and not only named: their constructors are public too. */
  readonly #publishedAsValues = new Set<ts.Symbol>();
  /** The public names that need a type which none of them is. */
  readonly #owners = new Map<ts.Symbol, Set<string>>();
  readonly #answers = new Set<ts.Symbol>();

  constructor(root: string, entries: readonly string[]) {
    const paths = entries.map((entry) => join(root, entry));
    const host = ts.createCompilerHost(COMPILER_OPTIONS);
    host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
    const program = ts.createProgram(paths, COMPILER_OPTIONS, host);
    this.#checker = program.getTypeChecker();
    this.#root = join(root, '/');
    this.names = new Map(paths.map((path, index) => [entries[index] ?? path, this.#publish(program, path)]));
  }

  #publish(program: ts.Program, path: string): readonly string[] {
    const entry = program.getSourceFile(path);
    if (entry === undefined) throw new Error(`expected declarations at ${path}, found none`);
    const module = this.#checker.getSymbolAtLocation(entry);
    const exports = module === undefined ? [] : this.#checker.getExportsOfModule(module);
    for (const exported of exports) {
      const symbol = this.#resolved(exported);
      this.#published.add(symbol);
      if (exported.declarations?.some((each) => ts.isTypeOnlyExportDeclaration(each)) !== true)
        this.#publishedAsValues.add(symbol);
    }
    return exports.map(({ name }) => name);
  }

  run(): readonly UnreachableType[] {
    for (const symbol of this.#published) {
      for (const declaration of this.#declarationsOf(symbol)) this.#readAnswers(declaration);
      this.#readParts(symbol, new Set([symbol]), symbol.name);
    }
    return [...this.#owners]
      .filter(([symbol, owners]) => (owners.size > 1 && this.#isShared(symbol)) || this.#answers.has(symbol))
      .map(([symbol, owners]) => ({ name: symbol.name, usedBy: [...owners].join(', ') }));
  }

  /** Follows what `symbol` names, through parts, to the types that are exported only by their files. */
  #readParts(symbol: ts.Symbol, seen: Set<ts.Symbol>, owner: string): void {
    if (this.#comesToWords(symbol)) return;
    for (const declaration of this.#declarationsOf(symbol))
      for (const named of this.#namesIn(declaration, symbol)) {
        if (seen.has(named) || this.#published.has(named)) continue;
        seen.add(named);
        if (this.#needsName(named)) this.#owners.set(named, (this.#owners.get(named) ?? new Set()).add(owner));
        this.#readParts(named, seen, owner);
      }
  }

  /** Finds the types in what the functions of a declaration give back. */
  #readAnswers(node: ts.Node): void {
    if (ts.isFunctionLike(node) && node.type !== undefined)
      for (const named of this.#namesIn(node.type)) this.#answers.add(named);
    node.forEachChild((child) => {
      this.#readAnswers(child);
    });
  }

  /** A caller writes one of the words, as of the states of a chart, and needs nothing of which they are computed. */
  #comesToWords(symbol: ts.Symbol): boolean {
    if (symbol.declarations?.some(ts.isTypeAliasDeclaration) !== true) return false;
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    return (type.isUnion() ? type.types : [type]).every((each) => each.isStringLiteral());
  }

  #needsName(symbol: ts.Symbol): boolean {
    const declaration = this.#declarationsOf(symbol).find(isNamed);
    const isWrittenOut =
      declaration !== undefined && ts.isTypeAliasDeclaration(declaration) && !isExported(declaration);
    return declaration !== undefined && !isWrittenOut && !this.#comesToWords(symbol);
  }

  /** What a file keeps to itself counts as a part of what uses it, however many do. */
  #isShared(symbol: ts.Symbol): boolean {
    return this.#declarationsOf(symbol).some(isExported);
  }

  #namesIn(node: ts.Node, owner?: ts.Symbol): readonly ts.Symbol[] {
    if (ts.isConstructorDeclaration(node) && (owner === undefined || !this.#publishedAsValues.has(owner))) return [];
    if (ts.isIdentifier(node)) return this.#met(node);
    const found: ts.Symbol[] = [];
    node.forEachChild((child) => {
      found.push(...this.#namesIn(child, owner));
    });
    return found;
  }

  #met(name: ts.Identifier): readonly ts.Symbol[] {
    const found = this.#checker.getSymbolAtLocation(name);
    if (found === undefined) return [];
    const symbol = this.#resolved(found);
    const isOfInterest = this.#declarationsOf(symbol).some((each) => isNamed(each) || ts.isVariableDeclaration(each));
    return isOfInterest ? [symbol] : [];
  }

  #declarationsOf(symbol: ts.Symbol): readonly ts.Declaration[] {
    return (symbol.declarations ?? []).filter((each) => this.#isOurs(each));
  }

  #resolved(symbol: ts.Symbol): ts.Symbol {
    return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : this.#checker.getAliasedSymbol(symbol);
  }

  #isOurs(node: ts.Node): boolean {
    const { fileName } = node.getSourceFile();
    return fileName.startsWith(this.#root) && !fileName.includes('/node_modules/');
  }
}

function isNamed(node: ts.Node): node is Named {
  return (
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isEnumDeclaration(node)
  );
}

function isExported(node: ts.Declaration): boolean {
  return (ts.getCombinedModifierFlags(node) & ts.ModifierFlags.Export) !== 0;
}
