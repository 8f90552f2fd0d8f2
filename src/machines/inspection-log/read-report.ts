/** What a reader found on its way that is not a record. Counts are whole; what is listed is bounded. */

const MAX_LISTED = 100;

export interface ReadReport {
  /** Lines that hold anything, the header included. */
  readonly lines: number;
  readonly records: number;
  readonly broken: {
    readonly count: number;
    /** The first of them; `line` counts from 1. */ readonly places: readonly {
      readonly line: number;
      readonly because: string;
    }[];
  };
  /** The last line has no end: its writer died meanwhile, or is writing still. */
  readonly hasTornTail: boolean;
  readonly unknownKinds: { readonly count: number; readonly names: readonly string[] };
  readonly unknownFields: { readonly count: number; readonly names: readonly string[] };
  /**
   * Numbers that are missing, in runs. What was before the first record does not count: recorders keep the last records
   * only.
   */
  readonly gaps: {
    readonly count: number;
    readonly missing: number;
    readonly places: readonly { readonly after: number; readonly before: number }[];
  };
  /** Records whose number was there already, or cannot be true. */
  readonly outOfOrder: number;
}

export class ReadNotes {
  lines = 0;
  hasTornTail = false;
  outOfOrder = 0;
  #records = 0;
  #last: number | undefined;
  #broken = 0;
  readonly #brokenPlaces: { readonly line: number; readonly because: string }[] = [];
  readonly #kinds = new NameCount();
  readonly #fields = new NameCount();
  #gaps = 0;
  #missing = 0;
  readonly #gapPlaces: { readonly after: number; readonly before: number }[] = [];

  broken(line: number, because: string): void {
    this.#broken += 1;
    if (this.#brokenPlaces.length < MAX_LISTED) this.#brokenPlaces.push({ line, because });
  }

  unknownKind(kind: string): void {
    this.#kinds.add(kind);
  }

  unknownFields(names: readonly string[]): void {
    for (const name of names) this.#fields.add(name);
  }

  record(number: number): void {
    const last = this.#last;
    this.#records += 1;
    this.#last = number;
    if (last === undefined || number === last + 1) return;
    this.#gaps += 1;
    this.#missing += number - last - 1;
    if (this.#gapPlaces.length < MAX_LISTED) this.#gapPlaces.push({ after: last, before: number });
  }

  get report(): ReadReport {
    return {
      lines: this.lines,
      records: this.#records,
      broken: { count: this.#broken, places: [...this.#brokenPlaces] },
      hasTornTail: this.hasTornTail,
      unknownKinds: this.#kinds.counted,
      unknownFields: this.#fields.counted,
      gaps: { count: this.#gaps, missing: this.#missing, places: [...this.#gapPlaces] },
      outOfOrder: this.outOfOrder,
    };
  }
}

class NameCount {
  #count = 0;
  readonly #names = new Set<string>();

  add(name: string): void {
    this.#count += 1;
    if (this.#names.size < MAX_LISTED) this.#names.add(name);
  }

  get counted(): { readonly count: number; readonly names: readonly string[] } {
    return { count: this.#count, names: [...this.#names] };
  }
}
