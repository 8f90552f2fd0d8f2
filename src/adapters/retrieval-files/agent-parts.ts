/** The index of one agent: its words in memory, its documents in memory and in files beside the store. */
import { mkdir, lstat, readdir, rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { AgentIndex, IndexSearch, IndexSize, SessionUpdate } from '../../actors/retrieval/retrieval-index.ts';
import { RuntimeError } from '../../machines/errors.ts';
import { isUuidV7 } from '../../machines/ids.ts';
import type { QueryTerm } from '../../machines/retrieval/query.ts';
import type { TextHit } from '../../machines/retrieval/ranking.ts';
import type { RetrievalDocument } from '../../machines/retrieval/retrieval-document.ts';
import type { SessionCursor } from '../../machines/retrieval/session-documents.ts';
import { isCode, readPart, writePart } from './part-file.ts';
import { SessionPart } from './session-part.ts';
import type { Slices } from './slices.ts';
import { WordIndex } from './word-index.ts';
import type { WordHit } from './word-index.ts';

export interface AgentPartsOptions {
  /** Absolute. */
  readonly folder: string;
  readonly slices: Slices;
  /** Hears why something could not be kept or read. */
  readonly onTrouble: (error: unknown) => void;
}

const FOLDER_MODE = 0o700;
const SUFFIX = '.jsonl';
const DRAFT = /^\..+\.draft$/;

/** A draft this old belongs to nobody who still writes. Milliseconds. */
const DRAFT_ABANDONED_MS = 3_600_000;

/** What a word of a document counts that is only nearly the one that was asked for, or means about the same. */
const INEXACT_SHARE = 0.7;
const SYNONYM_SHARE = 0.6;

export class AgentParts implements AgentIndex {
  readonly #options: AgentPartsOptions;
  readonly #words = new WordIndex();
  readonly #parts = new Map<string, SessionPart>();
  readonly #shared = { learning: new Map<string, RetrievalDocument>(), memory: new Map<string, RetrievalDocument>() };
  readonly #documents = new Map<string, RetrievalDocument>();
  readonly #cursors = new Map<string, SessionCursor>();
  #characters = 0;

  constructor(options: AgentPartsOptions) {
    this.#options = options;
  }

  /** Takes in what is kept in the folder. What cannot be read is as if it were not there. */
  async load(): Promise<void> {
    const { folder, slices, onTrouble } = this.#options;
    try {
      if (!(await isFolder(folder))) return;
      for (const name of await readdir(folder)) {
        if (DRAFT.test(name)) await removeAbandoned(join(folder, name));
        const sessionId = name.slice(0, -SUFFIX.length);
        if (!name.endsWith(SUFFIX) || !isUuidV7(sessionId)) continue;
        const part = await readPart(join(folder, name), sessionId, slices);
        if (part !== undefined) await this.#take(sessionId, { ...part, isAnew: false });
      }
    } catch (error) {
      onTrouble(error);
    }
  }

  size(): IndexSize {
    return { sessions: this.#parts.size, documents: this.#documents.size, characters: this.#characters };
  }

  cursors(): ReadonlyMap<string, SessionCursor> {
    return this.#cursors;
  }

  async update(sessionId: string, update: SessionUpdate): Promise<void> {
    const part = await this.#take(sessionId, update);
    await this.#keep(sessionId, part, update.isAnew);
    if (this.#words.isDirty) await this.#words.sweep();
  }

  async forget(sessionId: string): Promise<void> {
    await this.#drop(sessionId);
    await rm(this.#pathOf(sessionId), { force: true }).catch(this.#options.onTrouble);
  }

  async share(kind: 'learning' | 'memory', documents: readonly RetrievalDocument[]): Promise<void> {
    const known = this.#shared[kind];
    const next = new Map(documents.map((document) => [document.id, document]));
    for (const [id, document] of known) {
      if (isSame(document, next.get(id))) continue;
      this.#remove(document);
      known.delete(id);
    }
    for (const [id, document] of next) {
      if (known.has(id)) continue;
      this.#add(document);
      known.set(id, document);
      await this.#options.slices.breathe();
    }
  }

  search({ terms, accepts, limit }: IndexSearch): readonly TextHit[] {
    const isWanted = (id: string): boolean => {
      const document = this.#documents.get(id);
      return document !== undefined && accepts(document);
    };
    const byTerm = new Map(terms.map((term) => [term.term, term]));
    return this.#words.search(terms, isWanted).slice(0, limit).flatMap((hit) => {
      const document = this.#documents.get(hit.id);
      return document === undefined ? [] : [{ document, score: hit.score, terms: hit.terms, words: wordsOf(hit, byTerm) }];
    });
  }

  rarity(word: string): number {
    return this.#words.rarity(word);
  }

  around(document: RetrievalDocument): ReturnType<AgentIndex['around']> {
    return document.kind === 'text' && document.sessionId !== undefined ? (this.#parts.get(document.sessionId)?.around(document) ?? {}) : {};
  }

  async #take(sessionId: string, { cursor, documents, isAnew }: SessionUpdate): Promise<SessionPart> {
    if (isAnew) await this.#drop(sessionId);
    const part = this.#parts.get(sessionId) ?? new SessionPart();
    this.#parts.set(sessionId, part);
    const { added, removed } = part.take(documents);
    for (const document of removed) this.#remove(document);
    for (const document of added) {
      this.#add(document);
      await this.#options.slices.breathe();
    }
    part.cursor = cursor;
    this.#cursors.set(sessionId, cursor);
    return part;
  }

  async #drop(sessionId: string): Promise<void> {
    for (const document of this.#parts.get(sessionId)?.documents ?? []) {
      this.#remove(document);
      await this.#options.slices.breathe();
    }
    this.#parts.delete(sessionId);
    this.#cursors.delete(sessionId);
  }

  #add(document: RetrievalDocument): void {
    if (this.#documents.has(document.id)) return;
    this.#documents.set(document.id, document);
    this.#characters += document.title.length + document.text.length;
    this.#words.add(document);
  }

  #remove(document: RetrievalDocument): void {
    if (!this.#documents.delete(document.id)) return;
    this.#characters -= document.title.length + document.text.length;
    this.#words.remove(document);
  }

  /** What cannot be kept is in memory all the same, and read from the log again by the next process. */
  async #keep(sessionId: string, part: SessionPart, isAnew: boolean): Promise<void> {
    const { folder, slices, onTrouble } = this.#options;
    try {
      await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      if (!(await isFolder(folder))) throw notAFolder(folder);
      await writePart({ path: this.#pathOf(sessionId), sessionId, isAnew }, { cursor: part.cursor, documents: part.documents }, slices);
    } catch (error) {
      onTrouble(error);
    }
  }

  #pathOf(sessionId: string): string {
    return join(this.#options.folder, `${sessionId}${SUFFIX}`);
  }
}

/** How well each word of the query is there. */
function wordsOf({ queryTerms, isExact }: WordHit, terms: ReadonlyMap<string, QueryTerm>): ReadonlyMap<string, number> {
  const words = new Map<string, number>();
  for (const each of queryTerms) {
    const term = terms.get(each);
    if (term === undefined) continue;
    const share = (term.weight === 1 ? 1 : SYNONYM_SHARE) * (isExact ? 1 : INEXACT_SHARE);
    words.set(term.word, Math.max(share, words.get(term.word) ?? 0));
  }
  return words;
}

function isSame(one: RetrievalDocument, other: RetrievalDocument | undefined): boolean {
  return other !== undefined && JSON.stringify(one) === JSON.stringify(other);
}

/** A link is none: it may lead anywhere. */
async function isFolder(path: string): Promise<boolean> {
  return lstat(path).then((found) => found.isDirectory(), (error: unknown) => {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  });
}

async function removeAbandoned(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && Date.now() - found.mtimeMs > DRAFT_ABANDONED_MS) await unlink(path).catch(() => undefined);
}

function notAFolder(folder: string): RuntimeError {
  return new RuntimeError('RETRIEVAL_FOLDER_INVALID', `expected a folder at ${folder}, there is something else`, { category: 'storage', hint: `Move it away: the index is made anew.` });
}
