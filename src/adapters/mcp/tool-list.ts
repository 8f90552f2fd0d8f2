/** The tools of one connection: asked for page by page, and kept for as long as the server says nothing of changes. */
import { readListedTools } from './listed-tools.ts';
import type { ListReading, ListedTools, ServerTool } from './listed-tools.ts';
import type { McpLink } from './mcp-link.ts';
import { resourceToolsBeside } from './resource-tools.ts';

/** Of one server. */
const MAX_TOOLS = 1_000;
const MAX_PAGES = 1_000;
/** A list that changes while it is read is read again so often. */
const MAX_READINGS = 3;

export interface ToolListOptions extends ListReading {
  readonly link: McpLink;
  /** For each page. */
  readonly timeoutMs: number;
  /** What cannot be offered; told once for each list. */
  readonly onLeftOut: (line: string) => void;
}

export class ToolList {
  readonly #options: ToolListOptions;
  /** Counts what the server announces. */
  #version = 0;
  /** What was announced when the list was last read. */
  #readVersion = 0;
  #kept: { readonly version: number; readonly tools: Promise<ListedTools> } | undefined;
  /** What was listed last, as JSON: the same again needs no reading. */
  #last: { readonly text: string; readonly tools: ListedTools } | undefined;

  constructor(options: ToolListOptions) {
    this.#options = options;
  }

  /**
   * The server says that its tools have changed. Whether that is news: it may say so many times before a caller asks
   * again.
   */
  changed(): boolean {
    const isNews = this.#readVersion === this.#version;
    this.#version += 1;
    return isNews;
  }

  /** The tools as they are now; callers that come while they are read share them. @throws as McpLink.listTools */
  current(): Promise<ListedTools> {
    if (this.#kept?.version === this.#version) return this.#kept.tools;
    const kept = { version: this.#version, tools: this.#read() };
    this.#kept = kept;
    const drop = (): void => {
      if (this.#kept === kept) this.#kept = undefined;
    };
    kept.tools.then(() => {
      if (!this.#options.link.announcesTools) drop();
    }, drop);
    return kept.tools;
  }

  async #read(): Promise<ListedTools> {
    for (let reading = 1; ; reading += 1) {
      const version = this.#version;
      this.#readVersion = version;
      const tools = await this.#readOnce();
      if (version === this.#version || reading === MAX_READINGS) return tools;
    }
  }

  async #readOnce(): Promise<ListedTools> {
    const { onLeftOut, ...reading } = this.#options;
    const { given, isCut } = await this.#pages();
    const text = JSON.stringify(given);
    if (this.#last?.text === text) return this.#last.tools;
    const listed = readListedTools(given, reading);
    const tools = { ...listed, tools: [...listed.tools, ...this.#resourceTools(listed)] };
    this.#last = { text, tools };
    for (const line of tools.leftOut) onLeftOut(line);
    if (isCut) onLeftOut(`it has more than ${MAX_TOOLS} tools; those after the first ${MAX_TOOLS} are left out`);
    return tools;
  }

  #resourceTools({ tools }: ListedTools): readonly ServerTool[] {
    if (!this.#options.link.hasResources) return [];
    const own = resourceToolsBeside(tools.map(({ serverName }) => serverName));
    return own.flatMap((tool) =>
      readListedTools([tool], this.#options).tools.map((read) => ({ ...read, resourceTool: tool.name })),
    );
  }

  async #pages(): Promise<{ readonly given: readonly unknown[]; readonly isCut: boolean }> {
    const { link, timeoutMs } = this.#options;
    if (!link.hasTools) return { given: [], isCut: false };
    const given: unknown[] = [];
    const seen = new Set<string>();
    // No caller's own signal: others may wait for the same list. The time limit ends it.
    const { signal } = new AbortController();
    let cursor: string | undefined;
    for (let page = 1; page <= MAX_PAGES; page += 1) {
      const { tools, nextCursor } = await link.listTools(cursor, { signal, timeoutMs });
      given.push(...tools.slice(0, MAX_TOOLS + 1));
      if (given.length > MAX_TOOLS) break;
      if (nextCursor === undefined || nextCursor === '' || seen.has(nextCursor)) return { given, isCut: false };
      seen.add(nextCursor);
      cursor = nextCursor;
    }
    return { given: given.slice(0, MAX_TOOLS), isCut: given.length > MAX_TOOLS };
  }
}
