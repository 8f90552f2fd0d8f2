/**
 * What is drawn of a chart and how large each thing is, before it is laid out: nodes in nodes, and edges between them.
 */

/** Signs that are drawn as lines, since no font is sure to have them. */
export type Icon = 'play' | 'done' | 'failed' | 'clock' | 'again' | 'forbidden';

/** How a piece of text checks. */
export type Tone = 'name' | 'event' | 'guard' | 'action' | 'quiet' | 'error' | 'mark';

export interface TextPart {
  readonly text: string;
  readonly tone: Tone;
}

/** One line of text. */
export interface Row {
  readonly icon?: Icon | undefined;
  readonly parts: readonly TextPart[];
  /** The transition that it tells of. */
  readonly transition?: string | undefined;
  /** Pixels to its right start: of what goes on with the line before. */
  readonly indent: number;
}

/** `start`: the dot from which the first state is entered. `anywhere`: stands for all states of what it lies in. */
export type Shape = 'leaf' | 'compound' | 'region' | 'final' | 'history' | 'start' | 'anywhere';

export interface PlannedNode {
  /** Unique in the plan. */
  readonly key: string;
  /** Key of the node around it; absent at the top. */
  readonly parent?: string | undefined;
  readonly shape: Shape;
  /** Id of the state; of a `start` or an `anywhere` the one that it lies in. */
  readonly state: string;
  readonly name: string;
  readonly rows: readonly Row[];
  /** What it needs for itself, in pixels: of a node with others in it, what its heading needs. */
  readonly width: number;
  readonly height: number;
  /** Of a leaf: its rank among its siblings in the order of reading, from 0. */
  readonly order: number;
}

export interface PlannedEdge {
  readonly key: string;
  /** Keys of nodes, neither of which lies in the other. */
  readonly source: string;
  readonly target: string;
  readonly rows: readonly Row[];
  /** Ids of all transitions that it stands for. */
  readonly transitions: readonly string[];
  readonly isError: boolean;
  /**
   * It runs against the order of reading: the layout is told of it the other way round, so that there are no cycles.
   */
  readonly isBackward: boolean;
  readonly labelWidth: number;
  readonly labelHeight: number;
}

export interface DiagramPlan {
  readonly nodes: readonly PlannedNode[];
  readonly edges: readonly PlannedEdge[];
  /** What holds of the whole chart: stands under its title. */
  readonly rows: readonly Row[];
  /** Things stand closer to each other: the picture was wider than a page without. */
  readonly isTight: boolean;
}

/** What changed of each state and transition, by its id. */
export type Mark = 'added' | 'removed' | 'changed';
export type Marks = ReadonlyMap<string, Mark>;
