/**
 * Which of our types a user meets in the declarations of the published entry points, and which of them can be imported
 * from one.
 */
import { join } from 'node:path';
import ts from 'typescript';

/** A type of ours that a published declaration names and that no entry point exports. */
export interface UnreachableType {
  readonly name: string;
  /** The declaration that names it. */
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
 * Reads the declarations `entries` of the package at `root`. What a file keeps to itself counts as a part of what uses
 * it; what it exports has to be exported by an entry point too, or nobody can name it.
 */
export function unreachableTypes(root: string, entries: readonly string[]): readonly UnreachableType[] {
  const paths = entries.map((entry) => join(root, entry));
  const host = ts.createCompilerHost(COMPILER_OPTIONS);
  host.jsDocParsingMode = ts.JSDocParsingMode.ParseNone;
  const program = ts.createProgram(paths, COMPILER_OPTIONS, host);
  const search = new Search(program.getTypeChecker(), join(root, '/'));
  for (const path of paths) {
    const file = program.getSourceFile(path);
    if (file === undefined) throw new Error(`expected declarations at ${path}, found none`);
    search.publish(file);
  }
  return search.run();
}

class Search {
  readonly #checker: ts.TypeChecker;
  readonly #root: string;
  readonly #published = new Set<ts.Symbol>();
  /** Those that can be used and not only named: their constructors are public too. */
  readonly #publishedAsValues = new Set<ts.Symbol>();
  readonly #missing = new Map<ts.Symbol, UnreachableType>();
  readonly #seen = new Set<ts.Symbol>();

  constructor(checker: ts.TypeChecker, root: string) {
    this.#checker = checker;
    this.#root = root;
  }

  publish(entry: ts.SourceFile): void {
    const module = this.#checker.getSymbolAtLocation(entry);
    for (const exported of module === undefined ? [] : this.#checker.getExportsOfModule(module)) {
      const symbol = this.#resolved(exported);
      this.#published.add(symbol);
      if (exported.declarations?.some((each) => ts.isTypeOnlyExportDeclaration(each)) !== true)
        this.#publishedAsValues.add(symbol);
    }
  }

  run(): readonly UnreachableType[] {
    for (const symbol of this.#published) this.#visit(symbol);
    return [...this.#missing.values()];
  }

  #visit(symbol: ts.Symbol): void {
    if (this.#seen.has(symbol)) return;
    this.#seen.add(symbol);
    if (this.#comesToWords(symbol)) return;
    for (const declaration of symbol.declarations ?? [])
      if (this.#isOurs(declaration)) this.#read(declaration, { symbol, declaration });
  }

  /** A caller writes one of the words, as of the states of a chart, and needs nothing of which they are computed. */
  #comesToWords(symbol: ts.Symbol): boolean {
    if (symbol.declarations?.some(ts.isTypeAliasDeclaration) !== true) return false;
    const type = this.#checker.getDeclaredTypeOfSymbol(symbol);
    return (type.isUnion() ? type.types : [type]).every((each) => each.isStringLiteral());
  }

  #read(node: ts.Node, owner: { readonly symbol: ts.Symbol; readonly declaration: ts.Declaration }): void {
    if (ts.isConstructorDeclaration(node) && !this.#publishedAsValues.has(owner.symbol)) return;
    if (ts.isIdentifier(node)) this.#meet(node, owner.declaration);
    else node.forEachChild((child) => this.#read(child, owner));
  }

  #meet(name: ts.Identifier, usedIn: ts.Declaration): void {
    const found = this.#checker.getSymbolAtLocation(name);
    if (found === undefined) return;
    const symbol = this.#resolved(found);
    const declaration = symbol.declarations?.find(
      (each) => this.#isOurs(each) && (isNamed(each) || ts.isVariableDeclaration(each)),
    );
    if (declaration === undefined || this.#seen.has(symbol)) return;
    if (isNamed(declaration) && isExported(declaration) && !this.#published.has(symbol)) {
      this.#missing.set(symbol, { name: symbol.name, usedBy: nameOf(usedIn) });
    }
    this.#visit(symbol);
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

function nameOf(declaration: ts.Declaration): string {
  return ts.getNameOfDeclaration(declaration)?.getText() ?? 'a declaration without a name';
}
